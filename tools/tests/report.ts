import { relative } from 'node:path';
import type { EventData, run } from 'node:test';
import { inspect } from 'node:util';

type TestEvents = ReturnType<typeof run>;

/** What came of one file. */
interface FileResult {
  file: string;
  ms: number;
  passed: number;
  failed: number;
  /** Which tests failed, and the first line of why: the end of a long log must say it again. */
  failures: string[];
  /** Why tests of it did not run. */
  skips: string[];
}

export interface Report {
  /** Prints what a worker says, file by file; call it once for each worker. */
  follow(events: TestEvents): void;
  /** Prints the end; answers whether all is well. */
  conclude(files: readonly string[]): boolean;
}

/** @param isVerbose names every test, not only those that failed. */
export function createReport(isVerbose: boolean): Report {
  const results = new Map<string, FileResult>();
  const faults: string[] = [];
  const startedAt = performance.now();

  function follow(events: TestEvents): void {
    /** A worker runs one file at a time: what it says is about this one. */
    let current: FileResult | null = null;
    let lines: string[] = [];

    function finish(file: FileResult, ms: number): void {
      file.ms = ms;
      results.set(file.file, file);
      console.log([`${file.failed > 0 ? '✖' : '✔'} ${file.file} (${seconds(ms)})`, ...lines].join('\n'));
      [current, lines] = [null, []];
    }

    function note(sign: string, test: TestResult, more = ''): void {
      lines.push(
        `${'  '.repeat(test.nesting)}${sign} ${test.name} (${Math.round(test.details.duration_ms)} ms)${more}`,
      );
    }

    events.on('test:dequeue', ({ name, nesting, file }) => {
      if (nesting > 0 || isWorker(name, file)) return;
      current = { file: name, ms: 0, passed: 0, failed: 0, failures: [], skips: [] };
    });
    events.on('test:pass', (test) => {
      if (!current) return;
      if (test.nesting === 0) finish(current, test.details.duration_ms);
      else if (test.skip !== undefined) current.skips.push(String(test.skip));
      else if (test.details.type !== 'suite') {
        current.passed++;
        if (isVerbose) note('✔', test);
      }
    });
    events.on('test:fail', (test) => {
      if (!current) {
        if (isWorker(test.name, test.file))
          faults.push(
            `A worker failed outside of a test (${endOf(test.details.error)}).\n${inspect(test.details.error)}`,
          );
        return;
      }
      const reason = failureOf(test.details.error);
      if (isWorker(test.name, test.file)) {
        const end = `the process ended while this file ran (${endOf(test.details.error)})`;
        current.failed++;
        current.failures.push(end);
        lines.push(`  ✖ ${end}\n${reason ?? ''}`);
        return finish(current, test.details.duration_ms);
      }
      if (reason !== null) {
        current.failed++;
        current.failures.push(`${test.name}: ${reason.trim().split('\n', 1)[0]}`);
        note('✖', test, `\n${reason}`);
      }
      if (test.nesting === 0) {
        current.failed = Math.max(current.failed, 1);
        finish(current, test.details.duration_ms);
      }
    });
    events.on('test:diagnostic', ({ message, nesting, level }) => {
      if (nesting > 0 && isVerbose) lines.push(`${'  '.repeat(nesting)}ℹ ${message}`);
      // Of an error that came after the end of its test.
      else if (level === 'warn' || level === 'error') console.log(message);
    });
    events.on('test:stdout', ({ message }) => void process.stdout.write(message));
    events.on('test:stderr', ({ message }) => void process.stderr.write(message));
  }

  function conclude(files: readonly string[]): boolean {
    const done = [...results.values()];
    for (const file of files) faults.push(...faultOf(file, results.get(file)));
    console.log('\nSlowest files:');
    for (const { file, ms } of done.sort((a, b) => b.ms - a.ms).slice(0, 10)) console.log(`  ${seconds(ms)} ${file}`);
    for (const fault of faults) console.log(fault);
    for (const { file, failed, failures } of done)
      if (failed > 0) console.log([`FAILED ${file}`, ...failures].join('\n  '));
    const count = (of: (result: FileResult) => number): number => done.reduce((sum, result) => sum + of(result), 0);
    const failed = count((result) => result.failed);
    console.log(`\n${files.length} files in ${seconds(performance.now() - startedAt)}`);
    console.log(
      `${count((result) => result.passed)} passed, ${failed} failed, ${count(({ skips }) => skips.length)} skipped`,
    );
    return failed === 0 && faults.length === 0;
  }

  return { follow, conclude };
}

type TestResult = EventData.TestPass | EventData.TestFail;

/** The worker is a test file itself, to the runner of Node. */
const isWorker = (name: string, file: string | undefined): boolean =>
  file !== undefined && relative('.', file) === name;

/** A file that proves nothing is a fault, unless it says why it cannot. */
function faultOf(file: string, result: FileResult | undefined): string[] {
  if (!result) return [`${file} was not run.`];
  if (result.passed + result.failed > 0) return [];
  const [reason] = result.skips;
  if (reason === undefined) return [`${file} ran no test: a file that proves nothing is a fault.`];
  console.log(`SKIPPED ${file}: ${reason}`);
  return [];
}

/** Null for a suite or test that failed only because one inside of it did: that one is reported. */
function failureOf(error: Error): string | null {
  if ('failureType' in error && error.failureType === 'subtestsFailed') return null;
  return inspect(error.cause ?? error).replaceAll(/^/gm, '      ');
}

/** How a worker ended: a signal is a crash of native code, or somebody's kill. */
function endOf(error: Error): string {
  const { signal, exitCode } = error as { signal?: string | null; exitCode?: number | null };
  return signal ? `signal ${signal}` : `exit code ${exitCode ?? 'unknown'}`;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
