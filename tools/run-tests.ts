/**
 * The tests: `npm test`, or `npm run test:production` for those that stand on the database or the bus, on PostgreSQL
 * and Redis. Words after it choose files: `npm test -- bus db/migrate`. With `--whole` nothing is asked in turns.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createClient } from 'redis';
import { cacheFolder, migratedTemplate } from '../apps/server/src/adapters/db/embedded/template.ts';
import { readMigrations, serverMigrations } from '../apps/server/src/adapters/db/shared/migrate.ts';
import { type Claims, offerFiles } from './tests/claims.ts';
import { chooseFiles, type Weight, weightOf } from './tests/files.ts';
import { createReport } from './tests/report.ts';

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    production: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
  },
});

// Of the workers, and of the processes that tests start.
process.env['NODE_COMPILE_CACHE'] ??= join(cacheFolder(), 'compiled');
if (values.production) {
  process.env['PARLEY_TEST_DATABASE_URL'] ??= 'postgres://postgres@127.0.0.1:5432/test';
  process.env['PARLEY_TEST_REDIS_URL'] ??= 'redis://127.0.0.1:6379';
  await assertAnswers('PostgreSQL', 'PARLEY_TEST_DATABASE_URL', pingPostgres);
  await assertAnswers('Redis', 'PARLEY_TEST_REDIS_URL', pingRedis);
}

if (values.whole) process.env['PARLEY_TEST_WHOLE'] = '1';

const files = chooseFiles({ isProduction: values.production, words });
if (files.length === 0)
  quit(words.length > 0 ? `No test file matches ${words.join(', ')}.` : 'There are no test files.');

// A migration came since the last install: each process that a test starts would run them all, for a second of CPU.
if (!existsSync(migratedTemplate(readMigrations(serverMigrations)))) {
  const { prepareTemplates } = await import('../apps/server/src/adapters/db/embedded/prepare-templates.ts');
  await prepareTemplates();
}

const report = createReport(words.length > 0);
const workers = Number(values.workers);
const preferred = { PARLEY_TEST_NICE: '-10' };
// To optimise the embedded database's engine takes 3 s of CPU, which no worker lives long enough to get back.
const execArgv = ['--liftoff-only'];
const byWeight = Map.groupBy(files, weightOf);
const offer = (weight: Weight, env?: Record<string, string>): Claims => offerFiles(byWeight.get(weight) ?? [], env);
const ownTime = offer('own time');
if (values.production) {
  const others = files.filter((file) => weightOf(file) !== 'own time');
  // Those of several processes mostly wait for timeouts: among the others they take no time of their own.
  const all = offerFiles(others);
  await runLanes([[ownTime, all], ...Array.from({ length: workers }, () => [all])]);
} else {
  const light = offer('light');
  // In workers of their own, which share browsers, a media node and an `npm start`.
  const heavy = offer('heavy');
  const media = offer('media', preferred);
  const node = offer('node', preferred);
  // One more than there are cores, and one for media: all of them wait for timers and servers as much as they compute.
  const lanes = [[ownTime, light, heavy], ...Array.from({ length: workers }, () => [light, heavy])];
  await runLanes([...lanes, [media, node, light, heavy]]);
}
process.exitCode = report.conclude(files) ? 0 : 1;

/** Side by side, in each one worker after the other, until its last queue is empty: no core waits for the last light file. */
async function runLanes(lanes: readonly (readonly Claims[])[]): Promise<void> {
  const run = async (queues: readonly Claims[]): Promise<void> => {
    // A worker that crashed took one file with it; the next one goes on with the rest.
    for (const queue of queues) {
      let left = queue.unclaimed();
      while (left > 0) {
        await runWorker(queue.env);
        const now = queue.unclaimed();
        // One that took none cannot even start: neither would the next. The report names what was not run.
        if (now === left) break;
        left = now;
      }
    }
  };
  await Promise.all(lanes.map(run));
  for (const queue of lanes.flat()) queue.remove();
}

async function runWorker(env: Record<string, string>): Promise<void> {
  const events = run({ files: ['tools/tests/worker.ts'], env: { ...process.env, ...env }, execArgv });
  report.follow(events);
  events.resume();
  await finished(events);
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
