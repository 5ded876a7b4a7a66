/**
 * Rules of docs/behaviour.md and the tests that quote them: every quoted rule exists, every rule is quoted,
 * one bullet is one rule, the numbers of a prefix ascend, and a prefix stands under one heading.
 */
import { readFileSync } from 'node:fs';
import { finishCheck } from './repository-files.ts';
import { listQuotes } from './rule-quotes.ts';

const document = 'docs/behaviour.md';

export function rulesOf(lines: readonly string[]): { rules: string[]; problems: string[] } {
  const rules: string[] = [];
  const problems: string[] = [];
  const lastOf = new Map<string, number>();
  const headingOf = new Map<string, string>();
  let heading = '';
  for (const [index, line] of lines.entries()) {
    heading = /^#+ (.+)/.exec(line)?.[1] ?? heading;
    if (!/^\s*[-*] /.test(line)) continue;
    const at = `${document}:${index + 1}`;
    const [, prefix, digits] = /^- \*\*([A-Z]+)-(\d+)\*\* \S/.exec(line) ?? [];
    if (prefix === undefined) {
      problems.push(`${at}: a bullet is one rule, "- **MSG-4** …"`);
      continue;
    }
    const rule = `${prefix}-${digits}`;
    if (rules.includes(rule)) problems.push(`${at}: ${rule} is there twice`);
    else if (Number(digits) < (lastOf.get(prefix) ?? 0)) problems.push(`${at}: ${rule} is out of order`);
    if (/\*\*[A-Z]+-\d+\*\*/.test(line.slice(line.indexOf(' ', 2))))
      problems.push(`${at}: several rules in one bullet`);
    const home = headingOf.get(prefix) ?? heading;
    if (heading !== home)
      problems.push(
        `${at}: ${rule} is in "${heading}", and the ${prefix} rules before it in "${home}": move it there, or give it a prefix of its own.`,
      );
    headingOf.set(prefix, home);
    rules.push(rule);
    lastOf.set(prefix, Number(digits));
  }
  return { rules, problems };
}

if (import.meta.main) {
  const { rules, problems } = rulesOf(readFileSync(document, 'utf8').split('\n'));
  const quotes = listQuotes();
  const quoted = new Set(quotes.map(({ rule }) => rule));

  for (const { rule, path, line } of quotes)
    if (!rules.includes(rule)) problems.push(`${path}:${line}: ${rule} is quoted and not in ${document}`);
  for (const rule of new Set(rules)) if (!quoted.has(rule)) problems.push(`${document}: no test quotes ${rule}`);
  if (rules.length < 300 || quotes.length < 600)
    problems.push(`saw only ${rules.length} rules and ${quotes.length} quotes: the check is broken`);

  finishCheck(problems, `${rules.length} rules, quoted ${quotes.length} times`);
}
