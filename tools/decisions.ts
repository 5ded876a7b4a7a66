/** What the ADRs decide, as hashes that docs/adr/decisions.json keeps: an accepted decision is superseded, not edited. */
import { createHash } from 'node:crypto';

/** ADR 5 decides that its table is the list of dependencies; check-dependencies.ts compares its rows with the manifests. */
const withRowsThatChange = ['0005'];

export function hashOfDecision(number: string, text: string): string {
  const [, decision = ''] = /^## Decision$(.*?)^## Consequence$/ms.exec(text) ?? [];
  const lines = decision.split('\n').filter((line) => !(withRowsThatChange.includes(number) && line.startsWith('|')));
  const folded = lines.join(' ').replace(/\s+/g, ' ').trim();
  return createHash('sha256').update(folded).digest('hex').slice(0, 12);
}

type Decisions = ReadonlyMap<string, string>;
type DecisionRecord = Readonly<Record<string, string>>;

export function problemsOfDecisions(decisions: Decisions, recorded: DecisionRecord): string[] {
  const found: string[] = [];
  for (const [number, hash] of decisions) {
    if (recorded[number] === undefined)
      found.push(`ADR ${number} is new: run node tools/check-adrs.ts --accept ${number}`);
    else if (recorded[number] !== hash)
      found.push(
        `ADR ${number}: its Decision is not what was accepted. Supersede it with a new ADR, and restore this one. Only wording? Run node tools/check-adrs.ts --reworded ${number}, in a commit that says so.`,
      );
  }
  const gone = Object.keys(recorded).filter((number) => !decisions.has(number));
  return [
    ...found,
    ...gone.map((number) => `ADR ${number} was accepted and is gone: restore it, its Status says what superseded it`),
  ];
}

/** The next record, in the order of numbers, or why there is none. `which` is a number, or "all". */
export function recordDecisions(
  decisions: Decisions,
  recorded: DecisionRecord,
  { isReworded, which }: { isReworded: boolean; which: string },
): DecisionRecord | string {
  const numbers = which === 'all' ? [...decisions.keys()] : [which];
  const unknown = numbers.find((number) => !decisions.has(number));
  if (unknown !== undefined) return `There is no ADR "${unknown}": name one as 0017, or all`;
  const isOpen = (number: string): boolean => isReworded || recorded[number] === undefined;
  const fixed = numbers.find((number) => !isOpen(number));
  if (which !== 'all' && fixed !== undefined) return `ADR ${fixed} was accepted before: supersede it with a new one`;
  const next = { ...recorded };
  for (const number of numbers.filter(isOpen)) next[number] = decisions.get(number) ?? '';
  return Object.fromEntries(Object.entries(next).sort(([a], [b]) => a.localeCompare(b)));
}
