import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/process.ts';
import { openSocket } from '../apps/server/testkit/socket-client.ts';
import { openTestDatabase } from '../apps/server/testkit/test-database.ts';
import type { PeerPorts } from './chat-peers.ts';
import type { Watched } from './chat-server.ts';
import { adminUrl, redisUrl, type Stage, startStage, tokenOf } from './chat-stage.ts';
import { requestsPerSecond, startChild } from './children.ts';
import { bestOf, type Row, thousands } from './ratio.ts';

const connections = 64;
const conversations = 20;
const subscribers = 10;
const runMs = 2_000;
const warmUpRounds = 3;
const text = 'x'.repeat(200);
const body = JSON.stringify({ text, senderId: 'user-1', clientMessageId: 'c%d' });

/** Ten sockets that hear every conversation, as many as one may. */
async function listen(stage: Stage): Promise<() => void> {
  const { url, users, rooms } = stage;
  const sockets = await Promise.all(
    users.map(async (userId) => {
      const client = await openSocket(`${url}/v1/chat/ws?token=${await tokenOf(stage, userId)}`);
      await client.ask({ type: 'subscribe', conversations: rooms.map((ref) => ({ ref })) });
      client.ws.removeAllListeners('message');
      return client;
    }),
  );
  return () => {
    for (const { ws } of sockets) ws.terminate();
  };
}

/** POST message: ours in each of its forms against the least that does a part of the same job. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const generator = startChild('./http-load.ts');
  const peers = startChild('./chat-peers.ts');
  const servers: Stage[] = [];
  try {
    const databaseUrl = database.url ?? '';
    const start = async (env: Record<string, string>): Promise<Stage> => {
      const stage = await startStage({ dataDir, env, conversations, users: subscribers });
      servers.push(stage);
      return stage;
    };
    const onPostgres = await start({ DATABASE_URL: databaseUrl });
    const shared = { REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `bench-${process.pid}:` };
    const withRedis = await start({ DATABASE_URL: databaseUrl, ...shared });
    const embedded = await start({});
    const ports = await peers.ask<PeerPorts>({ databaseUrl, keys: [onPostgres.key] });
    const stopListening = await listen(withRedis);

    const post = (port: number, { key, rooms }: Stage) =>
      requestsPerSecond(generator, {
        port,
        method: 'POST',
        paths: rooms.map((room) => `/v1/chat/conversations/${room}/messages`),
        headers: { authorization: `Bearer ${key}` },
        body,
        connections,
        ms: runMs,
      });
    const delays: number[] = [];
    const saturated = async (): Promise<number> => {
      await embedded.child.ask({ order: 'watch' });
      const { perSecond } = await post(embedded.port, embedded);
      delays.push((await embedded.child.ask<Watched>({ order: 'watched' })).delayP99Ms);
      return perSecond;
    };
    const rate = (port: number, server: Stage) => async () => (await post(port, server)).perSecond;
    const sides = {
      ours: rate(onPostgres.port, onPostgres),
      insert: rate(ports.insert, onPostgres),
      prepared: rate(ports.prepared, onPostgres),
      noDatabase: rate(ports.noDatabase, onPostgres),
      embedded: saturated,
      delivered: rate(withRedis.port, withRedis),
      authInsert: rate(ports.authInsert, onPostgres),
    };
    // Until the compiler has seen enough of each; before that one measures the compiler.
    await bestOf(sides, warmUpRounds);
    delays.length = 0;
    const best = await bestOf(sides);
    stopListening();
    return rowsOf(best, Math.min(...delays));
  } finally {
    for (const { child } of servers) await child.stop();
    await peers.stop();
    await generator.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

type Best = Record<'ours' | 'insert' | 'prepared' | 'noDatabase' | 'embedded' | 'delivered' | 'authInsert', number>;

const against = (left: number, right: number, what: string): string =>
  `${thousands(left)} against ${thousands(right)} ${what}`;

const unit = 'messages/s';

function rowsOf({ ours, insert, prepared, noDatabase, embedded, delivered, authInsert }: Best, delayMs: number): Row[] {
  return [
    {
      question: 'POST message, full stack on PostgreSQL / bare Fastify + one pg insert a request',
      floor: { atLeast: 1.5 },
      ratio: ours / insert,
      detail: against(ours, insert, `over ${connections} connections; with its insert prepared ${thousands(prepared)}`),
      bars: { unit, sides: { Parley: ours, 'bare Fastify + insert': insert, 'its insert prepared': prepared } },
    },
    {
      question: `POST message with Redis and ${subscribers} deliveries each / key check + one insert`,
      floor: { atLeast: 1.2 },
      ratio: delivered / authInsert,
      detail: against(delivered, authInsert, `; ${thousands(delivered * subscribers)} frames delivered`),
      bars: { unit, sides: { 'Parley, delivered': delivered, 'key check + insert': authInsert } },
    },
    {
      question: 'POST message, full stack / the same route without a database',
      floor: { atLeast: 0.5 },
      ratio: ours / noDatabase,
      detail: against(ours, noDatabase, ''),
      bars: { unit, sides: { Parley: ours, 'no database': noDatabase } },
    },
    {
      question: 'embedded POST / PostgreSQL POST',
      floor: { atLeast: 0.4 },
      ratio: embedded / ours,
      detail: against(embedded, ours, ''),
      bars: { unit, sides: { embedded, 'on PostgreSQL': ours } },
    },
    {
      question: 'main-loop delay p99 with the embedded database saturated, in ms',
      floor: { atMost: 30 },
      ratio: delayMs,
      detail: `over ${connections} connections that wait for nothing else`,
      bars: { unit: 'ms', sides: { Parley: delayMs } },
    },
  ];
}
