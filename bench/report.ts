import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawChart } from './chart.ts';
import type { Machine } from './machine.ts';
import { type Question, questions } from './questions.ts';
import { figure, floorText, isMet, type Row } from './ratio.ts';

/** What one run of one question gave; kept as a file, so that another run of another question leaves it alone. */
export interface Result {
  at: string;
  seconds: number;
  machine: Machine;
  rows: Row[];
  /** Why there are no rows. */
  failed?: string;
}

const folder = fileURLToPath(new URL('../docs/benchmarks/', import.meta.url));
const resultFile = (name: string): string => `${folder}results/${name}.json`;

export function writeResult(name: string, result: Result): void {
  mkdirSync(`${folder}results`, { recursive: true });
  writeFileSync(resultFile(name), `${JSON.stringify(result, null, 2)}\n`);
}

/** Makes the page and its charts of all results there are. */
export function writeReport(): void {
  const answered = Object.entries(questions).flatMap(([name, question]) =>
    existsSync(resultFile(name)) ? [{ name, question, result: readResult(name) }] : [],
  );
  mkdirSync(`${folder}charts`, { recursive: true });
  for (const { name, question, result } of answered) {
    if (result.rows.length > 0) writeFileSync(`${folder}charts/${name}.svg`, drawChart(question.title, result.rows));
  }
  writeFileSync(`${folder}README.md`, pageOf(answered));
}

const readResult = (name: string): Result => JSON.parse(readFileSync(resultFile(name), 'utf8')) as Result;

interface Answered {
  name: string;
  question: Question;
  result: Result;
}

function pageOf(answered: readonly Answered[]): string {
  const rows = answered.flatMap(({ result }) => result.rows).filter(({ floor }) => floor !== null);
  const failed = answered.filter(({ result }) => result.failed !== undefined);
  const counted = `${rows.filter(isMet).length} of ${rows.length} floors are met`;
  const broken = failed.length === 0 ? '' : `; ${failed.map(({ name }) => `\`${name}\``).join(', ')} failed`;
  return `# Benchmarks

Made by \`npm run bench\` (by \`npm run bench -- name…\` for some); do not edit. Ratios with both sides from the same run, taken in turns, best of several rounds; the floors are the project's own. A ratio travels from machine to machine, a rate does not. In the charts the line in the first bar is the floor. ${counted}${broken}.

| Question | Floor | Measured | Both sides | |
|---|---|---|---|---|
${answered.flatMap(({ result, name }) => tableLines(name, result)).join('\n')}

${answered.map(sectionOf).join('\n')}`;
}

function tableLines(name: string, { rows, failed }: Result): string[] {
  if (failed !== undefined) return [`| \`${name}\` | | | ${cell(failed)} | **failed** |`];
  return rows.map((row) => {
    const verdict = row.floor === null ? 'peer' : isMet(row) ? 'met' : '**missed**';
    return `| ${cell(row.question)} | ${floorText(row.floor)} | ${figure(row.ratio)} | ${cell(row.detail)} | ${verdict} |`;
  });
}

function sectionOf({ name, question, result: { rows, failed, machine, at, seconds } }: Answered): string {
  const hasChart = rows.length > 0;
  const { commit, cores, cpu, memoryGiB, node, postgres } = machine;
  const chart = hasChart ? `![${question.title}](charts/${name}.svg)\n\n` : '';
  return `## ${question.title}

${question.peers}

${failed === undefined ? chart : `It failed: ${failed}\n\n`}<sub>\`npm run bench -- ${name}\`, ${seconds} s · ${at.slice(0, 16).replace('T', ' ')} UTC, commit ${commit} · ${cores} cores (${cpu}), ${memoryGiB} GiB · Node ${node} · PostgreSQL ${postgres}</sub>
`;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
