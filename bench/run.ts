/**
 * `npm run bench`: every question, or those named on the command line. Prints each floor with both sides of the same
 * run and writes docs/benchmarks: a file of figures a question, and the page that is made of all of them.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDirty, readMachine } from './machine.ts';
import { questions } from './questions.ts';
import { type Answer, figure, floorText, isMet, isRow } from './ratio.ts';
import { writeReport } from './report.ts';
import { type Result, writeResult } from './results.ts';

/** Far more than any of them takes: one that hangs must not hold up the rest. */
const questionMs = 8 * 60_000;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in questions));
if (unknown.length > 0) throw new Error(`no such benchmark: ${unknown.join(', ')}`);
const names = Object.keys(questions).filter((name) => wanted.length === 0 || wanted.includes(name));

const machine = await readMachine();
let [missed, notRun] = [0, 0];
for (const [index, name] of names.entries()) {
  console.log(`\n[${index + 1} of ${names.length}] ${name}`);
  const begun = performance.now();
  const outcome = await answer(name);
  const seconds = Math.round((performance.now() - begun) / 1000);
  writeResult(name, { at: new Date().toISOString(), seconds, machine, ...outcome });
  missed += show(outcome);
  notRun += outcome.rows.filter((row) => !isRow(row)).length;
  console.log(`      ${seconds} s`);
}
writeReport();
if (isDirty()) console.log('\nThe tree has uncommitted changes: the figures are recorded under the last commit.');
if (notRun > 0) console.log(`\n${notRun} not run: what they need is not installed.`);
const asked =
  notRun > 0 || names.length < Object.keys(questions).length ? 'Every floor that was measured' : 'Every floor';
console.log(missed === 0 ? `\n${asked} is met.` : `\n${missed} not met.`);
process.exitCode = missed > 0 ? 1 : 0;

/** In a process of its own, so that one that fails or hangs leaves the others alone. */
async function answer(name: string): Promise<Pick<Result, 'rows' | 'failed'>> {
  const child = fork(new URL('./answer.ts', import.meta.url), [name], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({ rows: [], failed: `ended with ${code ?? signal}` }));
  const answered = once(child, 'message').then(([message]) => message as { rows: Answer[]; failed?: string });
  const late = sleep(
    questionMs,
    { rows: [], failed: `no answer within ${questionMs / 60_000} minutes` },
    { ref: false },
  );
  const outcome = await Promise.race([answered, exited, late]);
  if (child.exitCode === null) child.kill('SIGKILL');
  await exited;
  return outcome;
}

/** Prints an outcome; says how many of its rows did not make it. */
function show({ rows, failed }: Pick<Result, 'rows' | 'failed'>): number {
  if (failed !== undefined) {
    console.log(`FAILED  ${failed}`);
    return 1;
  }
  for (const row of rows) {
    if (!isRow(row)) {
      console.log(`not run          ${floorText(row.floor).padEnd(8)} ${row.question}`);
      console.log(`                         ${row.notRun}`);
      continue;
    }
    const verdict = row.floor === null ? 'peer' : isMet(row) ? 'met ' : 'MISS';
    console.log(`${verdict}  ${figure(row.ratio).padStart(7)}  ${floorText(row.floor).padEnd(8)} ${row.question}`);
    console.log(`                         ${row.detail}`);
  }
  return rows.filter(isRow).filter((row) => !isMet(row)).length;
}
