import { startOwnRedis } from '../apps/server/testkit/kit/redis.ts';
import { type Stage, tokensOf } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import { countCpu, type Spent, totalOf } from './cpu-usage.ts';
import { figure, middleBy, type Row } from './ratio.ts';
import { countRedisCpu } from './redis-usage.ts';
import type { HeardThere, Listener } from './spread-listeners.ts';

/** Three of our processes. */
interface Ours {
  stage: Stage;
  ports: readonly number[];
  pids: readonly number[];
  databaseUrl: string;
  redisUrl: string;
}

/** Three processes of either side, and how a message gets to ten listeners there. */
interface Side {
  ports: readonly number[];
  redisUrl: string;
  paths: string[];
  headers: Record<string, string>;
  listeners: Child;
  /** Once in everything that brings a message. */
  mark: string;
  /** Microseconds of the servers, and of the database where there is one, from now on. */
  countCpu(): Promise<() => Promise<number>>;
}

/** Of a delivery, in one run. */
interface Took {
  us: number;
  redisUs: number;
  perSecond: number;
  frameBytes: number;
}

const rooms = 20;
const listenersCount = 10;
const connections = 192;
const runMs = 3_000;
const settleMs = 5_000;
const rounds = 3;
/** Of each generator other ones: they count alike, and a message of a known id would be taken for a retry. */
const bodyOf = (generator: number): string =>
  JSON.stringify({ text: 'x'.repeat(200), senderId: 'user-1', clientMessageId: `c${generator}-%d` });

/** The same messages to the same listeners, over three processes of each side in turns. */
export async function besideSocketIo(ours: Ours): Promise<Row> {
  const children: Child[] = [];
  const child = (file: string): Child => {
    const made = startChild(file);
    children.push(made);
    return made;
  };
  const redis = await startOwnRedis();
  try {
    const generators = ours.ports.map(() => child('./http-load.ts'));
    const own = ourSide(ours, await listen(child, ours.ports, listenersOf(ours.stage)));
    const servers = ours.ports.map(() => child('./adapter-server.ts'));
    const peer = await peerSide(servers, redis.url, child);
    const { frameBytes } = await run(own, generators);
    for (const server of servers) await server.ask({ frameBytes });
    await run(peer, generators); // to warm up
    const pairs: { ours: Took; theirs: Took }[] = [];
    for (let round = 0; round < rounds; round++)
      pairs.push({ ours: await run(own, generators), theirs: await run(peer, generators) });
    return rowOf(pairs);
  } finally {
    for (const one of children) await one.stop();
    await redis.kill();
  }
}

async function listen(
  child: (file: string) => Child,
  ports: readonly number[],
  listeners: readonly Listener[],
): Promise<Child> {
  const crowd = child('./spread-listeners.ts');
  await crowd.ask({ open: { ports, listeners } });
  return crowd;
}

const roomsOf = ({ rooms: all }: Stage): string[] => all.slice(0, rooms);

function listenersOf(stage: Stage): Listener[] {
  const conversations = roomsOf(stage).map((ref) => ({ ref, presence: false }));
  const greeting = JSON.stringify({ type: 'subscribe', id: 's', conversations });
  return tokensOf(stage, stage.users.slice(0, listenersCount)).map((token) => ({
    path: `/v1/chat/ws?token=${token}`,
    hello: '"hello"',
    greeting,
    ready: '"ref":"s"',
    ping: '{"type":"ping"}',
  }));
}

const ourSide = ({ stage, ports, pids, databaseUrl, redisUrl }: Ours, listeners: Child): Side => ({
  ports,
  redisUrl,
  paths: roomsOf(stage).map((room) => `/v1/chat/conversations/${room}/messages`),
  headers: { authorization: `Bearer ${stage.key}` },
  listeners,
  mark: '{"type":"message",',
  async countCpu() {
    const spentMs = await countCpu(pids, databaseUrl);
    return async () => (await spentMs()) * 1000;
  },
});

async function peerSide(servers: readonly Child[], redisUrl: string, child: (file: string) => Child): Promise<Side> {
  const started = servers.map((server) => server.ask<{ port: number }>({ start: { redisUrl, rooms } }));
  const ports = (await Promise.all(started)).map(({ port }) => port);
  const path = '/socket.io/?EIO=4&transport=websocket';
  const one: Listener = { path, hello: '0{"sid"', greeting: '40', ready: '40{"sid"', ping: null };
  const spent = async (order: 'watch' | 'watched'): Promise<number> => {
    const all = await Promise.all(servers.map((server) => server.ask<Spent>({ order })));
    return all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds * 1e6, 0);
  };
  return {
    ports,
    redisUrl,
    paths: Array.from({ length: rooms }, (_, at) => `/room-${at}`),
    headers: {},
    listeners: await listen(child, ports, Array(listenersCount).fill(one)),
    mark: '42["message",',
    async countCpu() {
      await spent('watch');
      return () => spent('watched');
    },
  };
}

/** As many connections to each process; over when everybody has everything. */
async function run(side: Side, generators: readonly Child[]): Promise<Took> {
  const { ports, redisUrl, paths, headers, listeners, mark } = side;
  await listeners.ask({ listen: { mark } });
  const [spentUs, redisCpu] = [await side.countCpu(), await countRedisCpu(redisUrl)];
  const load = { method: 'POST' as const, paths, headers, connections: connections / ports.length, ms: runMs };
  const results = await Promise.all(
    generators.map((generator, at) =>
      requestsPerSecond(generator, { ...load, port: ports[at] ?? 0, body: bodyOf(at) }),
    ),
  );
  const expected = results.reduce((sum, { answers }) => sum + answers, 0) * listenersCount;
  const { heard, bytes } = await listeners.ask<HeardThere>({ heard: { expected, settleMs } });
  if (heard !== expected) throw new Error(`${heard} deliveries of ${expected}`);
  const [redisUs, us] = [totalOf(await redisCpu()), await spentUs()];
  return {
    us: (us + redisUs) / heard,
    redisUs: redisUs / heard,
    perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
    frameBytes: Math.round(bytes / heard),
  };
}

function rowOf(pairs: readonly { ours: Took; theirs: Took }[]): Row {
  const ratioOf = ({ ours, theirs }: (typeof pairs)[number]): number => ours.us / theirs.us;
  const { ours, theirs } = middleBy(pairs, ratioOf);
  const text = ({ us, redisUs, perSecond }: Took): string =>
    `${us.toFixed(1)} µs (Redis ${redisUs.toFixed(1)}) at ${Math.round(perSecond)} messages/s`;
  return {
    question: `CPU of a delivery over three processes, ${listenersCount} deliveries each / socket.io with its sharded Redis adapter`,
    floor: null,
    ratio: ratioOf({ ours, theirs }),
    detail: `ours ${text(ours)}, each stored first, database included; socket.io ${text(theirs)}, nothing stored and nobody asked who may; both take messages over HTTP, frames of ${ours.frameBytes} and ${theirs.frameBytes} bytes; the median of ${pairs.map((pair) => figure(ratioOf(pair))).join(', ')}`,
    bars: { unit: 'µs', sides: { Parley: ours.us, 'socket.io': theirs.us } },
  };
}
