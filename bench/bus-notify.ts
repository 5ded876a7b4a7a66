import pg from 'pg';
import { createClient } from 'redis';
import { createEmptyDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { adminUrl, redisUrl } from './chat-stage.ts';
import { countCpu } from './cpu-usage.ts';
import { median, percentile, type Row, thousands } from './ratio.ts';

const writers = 16;
/** As many as a small fleet has processes. Each hears everything: PostgreSQL hands every backend the whole queue. */
const listeners = 3;
const roundMs = 4_000;
const rounds = 3;
const channel = 'parley_bench';
/** As long as a message with its members is; PostgreSQL takes less than 8,000 bytes. */
const payloadBytes = 600;

/** One round of one side. */
interface Round {
  perSecond: number;
  /** Of the database's sessions, for a message. */
  cpuUs: number;
  /** From before the commit until the last listener has it. */
  waits: number[];
}

type Publish = (client: pg.Client, payload: string) => Promise<unknown>;

const insert = (payload: string) => ({ name: 'i', text: 'insert into told (body) values ($1)', values: [payload] });

/** Whether PostgreSQL's LISTEN and NOTIFY could be the bus of a small fleet without Redis. */
export async function rows(): Promise<Row[]> {
  const database = await createEmptyDatabase(adminUrl);
  const redis = await createClient({ url: redisUrl }).connect();
  try {
    const clients = await connect(database.url, writers);
    await clients[0]?.query('create table told (id bigint generated always as identity, body text not null)');
    const heard = createHeard();
    const closeNotified = await listenToPostgres(database.url, heard.tell);
    const closePublished = await listenToRedis(heard.tell);
    const byRedis: Publish = async (client, payload) => {
      await client.query(insert(payload));
      await redis.publish(channel, payload);
    };
    const byNotify: Publish = (client, payload) =>
      client.query({
        name: 'n',
        text: 'with told as (insert into told (body) values ($1)) select pg_notify($2, $1)',
        values: [payload, channel],
      });
    const sides: Record<'redis' | 'notify', Round[]> = { redis: [], notify: [] };
    for (let round = 0; round < rounds; round++) {
      sides.redis.push(await measure(clients, heard, byRedis, database.url));
      sides.notify.push(await measure(clients, heard, byNotify, database.url));
    }
    await Promise.all([...clients.map((client) => client.end()), closeNotified(), closePublished()]);
    return rowsOf(sides);
  } finally {
    redis.destroy();
    await database.drop();
  }
}

function rowsOf({ redis, notify }: Record<'redis' | 'notify', Round[]>): Row[] {
  const of = (side: Round[], value: (round: Round) => number): number => median(side.map(value));
  const rate = (side: Round[]): number => of(side, (round) => round.perSecond);
  const wait = (side: Round[], share: number): number => of(side, (round) => percentile(round.waits, share));
  const cpu = (side: Round[]): number => of(side, (round) => round.cpuUs);
  const waits = (side: Round[]): string => `p50 ${wait(side, 0.5).toFixed(1)}, p99 ${wait(side, 0.99).toFixed(1)} ms`;
  return [
    {
      question: `commits with NOTIFY ÷ commits and then Redis' PUBLISH, ${writers} writers, ${listeners} listeners`,
      floor: null,
      ratio: rate(notify) / rate(redis),
      detail: `NOTIFY ${thousands(rate(notify))}, ${waits(notify)}; Redis ${thousands(rate(redis))}, ${waits(redis)}`,
      bars: { unit: 'messages/s', sides: { NOTIFY: rate(notify), Redis: rate(redis) } },
    },
    {
      question: `CPU of the database a message, NOTIFY ÷ Redis, ${listeners} listeners`,
      floor: null,
      ratio: cpu(notify) / cpu(redis),
      detail: `${cpu(notify).toFixed(0)} against ${cpu(redis).toFixed(0)} µs, those of the listening sessions included`,
    },
  ];
}

/** Counts who has heard a message, and tells its writer when all have. */
function createHeard() {
  const missing = new Map<string, { left: number; done: () => void }>();
  return {
    tell(payload: string): void {
      const waiting = missing.get(payload);
      if (!waiting || --waiting.left > 0) return;
      missing.delete(payload);
      waiting.done();
    },
    byAll: (payload: string): Promise<void> =>
      new Promise((done) => {
        missing.set(payload, { left: listeners, done });
      }),
  };
}

async function measure(
  clients: readonly pg.Client[],
  heard: ReturnType<typeof createHeard>,
  publish: Publish,
  url: string,
): Promise<Round> {
  const cpu = await countCpu([], url);
  const waits: number[] = [];
  const begun = performance.now();
  async function write(client: pg.Client, writer: number): Promise<void> {
    for (let at = 0; performance.now() - begun < roundMs; at++) {
      const payload = `${writer}-${at}-${begun} `.padEnd(payloadBytes, '.');
      const sent = performance.now();
      const everywhere = heard.byAll(payload);
      await publish(client, payload);
      await everywhere;
      waits.push(performance.now() - sent);
    }
  }
  await Promise.all(clients.map(write));
  const seconds = (performance.now() - begun) / 1000;
  return { perSecond: waits.length / seconds, cpuUs: ((await cpu()) * 1000) / waits.length, waits };
}

async function connect(url: string, count: number): Promise<pg.Client[]> {
  const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  return clients;
}

async function listenToPostgres(url: string, tell: (payload: string) => void): Promise<() => Promise<void>> {
  const clients = await connect(url, listeners);
  for (const client of clients) {
    client.on('notification', ({ payload = '' }) => tell(payload));
    await client.query(`listen ${channel}`);
  }
  return async () => void (await Promise.all(clients.map((client) => client.end())));
}

async function listenToRedis(tell: (payload: string) => void): Promise<() => Promise<void>> {
  const clients = await Promise.all(Array.from({ length: listeners }, () => createClient({ url: redisUrl }).connect()));
  for (const client of clients) await client.subscribe(channel, tell);
  return async () => {
    for (const client of clients) client.destroy();
  };
}
