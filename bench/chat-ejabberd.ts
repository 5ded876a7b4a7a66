import { rm } from 'node:fs/promises';
import pg from 'pg';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { fill } from './chat-history.ts';
import { adminUrl, startStage, tokensOf } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import { countCpu } from './cpu-usage.ts';
import { ejabberdVersion, startEjabberd } from './ejabberd.ts';
import type { Turnover } from './group-members.ts';
import type { Answer } from './ratio.ts';

const rooms = 20;
/** Of each room, and of no other. */
const members = 10;
const inFlight = 1;
const runMs = 5_000;
const rounds = 3;
const text = 'x'.repeat(200);
const archived = 100_000;
const pageSize = 50;

/** One of the two: group chat with stored history on PostgreSQL, each with its own members and rooms. */
interface Side {
  crowd: Child;
  pid: number;
  databaseUrl: string;
  /** Milliseconds for the newest messages of a room that has many. */
  pageMs(): Promise<number>;
  stop(): Promise<void>;
}

/** Each room gets its own members. */
const spread = (names: readonly string[], places: readonly string[]) =>
  names.map((name, at) => ({ name, rooms: [places[at % places.length] ?? ''] }));

async function startParley(): Promise<Side> {
  const database = await openTestDatabase({ url: adminUrl });
  const databaseUrl = database.url ?? '';
  const dataDir = await newDataDir();
  const env = { DATABASE_URL: databaseUrl, CHAT_SEND_RATE_LIMIT: '100000000', CHAT_MAX_ROOM_SUBSCRIPTIONS: '100' };
  const stage = await startStage({ dataDir, env, conversations: rooms + 1, users: members * rooms });
  const [archive = '', ...busy] = stage.rooms;
  const crowd = startChild('./group-members.ts');
  const generator = startChild('./http-load.ts');
  const tokens = tokensOf(stage, stage.users);
  await crowd.ask({ open: { protocol: 'parley', port: stage.port, members: spread(tokens, busy) } });
  await fill(database, archive, archived);
  return {
    crowd,
    pid: stage.child.process.pid ?? 0,
    databaseUrl,
    pageMs: async () => {
      const { p50Ms } = await requestsPerSecond(generator, {
        port: stage.port,
        method: 'GET',
        paths: [`/v1/chat/conversations/${archive}/messages?limit=${pageSize}`],
        headers: { authorization: `Bearer ${stage.key}` },
        connections: 1,
        ms: runMs / 2,
      });
      return p50Ms;
    },
    async stop() {
      for (const child of [crowd, generator, stage.child]) await child.stop();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function startPeer(): Promise<Side> {
  const server = await startEjabberd(adminUrl);
  const names = Array.from({ length: rooms + 1 }, (_, at) => `room-${at}`);
  const [archive = '', ...busy] = server.rooms(names);
  const crowd = startChild('./group-members.ts');
  const reader = startChild('./group-members.ts');
  const users = Array.from({ length: members * rooms }, (_, at) => `user-${at}`);
  const peer = { protocol: 'xmpp', port: server.port };
  await crowd.ask({ open: { ...peer, members: spread(users, busy) } });
  await reader.ask({ open: { ...peer, members: [{ name: 'reader', rooms: [archive] }] } });
  await reader.ask({ run: { ms: 0, inFlight: 1, text } });
  await multiply(server.databaseUrl, archive);
  return {
    crowd,
    pid: server.pid,
    databaseUrl: server.databaseUrl,
    pageMs: async () => {
      const page = { room: archive, count: pageSize, ms: runMs / 2 };
      return (await reader.ask<{ p50Ms: number }>({ page })).p50Ms;
    },
    async stop() {
      for (const child of [crowd, reader]) await child.stop();
      await server.stop();
    },
  };
}

/** Copies the messages that a room's archive has, as the peer itself wrote them, a microsecond apart. */
async function multiply(databaseUrl: string, room: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `insert into archive (username, timestamp, peer, bare_peer, xml, txt, kind, nick, created_at)
     select username, timestamp - n, peer, bare_peer, xml, txt, kind, nick, created_at
     from (select * from archive where username = $1 order by id limit 1) one, generate_series(1, $2::int) n`,
    [room, archived - 1],
  );
  await client.query('analyze archive');
  const { rows } = await client.query('select count(*)::int as count from archive where username = $1', [room]);
  await client.end();
  if (rows[0]?.count !== archived) throw new Error(`the archive has ${rows[0]?.count} messages`);
}

interface Outcome {
  perSecond: number;
  cpuUsPerDelivery: number;
  pageMs: number;
}

async function measure({ crowd, pid, databaseUrl, pageMs }: Side): Promise<Outcome> {
  const spentMs = await countCpu([pid], databaseUrl);
  const { storedPerSecond, delivered } = await crowd.ask<Turnover>({ run: { ms: runMs, inFlight, text } });
  const cpuUsPerDelivery = ((await spentMs()) * 1000) / delivered;
  return { perSecond: storedPerSecond, cpuUsPerDelivery, pageMs: await pageMs() };
}

/** The best of each figure, whichever round it is from. */
const bestOf = (outcomes: readonly Outcome[]): Outcome => ({
  perSecond: Math.max(...outcomes.map(({ perSecond }) => perSecond)),
  cpuUsPerDelivery: Math.min(...outcomes.map(({ cpuUsPerDelivery }) => cpuUsPerDelivery)),
  pageMs: Math.min(...outcomes.map(({ pageMs }) => pageMs)),
});

/** Stored group chat beside ejabberd, both on this machine's PostgreSQL with the same settings, in turns. */
export async function rows(): Promise<Answer[]> {
  const version = ejabberdVersion();
  const sides: Side[] = [];
  try {
    sides.push(await startParley());
    if (version !== null) sides.push(await startPeer());
    const outcomes: Outcome[][] = sides.map(() => []);
    for (const side of sides) await measure(side); // to warm up
    for (let round = 0; round < rounds; round++) {
      for (const [at, side] of sides.entries()) outcomes[at]?.push(await measure(side));
    }
    const [ours, peer] = outcomes.map(bestOf);
    if (!ours) throw new Error('nothing was measured');
    return rowsOf(ours, peer ?? null, version);
  } finally {
    for (const side of sides) await side.stop();
  }
}

const rateQuestion = `stored group messages a second, ${members} listening to each / ejabberd`;
const rateFloor = { atLeast: 3 };
const cpuQuestion = 'CPU of a delivery, database included / ejabberd';
const cpuFloor = { atMost: 0.33 };

function rowsOf(ours: Outcome, peer: Outcome | null, version: string | null): Answer[] {
  const beside = (text: (outcome: Outcome) => string): string =>
    `${text(ours)}${peer ? ` against ${text(peer)} of ejabberd ${version}` : ''}`;
  const page: Answer = {
    question: `newest ${pageSize} of ${archived.toLocaleString('en')} messages, in ms`,
    floor: { atMost: 4 },
    ratio: ours.pageMs,
    detail: beside(({ pageMs }) => `${pageMs.toFixed(1)} ms`),
    bars: { unit: 'ms', sides: { Parley: ours.pageMs } },
    figures: { storedPerSecond: ours.perSecond, deliveryCpuUs: ours.cpuUsPerDelivery, pageMs: ours.pageMs },
  };
  const notRun = 'ejabberd is not installed (Debian: ejabberd, erlang-p1-pgsql)';
  if (!peer) {
    return [
      { question: rateQuestion, floor: rateFloor, notRun },
      { question: cpuQuestion, floor: cpuFloor, notRun },
      page,
    ];
  }
  return [
    {
      question: rateQuestion,
      floor: rateFloor,
      ratio: ours.perSecond / peer.perSecond,
      detail: beside(({ perSecond }) => `${Math.round(perSecond)}/s`),
      bars: { unit: 'messages/s', sides: { Parley: ours.perSecond, ejabberd: peer.perSecond } },
      figures: { peerStoredPerSecond: peer.perSecond, peerPageMs: peer.pageMs },
    },
    {
      question: cpuQuestion,
      floor: cpuFloor,
      ratio: ours.cpuUsPerDelivery / peer.cpuUsPerDelivery,
      detail: beside(({ cpuUsPerDelivery }) => `${cpuUsPerDelivery.toFixed(0)} µs`),
      bars: { unit: 'µs', sides: { Parley: ours.cpuUsPerDelivery, ejabberd: peer.cpuUsPerDelivery } },
      figures: { peerDeliveryCpuUs: peer.cpuUsPerDelivery },
    },
    page,
  ];
}
