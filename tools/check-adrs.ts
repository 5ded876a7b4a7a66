/**
 * One format for docs/adr: `# 0017 Title`, a Status line, Context, Decision and Consequence. Links resolve, and so does
 * every "ADR 17" in the repository.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { finishCheck, repositoryFiles } from './repository-files.ts';

const link = String.raw`\[\d{4}\]\(\S+?\)`;
const status = new RegExp(
  String.raw`^Status: (?:accepted(?:, (?:supersedes|superseded in part by) ${link}(?:, ${link})*)?|superseded by \[(\d{4})\]\((\S+)\)), \d{4}-\d\d-\d\d$`,
);
const sections = ['## Context', '## Decision', '## Consequence'];

const statusOf = (path: string): string => (existsSync(path) ? (readFileSync(path, 'utf8').split('\n')[2] ?? '') : '');

function problemsOf(path: string): string[] {
  const number = basename(path).slice(0, 4);
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
const numbers = paths.map((path) => Number(basename(path).slice(0, 4)));
const problems = paths.flatMap(problemsOf);
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
