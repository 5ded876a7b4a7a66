import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import type { PeerPorts } from './chat-peers.ts';
import type { Watched } from './chat-server.ts';
import { adminUrl, redisUrl, type Stage, startStage, tokensOf } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import type { Heard } from './group-members.ts';
import type { LoadResult } from './http-load.ts';
import { bestOf, type Row, thousands } from './ratio.ts';

/** A crowd: what waits meanwhile is stored by one statement, up to 200 messages, so that it is worth its price. */
const connections = 256;
/** With so few a statement stores about thirty. */
const fewConnections = 64;
const conversations = 20;
const subscribers = 10;
const runMs = 2_000;
/** How long after the last answer its frames may still be on their way. */
const settleMs = 3_000;
const warmUpRounds = 3;
const text = 'x'.repeat(200);
const body = JSON.stringify({ text, senderId: 'user-1', clientMessageId: 'c%d' });

/** Ten sockets that hear every conversation, as many as one may, in a process of their own. */
async function startListeners(stage: Stage): Promise<Child> {
  const crowd = startChild('./group-members.ts');
  const members = tokensOf(stage, stage.users).map((name) => ({ name, rooms: stage.rooms }));
  await crowd.ask({ open: { protocol: 'parley', port: stage.port, members } });
  return crowd;
}

/** Sends while they listen; fails when a message did not reach each of them. */
async function deliver(crowd: Child, post: () => Promise<LoadResult>): Promise<LoadResult & Heard> {
  await crowd.ask({ listen: true });
  const sent = await post();
  const expected = sent.answers * subscribers;
  const { heard } = await crowd.ask<Heard>({ heard: { expected, settleMs } });
  if (heard < expected) throw new Error(`${heard} of ${expected} frames were delivered`);
  return { ...sent, heard };
}

/** POST message: ours in each of its forms against the least that does a part of the same job. */
export async function rows(): Promise<Row[]> {
  // One each, as two deployments have: what one does behind its sends is not to fall on those of the other.
  const [database, ofRedis] = [await openTestDatabase({ url: adminUrl }), await openTestDatabase({ url: adminUrl })];
  const dataDir = await newDataDir();
  const generator = startChild('./http-load.ts');
  const peers = startChild('./chat-peers.ts');
  const servers: Stage[] = [];
  let crowd: Child | null = null;
  try {
    const databaseUrl = database.url ?? '';
    const start = async (env: Record<string, string>): Promise<Stage> => {
      const stage = await startStage({ dataDir, env, conversations, users: subscribers });
      servers.push(stage);
      return stage;
    };
    const onPostgres = await start({ DATABASE_URL: databaseUrl });
    const shared = { REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `bench-${process.pid}:` };
    const withRedis = await start({ DATABASE_URL: ofRedis.url ?? '', ...shared });
    const embedded = await start({});
    const ports = await peers.ask<PeerPorts>({ databaseUrl, keys: [onPostgres.key] });
    const listeners = await startListeners(withRedis);
    crowd = listeners;

    const post = async (port: number, { key, rooms }: Stage, from = connections) => {
      const sent = await requestsPerSecond(generator, {
        port,
        method: 'POST',
        paths: rooms.map((room) => `/v1/chat/conversations/${room}/messages`),
        headers: { authorization: `Bearer ${key}` },
        body,
        connections: from,
        ms: runMs,
      });
      for (const { child } of servers) await child.ask({ order: 'index' });
      return sent;
    };
    const delays: number[] = [];
    const saturated = async (): Promise<number> => {
      await embedded.child.ask({ order: 'watch' });
      const { perSecond } = await post(embedded.port, embedded);
      delays.push((await embedded.child.ask<Watched>({ order: 'watched' })).delayP99Ms);
      return perSecond;
    };
    let frames = 0;
    const delivered = async (): Promise<number> => {
      const { perSecond, heard } = await deliver(listeners, () => post(withRedis.port, withRedis));
      frames += heard;
      return perSecond;
    };
    const rate = (port: number, server: Stage, from?: number) => async () => (await post(port, server, from)).perSecond;
    const sides = {
      ours: rate(onPostgres.port, onPostgres),
      insert: rate(ports.insert, onPostgres),
      prepared: rate(ports.prepared, onPostgres),
      noDatabase: rate(ports.noDatabase, onPostgres),
      unchecked: rate(ports.unchecked, onPostgres),
      embedded: saturated,
      delivered,
      authInsert: rate(ports.authInsert, onPostgres),
      oursOfFew: rate(onPostgres.port, onPostgres, fewConnections),
      insertOfFew: rate(ports.insert, onPostgres, fewConnections),
      noDatabaseOfFew: rate(ports.noDatabase, onPostgres, fewConnections),
    };
    // Until the compiler has seen enough of each; before that one measures the compiler.
    await bestOf(sides, warmUpRounds);
    delays.length = 0;
    frames = 0;
    const best = await bestOf(sides);
    return rowsOf(best, { delayMs: Math.min(...delays), frames });
  } finally {
    await crowd?.stop();
    for (const { child } of servers) await child.stop();
    await peers.stop();
    await generator.stop();
    await database.close();
    await ofRedis.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

type Best = Record<
  | 'ours'
  | 'insert'
  | 'prepared'
  | 'noDatabase'
  | 'unchecked'
  | 'embedded'
  | 'delivered'
  | 'authInsert'
  | 'oursOfFew'
  | 'insertOfFew'
  | 'noDatabaseOfFew',
  number
>;

const against = (left: number, right: number, what: string): string =>
  `${thousands(left)} against ${thousands(right)} ${what}`;

const unit = 'messages/s';

function rowsOf(best: Best, { delayMs, frames }: { delayMs: number; frames: number }): Row[] {
  const { ours, insert, prepared, noDatabase, unchecked, embedded, delivered, authInsert } = best;
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
      detail: against(
        delivered,
        authInsert,
        `; all ${frames.toLocaleString('en')} frames were counted where they arrived`,
      ),
      bars: { unit, sides: { 'Parley, delivered': delivered, 'key check + insert': authInsert } },
    },
    {
      question: 'POST message, full stack / the same route without a database',
      floor: { atLeast: 0.5 },
      ratio: ours / noDatabase,
      detail: against(ours, noDatabase, `; ${thousands(unchecked)} where no key is checked either`),
      bars: { unit, sides: { Parley: ours, 'no database': noDatabase, 'nor a key check': unchecked } },
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
    ...rowsOfFew(best),
  ];
}

/** Shown beside: the fewer wait, the less they share. */
function rowsOfFew({ oursOfFew: ours, insertOfFew: insert, noDatabaseOfFew: noDatabase }: Best): Row[] {
  return [
    {
      question: `the same over ${fewConnections} connections / bare Fastify + one pg insert a request`,
      floor: null,
      ratio: ours / insert,
      detail: against(ours, insert, ''),
      bars: { unit, sides: { Parley: ours, 'bare Fastify + insert': insert } },
    },
    {
      question: `the same over ${fewConnections} connections / the same route without a database`,
      floor: null,
      ratio: ours / noDatabase,
      detail: against(ours, noDatabase, ''),
      bars: { unit, sides: { Parley: ours, 'no database': noDatabase } },
    },
  ];
}
