/**
 * Expand, then contract: during a rolling update the version before runs on the new schema. A migration that takes away
 * or narrows says since which release nothing uses it: `-- contract: nothing since 0.2.0 reads users.nickname`.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { concurrentIndexes, isConcurrent } from '../apps/server/src/adapters/db/shared/concurrent-indexes.ts';
import { finishCheck, repositoryFiles } from './repository-files.ts';

/** Merged before there was a rule, and before there was a release. */
const exemptUpTo = 41;

/** What the version before cannot live with. */
const narrowing: readonly [RegExp, string][] = [
  [/\bdrop\s+table\b/i, 'drops a table'],
  [
    /\bdrop\s+(?:column\s+)?(?!constraint|index|not\b|default|trigger|function|table|type|view|sequence|expression|identity)[a-z_"]+\s*(?:,|;|cascade|$)/im,
    'drops a column',
  ],
  [/\balter\s+table\b[^;]*\bdrop\s+column\b/i, 'drops a column'],
  [/\brename\s+(?:to|column|constraint|[a-z_"]+\s+to)\b/i, 'renames'],
  [/\balter\s+(?:column\s+)?[a-z_"]+\s+(?:set\s+data\s+)?type\b/i, 'changes the type of a column'],
  [/\bset\s+not\s+null\b/i, 'makes a column mandatory'],
  [
    /\badd\s+(?:column\s+)?(?!constraint|primary|unique|check|foreign)[a-z_"]+\s+(?:(?!\bdefault\b|[,;]).)*\bnot\s+null\b(?:(?!\bdefault\b|[,;]).)*[,;]/is,
    'adds a mandatory column without a default',
  ],
  [
    /\badd\s+(?:constraint\s+[a-z_"]+\s+)?(?:check|unique|foreign\s+key|primary\s+key|exclude)\b/i,
    'adds a constraint that older writers do not know',
  ],
  [/\bcreate\s+unique\s+index\b/i, 'adds a unique index that older writers do not know'],
];

const contract = /^--\s*contract:\s+\S.*\bsince\s+\d+\.\d+\.\d+\b/im;

/** What speaks against the text of a migration. */
export function narrowingsIn(text: string): string[] {
  if (contract.test(text)) return [];
  const statements = text.replace(/--.*$/gm, '');
  // A table of this migration has no older users.
  const created = [...statements.matchAll(/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?([a-z_]+)/gi)].map(
    ([, name]) => name,
  );
  const others = statements
    .split(';')
    .filter((statement) => !created.some((name) => new RegExp(`\\b(?:on|table)\\s+${name}\\b`, 'i').test(statement)))
    .map((statement) => `${statement};`);
  return [
    ...new Set(
      others.flatMap((statement) => narrowing.flatMap(([pattern, what]) => (pattern.test(statement) ? [what] : []))),
    ),
  ];
}

if (import.meta.main) {
  const files = repositoryFiles('apps/server/migrations/*.sql');
  const checked = files.filter((path) => Number(basename(path).slice(0, 4)) > exemptUpTo);
  const problems = checked.flatMap((path) =>
    narrowingsIn(readFileSync(path, 'utf8')).map(
      (what) =>
        `${path}: ${what}, and the version before still runs during an update: expand now and contract in a later release, or add "-- contract: … since <release>".`,
    ),
  );
  for (const path of checked) {
    const text = readFileSync(path, 'utf8');
    if (isConcurrent(text) && !concurrentIndexes(text))
      problems.push(
        `${path}: says "concurrently" and holds more than "create index concurrently if not exists" and "drop index concurrently if exists".`,
      );
  }
  if (files.length < 20) problems.push(`saw only ${files.length} migrations: the check is broken`);
  finishCheck(problems, `${files.length} migrations, ${checked.length} under the rule`);
}
