/**
 * What is to be done later is done exactly, at full size: two processes on PostgreSQL and Redis, one or both of which are
 * killed with -9 in each round while scheduled messages fall due, a user is exported, another erased and a history
 * imported. In the end every message is there once, and of whom was erased nothing is.
 *
 *   node tools/proof/jobs-kills.ts [rounds]
 *
 * A round does not wait for the one before it: what a kill left is claimed for up to a minute, and is met by later kills.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../apps/server/src/core/sql.ts';
import { startFleet } from '../../apps/server/testkit/chat/fleet.ts';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { openTestDatabase } from '../../apps/server/testkit/kit/test-database.ts';
import { faultsOf } from './jobs-kills/checks.ts';
import { type Asked, ask } from './jobs-kills/round.ts';

const rounds = Number(process.argv[2] ?? 10);
const redisUrl = process.env['PARLEY_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const unlimited = '1000000';

const database = await openTestDatabase({
  url: process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test',
});
const { db } = database;
const scratch = await mkdtemp(join(tmpdir(), 'parley-jobs-kills-'));
const env = {
  DATABASE_URL: database.url ?? '',
  REDIS_URL: redisUrl,
  REDIS_KEY_PREFIX: `jobs-kills-${process.pid}:`,
  TMPDIR: scratch,
  CHAT_MANAGE_RATE_LIMIT: unlimited,
  CHAT_MAX_SCHEDULED: unlimited,
  DATA_ERASURE_SETTLE_MS: '1000',
};
const fleet = await startFleet({ processes: 2, env, members: ['ada', 'ben'] });
const all: Asked[] = [];
let [cutJobs, cutMessages, failed] = [0, 0, 0];
try {
  for (let round = 1; round <= rounds; round++) {
    all.push(await ask(fleet, round));
    console.log(`round ${round}: ${await killSome(round)}`);
  }
  await eventually(async () => (await waiting()) === 0, { withinMs: 300_000, everyMs: 1_000 });
  for (const [at, asked] of all.entries()) {
    const faults = await faultsOf({ fleet, db }, asked);
    if (faults.length > 0) failed += 1;
    console.log(`round ${at + 1}: ${faults.length === 0 ? 'holds' : faults.join('\n')}`);
  }
  await verdict();
} catch (error) {
  failed += 1;
  process.exitCode = 1;
  console.log(error);
  for (const { child, output } of fleet.processes)
    console.log(child.exitCode, child.signalCode, output().slice(-2_000));
} finally {
  await fleet.stop();
  await database.close();
  await rm(scratch, { recursive: true, force: true });
}
process.exit();

/** A random moment, of which every second one is in the middle of sending: that takes milliseconds of a second. */
async function someMoment(round: number): Promise<void> {
  await sleep(Math.random() * 1_200);
  if (round % 2 === 0) return;
  const isSending = sql`select 1 from scheduled_messages where status = 'SENDING' and claimed_until > now() + interval '29 seconds'`;
  await eventually(async () => (await db.query(isSending)).length > 0, { withinMs: 3_000, everyMs: 1 }).catch(() => {});
  await sleep(Math.random() * 20);
}

/** Kills one of the processes or both; says what they were at. */
async function killSome(round: number): Promise<string> {
  await someMoment(round);
  const places = [[0], [1], [0, 1]][Math.floor(Math.random() * 3)] ?? [];
  await Promise.all(places.map((place) => fleet.processes[place]?.kill('SIGKILL')));
  const jobs = await db.query<{ kind: string; progress: number }>(sql`
    select kind, progress from data_jobs where state = 'RUNNING' order by kind`);
  const [messages] = await db.query<{ sending: number; pending: number }>(sql`
    select count(*) filter (where status = 'SENDING') as sending, count(*) filter (where status = 'PENDING') as pending
    from scheduled_messages`);
  await Promise.all(places.map((place) => fleet.restart(place)));
  const { sending = 0, pending = 0 } = messages ?? {};
  cutMessages += sending;
  const running = jobs.map(({ kind, progress }) => `${kind} at ${progress}`).join(', ') || 'no job';
  return `killed ${places.length} of 2: ${pending} messages to send, ${sending} being sent; ${running}`;
}

/** Jobs and messages that are not at their end. */
async function waiting(): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select (select count(*) from data_jobs where finished_at is null)
      + (select count(*) from scheduled_messages where status in ('PENDING', 'SENDING')) as count`);
  return row?.count ?? 0;
}

async function verdict(): Promise<void> {
  const [row] = await db.query<{ count: number }>(sql`select count(*) as count from data_jobs where attempts > 1`);
  cutJobs = row?.count ?? 0;
  const left = await readdir(scratch);
  console.log(`${cutJobs} jobs were taken up after a kill; ${cutMessages} times a message was seen being sent at one`);
  if (left.length > 0) console.log(`killed attempts left files behind: ${left.join(', ')}`);
  // Kills that hit nothing show nothing.
  const isHit = cutJobs > 0 || rounds < 5;
  if (!isHit) console.log('no kill has hit a job: run more rounds');
  console.log(failed === 0 ? `all ${rounds} rounds hold` : `${failed} of ${rounds} rounds do not hold`);
  process.exitCode = failed === 0 && left.length === 0 && isHit ? 0 : 1;
}
