import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { capacityPage } from './capacity.ts';
import { drawChart } from './chart.ts';
import { type Question, questions } from './questions.ts';
import { figure, floorText, isMet, isRow } from './ratio.ts';
import { folder, type Result, readResult, root } from './results.ts';

/** What is made of all results there are: the page, its charts, and the capacity guide that is computed from them. */
export function reportFiles(): Record<string, () => string> {
  const asked = Object.entries(questions).map(([name, question]) => ({ name, question, result: readResult(name) }));
  const charts = asked.flatMap(({ name, question, result }) => {
    const rows = result?.rows.filter(isRow) ?? [];
    return rows.length === 0 ? [] : [[`${folder}charts/${name}.svg`, () => drawChart(question.title, rows)] as const];
  });
  return {
    [`${folder}README.md`]: () => pageOf(asked),
    ...Object.fromEntries(charts),
    'docs/guides/capacity.md': () => capacityPage(readResult),
  };
}

export function writeReport(): void {
  for (const [path, make] of Object.entries(reportFiles())) {
    mkdirSync(dirname(`${root}${path}`), { recursive: true });
    writeFileSync(`${root}${path}`, make());
  }
}

interface Asked {
  name: string;
  question: Question;
  /** Null: it was never run. */
  result: Result | null;
}

function pageOf(asked: readonly Asked[]): string {
  return `# Benchmarks

Made by \`npm run bench\` (by \`npm run bench -- name…\` for some); do not edit. Ratios with both sides from the same run, taken in turns: the best of several rounds, or their medians where the row says so; the floors are the project's own. A ratio travels from machine to machine, a rate does not. In the charts the line in the first bar is the floor. ${summaryOf(asked)}

| Question | Floor | Measured | Both sides | |
|---|---|---|---|---|
${asked.flatMap(tableLines).join('\n')}

${asked.map(sectionOf).join('\n')}`;
}

function summaryOf(asked: readonly Asked[]): string {
  const answers = asked.flatMap(({ result }) => result?.rows ?? []);
  const withFloor = answers.filter(isRow).filter(({ floor }) => floor !== null);
  const named = (list: readonly Asked[]): string => list.map(({ name }) => `\`${name}\``).join(', ');
  const failed = asked.filter(({ result }) => result?.failed !== undefined);
  const unasked = asked.filter(({ result }) => result === null);
  const absent = answers.filter((answer) => !isRow(answer)).length;
  const sentences = [
    `${withFloor.filter(isMet).length} of ${withFloor.length} measured floors are met.`,
    failed.length > 0 ? `${named(failed)} failed.` : '',
    unasked.length > 0 ? `Never run: ${named(unasked)}.` : '',
    absent > 0 ? `${absent} rows were not run, because what they need is not installed.` : '',
  ];
  return sentences.filter(Boolean).join(' ');
}

function tableLines({ name, question, result }: Asked): string[] {
  if (result === null) return [`| ${question.title} (\`${name}\`) | | | | **not run** |`];
  if (result.failed !== undefined) return [`| \`${name}\` | | | ${cell(result.failed)} | **failed** |`];
  return result.rows.map((row) => {
    const start = `| ${cell(row.question)} | ${floorText(row.floor)} |`;
    if (!isRow(row)) return `${start} | ${cell(row.notRun)} | **not run** |`;
    const verdict = row.floor === null ? 'peer' : isMet(row) ? 'met' : '**missed**';
    return `${start} ${figure(row.ratio)} | ${cell(row.detail)} | ${verdict} |`;
  });
}

function sectionOf({ name, question, result }: Asked): string {
  const head = `## ${question.title}\n\n${question.peers}\n`;
  if (result === null) return `${head}\nNot run: \`npm run bench -- ${name}\` answers it.\n`;
  const { rows, failed, machine, at, seconds } = result;
  const { commit, cores, cpu, memoryGiB, node, postgres, load } = machine;
  const busy = load === undefined ? '' : ` · load ${load} before`;
  const chart = rows.some(isRow) ? `![${question.title}](charts/${name}.svg)\n\n` : '';
  return `${head}
${failed === undefined ? chart : `It failed: ${failed}\n\n`}<sub>\`npm run bench -- ${name}\`, ${seconds} s · ${at.slice(0, 16).replace('T', ' ')} UTC, commit ${commit} · ${cores} cores (${cpu}), ${memoryGiB} GiB · Node ${node} · PostgreSQL ${postgres}${busy}</sub>
`;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
