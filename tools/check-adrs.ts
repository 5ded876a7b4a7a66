/**
 * One format for docs/adr: `# 0017 Title`, a Status line, Context, Decision and Consequence. Links resolve, and so does
 * every "ADR 17" in the repository. A decision is fixed once it is accepted: docs/adr/decisions.json has a hash of each.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hashOfDecision, problemsOfDecisions, recordDecisions } from './decisions.ts';
import { finishCheck, repositoryFiles } from './repository-files.ts';

/** Records the decision of a new ADR. */
const acceptOption = '--accept';
/** Records a decision whose words have changed and nothing else: of one ADR, or of all of them. */
const rewordedOption = '--reworded';
const recordPath = 'docs/adr/decisions.json';

const links = String.raw`\[\d{4}\]\(\S+?\)(?:, \[\d{4}\]\(\S+?\))*`;
const status = new RegExp(
  String.raw`^Status: (?:accepted(?:, supersedes ${links})?(?:, superseded in part by ${links})?|superseded by \[(\d{4})\]\((\S+)\)), \d{4}-\d\d-\d\d$`,
);
const sections = ['## Context', '## Decision', '## Consequence'];

const numberOf = (path: string): string => basename(path).slice(0, 4);
const statusOf = (path: string): string => (existsSync(path) ? (readFileSync(path, 'utf8').split('\n')[2] ?? '') : '');

function problemsOf(path: string): string[] {
  const number = numberOf(path);
  const lines = readFileSync(path, 'utf8').split('\n');
  const found: string[] = [];
  if (!/^\d{4}-[a-z0-9-]+\.md$/.test(basename(path))) found.push('the name is not 0017-a-few-words.md');
  if (!lines[0]?.startsWith(`# ${number} `)) found.push(`the first line is not "# ${number} Title"`);
  const [, successor, target = ''] = status.exec(statusOf(path)) ?? [];
  if (!status.test(statusOf(path)))
    found.push(
      'the third line is no Status: "accepted", "accepted, supersedes [0077](…)", "accepted, superseded in part by [0145](…)" or "superseded by [0081](…)", and a date',
    );
  if (successor !== undefined && !statusOf(join(dirname(path), target)).includes(`[${number}](`))
    found.push(`the Status of ${successor} does not say that it supersedes ${number}`);
  if (lines[4] !== sections[0]) found.push('Context does not follow the Status');
  const headings = lines.filter((line) => line.startsWith('## '));
  if (headings.join() !== sections.join()) found.push(`the sections are not ${sections.join(', ')}`);
  return [...found, ...deadLinks(path, lines.join('\n'))].map((problem) => `${path}: ${problem}`);
}

function deadLinks(path: string, text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.split('#')[0] ?? '')
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target) && !existsSync(join(dirname(path), target)))
    .map((target) => `the link to ${target} is dead`);
}

const paths = repositoryFiles('docs/adr/*.md');
const decisions = new Map(
  paths.map((path) => [numberOf(path), hashOfDecision(numberOf(path), readFileSync(path, 'utf8'))]),
);
const [option = '', which = ''] = process.argv.slice(2);

if (option === acceptOption || option === rewordedOption) {
  // "all" does not read what is recorded: a merge may have left conflicts in it.
  const recorded = option === rewordedOption && which === 'all' ? {} : readRecord();
  const next = recordDecisions(decisions, recorded, { isReworded: option === rewordedOption, which });
  if (typeof next === 'string') finishCheck([next], '');
  else {
    writeFileSync(recordPath, `${JSON.stringify(next, null, 2)}\n`);
    console.log(`wrote ${recordPath}`);
  }
} else check();

function readRecord(): Record<string, string> {
  return existsSync(recordPath) ? JSON.parse(readFileSync(recordPath, 'utf8')) : {};
}

function check(): void {
  const numbers = paths.map((path) => Number(numberOf(path)));
  const problems = [...paths.flatMap(problemsOf), ...problemsOfDecisions(decisions, readRecord())];
  problems.push(
    ...numbers
      .filter((number, index) => numbers.indexOf(number) !== index)
      .map((number) => `ADR ${number} is there twice`),
  );

  const mentions = repositoryFiles('*.ts', '*.tsx', '*.md', '*.sql', '*.yaml', '*.yml').flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/\bADR (\d+)/g)].map(([, number]) => ({ path, number: Number(number) })),
  );
  problems.push(
    ...mentions
      .filter(({ number }) => !numbers.includes(number))
      .map(({ path, number }) => `${path}: there is no ADR ${number}`),
  );
  if (paths.length < 50 || mentions.length < 15)
    problems.push(`saw only ${paths.length} ADRs and ${mentions.length} mentions: the check is broken`);

  finishCheck(problems, `${paths.length} ADRs, mentioned ${mentions.length} times`);
}
