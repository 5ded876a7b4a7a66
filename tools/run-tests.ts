/**
 * The tests: `npm test`, or `npm run test:production` for PostgreSQL and Redis.
 * Words after it choose files: `npm test -- bus db/migrate`.
 */
import { globSync, readFileSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createClient } from 'redis';

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { production: { type: 'boolean', default: false }, concurrency: { type: 'string', default: '2' } },
});

if (values.production) {
  process.env['PARLEY_TEST_DATABASE_URL'] ??= 'postgres://postgres@127.0.0.1:5432/test';
  process.env['PARLEY_TEST_REDIS_URL'] ??= 'redis://127.0.0.1:6379';
  await assertAnswers('PostgreSQL', 'PARLEY_TEST_DATABASE_URL', pingPostgres);
  await assertAnswers('Redis', 'PARLEY_TEST_REDIS_URL', pingRedis);
}

/** A media node keeps nothing: which database and bus there are is nothing to it. */
const isStoreless = (path: string): boolean => path.startsWith('apps/sfu/');
const files = globSync('{packages,apps,tools,e2e}/**/*.test.ts', {
  exclude: (path) => path.includes('node_modules') || path.includes('dist') || (values.production && isStoreless(path)),
}).filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
if (files.length === 0)
  quit(words.length > 0 ? `No test file matches ${words.join(', ')}.` : 'There are no test files.');

/** Browsers, media and killed processes want the machine to themselves: they go one after the other, after the rest. */
const isHeavy = (file: string): boolean =>
  file.startsWith('e2e/') || readFileSync(file, 'utf8').includes("browser.ts'");
const groups = [
  { name: 'side by side', files: files.filter((file) => !isHeavy(file)), concurrency: Number(values.concurrency) },
  { name: 'one after the other', files: files.filter(isHeavy), concurrency: 1 },
];

const idleFiles = new Set(files);
/** Why a file's tests were skipped; a file that says so is not silent. */
const skips = new Map<string, string>();
const failed = new Set<string>();
for (const group of groups) if (group.files.length > 0) await runGroup(group);
const shaky = await runAgain([...failed].filter((file) => files.includes(file)));

for (const file of idleFiles) {
  const reason = skips.get(file);
  if (reason === undefined) console.error(`${file} ran no test: a file that proves nothing is a fault.`);
  else {
    console.log(`SKIPPED ${file}: ${reason}`);
    idleFiles.delete(file);
  }
}
for (const file of shaky) console.log(`SHAKY ${file}: failed, then passed when run again. Find out why.`);
process.exitCode = failed.size > 0 || idleFiles.size > 0 ? 1 : 0;

async function runGroup(group: (typeof groups)[number]): Promise<void> {
  console.log(`${group.files.length} files, ${group.name}`);
  const events = run({ files: group.files.sort(), concurrency: group.concurrency, timeout: 600_000 });
  // Each file that has tests sums up; one whose tests were all skipped ran none.
  events.on('test:summary', ({ file, counts }) => {
    if (counts.tests - counts.skipped - counts.todo > 0) markBusy(file);
  });
  events.on('test:pass', ({ file, skip }) => {
    if (typeof skip === 'string') for (const known of files) if (file?.endsWith(known)) skips.set(known, skip);
  });
  events.on('test:fail', ({ file, name }) => {
    failed.add(files.find((known) => file?.endsWith(known)) ?? name);
    markBusy(file);
  });
  const report = events.compose(spec);
  report.pipe(process.stdout, { end: false });
  await finished(report);
}

/**
 * A test can be starved by the machine: in CI its file gets one second chance, alone and said aloud. When more than two
 * failed nothing gets one. Answers which passed then.
 */
async function runAgain(suspects: string[]): Promise<string[]> {
  if (!process.env['PARLEY_TEST_SECOND_CHANCE'] || suspects.length === 0 || suspects.length > 2) return [];
  for (const file of suspects) failed.delete(file);
  await runGroup({ name: 'once more', files: suspects, concurrency: 1 });
  return suspects.filter((file) => !failed.has(file));
}

function markBusy(path: string | undefined): void {
  for (const file of idleFiles) if (path?.endsWith(file)) idleFiles.delete(file);
}

async function assertAnswers(name: string, variable: string, ping: (url: string) => Promise<unknown>): Promise<void> {
  const url = process.env[variable] ?? '';
  try {
    await ping(url);
  } catch (error) {
    quit(`${name} does not answer at ${variable}=${url}: ${error instanceof Error ? error.message : error}`);
  }
}

async function pingPostgres(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 3_000 });
  await client.connect();
  await client.end();
}

async function pingRedis(url: string): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 3_000 } });
  client.on('error', () => {}); // connect() rejects with it
  await client.connect();
  await client.ping();
  client.destroy();
}

function quit(message: string): never {
  console.error(message);
  process.exit(1);
}
