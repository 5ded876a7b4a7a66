/**
 * Reads from a real streaming replica (DATABASE_READ_URL) see what was written before them, by whichever process, and
 * never fail:
 *
 *   following  the replica follows as fast as it can
 *   paused     it is connected and replays nothing
 *   frozen     it hangs: connections are open, and nothing is answered
 *   gone       it has ended
 *   back       it is there again
 *
 *   node tools/proof/read-replica.ts [--seconds 5] [--writers 4]
 *
 * Makes two PostgreSQL servers of the installed programs and two server processes. Each writer sends at one process and
 * reads at the other: the first page must begin with what it sent, and a search must find it. A member of the project
 * does the same with the dashboard's list of messages. At the end the primary's CPU for a page of 50 is compared with and without the replica.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type ChatFleet, startFleet } from '../../apps/server/testkit/chat/fleet.ts';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { type OwnPostgres, startOwnPostgres, startOwnReplica } from '../../apps/server/testkit/kit/own-postgres.ts';
import { startOwnRedis } from '../../apps/server/testkit/kit/redis.ts';
import { countCpu } from '../../bench/cpu-usage.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '5' }, writers: { type: 'string', default: '4' } },
});
const [stageMs, writers] = [Number(values.seconds) * 1_000, Number(values.writers)];
const pagesMeasured = 400;
const log = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`);

interface Result {
  reads: number;
  stale: number;
  failed: string[];
  ms: number[];
}

async function ask(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** One writer in a conversation of its own, sending here and reading there until the time is up. */
async function writeAndRead(fleet: ChatFleet, place: number, until: number, result: Result): Promise<void> {
  const { id: room } = await fleet.api(place).call('createConversation', { body: { name: `w${place}-${until}` } });
  for (let n = 1; Date.now() < until; n++) {
    try {
      const word = `w${place}n${n}x${until}`;
      const sent = await fleet.api(n).call('sendMessage', { room, body: { senderId: 'alice', text: `word ${word}` } });
      const started = performance.now();
      const page = await fleet.api(n + 1).call('listMessages', { room, query: {} });
      result.ms.push(performance.now() - started);
      const { projectId, owner } = dashboard(fleet);
      const listed = await owner.call('listProjectMessages', { projectId, conversationId: room, query: { limit: 1 } });
      const { results } = await fleet.api(n + 1).call('searchMessages', { query: { q: word } });
      result.reads += 3;
      if (page.messages[0]?.id !== sent.id) result.stale++;
      if (listed[0]?.id !== sent.id) result.stale++;
      if (results[0]?.message.id !== sent.id) result.stale++;
    } catch (error) {
      result.failed.push(String(error));
    }
  }
}

const dashboard = ({ project }: ChatFleet) => ({ projectId: project.id, owner: project.owner.api });

async function stage(name: string, fleet: ChatFleet): Promise<boolean> {
  const result: Result = { reads: 0, stale: 0, failed: [], ms: [] };
  const [before, until] = [await answers(fleet), Date.now() + stageMs];
  await Promise.all(Array.from({ length: writers }, (_, place) => writeAndRead(fleet, place, until, result)));
  const after = await answers(fleet);
  const by = Object.fromEntries(Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)]));
  const sorted = result.ms.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  const isGood = result.reads > 0 && result.stale === 0 && result.failed.length === 0;
  const { reads, stale, failed } = result;
  log(`${isGood ? 'ok  ' : 'FAIL'} ${name} ${JSON.stringify({ reads, stale, failed: failed.length, by })}`);
  log(`     history p50 ${at(0.5)} ms, p99 ${at(0.99)} ms${failed[0] ? `, first failure: ${failed[0]}` : ''}`);
  return isGood;
}

async function answers(fleet: ChatFleet): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { url } of fleet.processes) {
    const text = await (await fetch(`${url}/metrics`)).text();
    for (const [, result = '', count] of text.matchAll(/parley_replica_reads_total\{result="(\w+)"\} (\d+)/g))
      counts[result] = (counts[result] ?? 0) + Number(count);
  }
  return counts;
}

/** CPU of a server's backends for a page of 50 messages, in microseconds. */
async function costOfPage(fleet: ChatFleet, url: string, room: string): Promise<number> {
  const read = () => fleet.api(0).call('listMessages', { room, query: { limit: 50 } });
  for (let n = 0; n < 20; n++) await read();
  const spent = await countCpu([], url);
  for (let n = 0; n < pagesMeasured; n++) await read();
  return ((await spent()) * 1_000) / pagesMeasured;
}

async function compareCost(primary: OwnPostgres, replica: OwnPostgres, fleet: ChatFleet): Promise<void> {
  const { room } = fleet;
  for (let n = 0; n < 60; n++)
    await fleet.api(0).call('sendMessage', { room, body: { senderId: 'alice', text: 'x'.repeat(200) } });
  for (const round of [1, 2]) {
    const withReplica = await costOfPage(fleet, primary.url, room);
    await replica.stop('fast');
    await fleet.api(0).call('listMessages', { room, query: {} });
    const alone = await costOfPage(fleet, primary.url, room);
    await replica.start();
    log(
      `     round ${round}: a page of 50 costs the primary ${withReplica.toFixed(0)} µs, without the replica ${alone.toFixed(0)} µs`,
    );
    await isReadAgain(fleet, room);
  }
}

async function isReadAgain(fleet: ChatFleet, room: string): Promise<void> {
  const before = await answers(fleet);
  await eventually(
    async () => {
      for (const place of [0, 1]) await fleet.api(place).call('listMessages', { room, query: {} });
      if (((await answers(fleet))['replica'] ?? 0) < (before['replica'] ?? 0) + 2) throw new Error('not read yet');
    },
    { withinMs: 30_000, everyMs: 500 },
  );
}

const [primary, redis] = [await startOwnPostgres(), await startOwnRedis()];
const replica = await startOwnReplica(primary);
const env = { DATABASE_URL: primary.url, DATABASE_READ_URL: replica.url, REDIS_URL: redis.url };
const fleet = await startFleet({ processes: 2, env, members: ['alice'] });
const isGood: boolean[] = [];
try {
  isGood.push(await stage('following', fleet));
  await ask(replica.url, 'select pg_wal_replay_pause()');
  isGood.push(await stage('paused', fleet));
  await ask(replica.url, 'select pg_wal_replay_resume()');
  replica.freeze();
  isGood.push(await stage('frozen', fleet));
  replica.thaw();
  await replica.stop('immediate');
  isGood.push(await stage('gone', fleet));
  await replica.start();
  await isReadAgain(fleet, fleet.room);
  isGood.push(await stage('back', fleet));
  await compareCost(primary, replica, fleet);
} finally {
  await fleet.stop();
  await replica.remove();
  await primary.remove();
  await redis.kill();
}
process.exit(isGood.length === 5 && isGood.every(Boolean) ? 0 : 1);
