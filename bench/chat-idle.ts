import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { hasRedisServer, startOwnRedis } from '../apps/server/testkit/kit/redis.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import type { Watched } from './chat-server.ts';
import { adminUrl, startStage, tokensOf } from './chat-stage.ts';
import { type Child, startChild } from './children.ts';
import { type Cpu, countDatabaseCpu, cpuOf, type Spent, totalOf } from './cpu-usage.ts';
import { figure, median, middleBy, type Row } from './ratio.ts';
import { countRedisCpu } from './redis-usage.ts';

const sockets = 10_000;
const usersPerConversation = 10;
/** Two heartbeats of everybody, two refreshes of their presence, and every chore once. */
const idleMs = 30_000;
const windows = 3;
/** One heartbeat of everybody: a bare server does nothing else. */
const bareMs = 15_000;
/** What making and connecting left behind is done and collected. */
const settleMs = 5_000;

/** Shares of a core, in %. */
interface Shares {
  server: Cpu;
  database: number;
  redis: number;
  delayP99Ms: number;
  residentBytes: number;
}

interface Crowd {
  before: number;
  residentBytes: number;
}

interface Ours extends Crowd {
  windows: Shares[];
}

interface Bare extends Crowd {
  server: Cpu;
}

type Members = { token: string; rooms: string[] }[];

/** Chat sockets that say nothing but their heartbeats, each subscribed to a conversation with presence. */
export async function rows(): Promise<Row[]> {
  if (!hasRedisServer) throw new Error('needs redis-server, for one of its own');
  return rowsOf(await ours(), await bare());
}

async function ours(): Promise<Ours> {
  const database = await openTestDatabase({ url: adminUrl });
  const databaseUrl = database.url ?? '';
  const redis = await startOwnRedis();
  const dataDir = await newDataDir();
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url };
  const conversations = sockets / usersPerConversation;
  const stage = await startStage({ dataDir, env, conversations, users: usersPerConversation });
  const crowd = startChild('./chat-crowd.ts');
  try {
    const tokens = tokensOf(stage, stage.users);
    const members = stage.rooms.flatMap((room) => tokens.map((token) => ({ token, rooms: [room] })));
    await sleep(settleMs);
    const { residentBytes: before } = await stage.child.ask<Watched>({ order: 'watched' });
    await gather(crowd, stage.port, members, true);
    const shares: Shares[] = [];
    for (let at = 0; at < windows; at++) {
      await stage.child.ask({ order: 'watch' });
      const [databaseCpu, redisCpu] = [await countDatabaseCpu(databaseUrl), await countRedisCpu(redis.url)];
      await sleep(idleMs);
      const watched = await stage.child.ask<Watched>({ order: 'watched' });
      shares.push({
        server: shareOf(cpuOf(watched), idleMs),
        database: totalOf(shareOf(await databaseCpu(), idleMs)),
        redis: totalOf(shareOf(await redisCpu(), idleMs)),
        delayP99Ms: watched.delayP99Ms,
        residentBytes: watched.residentBytes,
      });
    }
    await assertConnected(crowd);
    // The most of them: a heap that shrinks later does not make a socket smaller.
    return { before, residentBytes: Math.max(...shares.map((share) => share.residentBytes)), windows: shares };
  } finally {
    await crowd.stop();
    await stage.child.stop();
    await redis.kill();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function bare(): Promise<Bare> {
  const [server, crowd] = [startChild('./chat-idle-bare.ts'), startChild('./chat-crowd.ts')];
  try {
    const { port } = await server.ask<{ port: number }>({ order: 'start' });
    const { residentBytes: before } = await server.ask<Bare>({ order: 'watched' });
    const members = Array.from({ length: sockets }, () => ({ token: 'anybody', rooms: [] }));
    await gather(crowd, port, members, false);
    await server.ask({ order: 'watch' });
    await sleep(bareMs);
    const watched = await server.ask<Spent & { residentBytes: number }>({ order: 'watched' });
    await assertConnected(crowd);
    return { before, residentBytes: watched.residentBytes, server: shareOf(cpuOf(watched), bareMs) };
  } finally {
    await crowd.stop();
    await server.stop();
  }
}

async function gather(crowd: Child, port: number, members: Members, presence: boolean): Promise<void> {
  await crowd.ask({ gather: { port, members, presence } });
  await sleep(settleMs);
}

/** Who was thrown out costs nothing. */
async function assertConnected(crowd: Child): Promise<void> {
  const { connected } = await crowd.ask<{ connected: number }>({ count: true });
  if (connected < sockets) throw new Error(`${connected} of ${sockets} are still connected`);
}

const shareOf = ({ user, system }: Cpu, ms: number): Cpu => ({ user: user / ms / 10, system: system / ms / 10 });

const shareText = ({ user, system }: Cpu): string =>
  `${figure(user + system)} % (user ${figure(user)}, system ${figure(system)})`;

function rowsOf(own: Ours, peer: Bare): Row[] {
  const count = sockets.toLocaleString('en');
  const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;
  const kibOf = ({ before, residentBytes }: Crowd): number => (residentBytes - before) / sockets / 1024;
  const resident = (crowd: Crowd): string =>
    `resident ${mib(crowd.before)} before, ${mib(crowd.residentBytes)} with them`;
  const shares = own.windows.map(({ server }) => totalOf(server));
  const middle = middleBy(own.windows, ({ server }) => totalOf(server));
  const redis = own.windows.map((window) => window.redis);
  const database = median(own.windows.map((window) => window.database));
  const ofWindows = (values: readonly number[]): string =>
    `the median of ${values.map(figure).join(', ')} in ${windows} windows of ${idleMs / 1000} s`;
  const [share, redisShare, peerShare] = [totalOf(middle.server), median(redis), totalOf(peer.server)];
  return [
    {
      question: `${count} idle chat sockets: memory of one, in KiB`,
      floor: { atMost: 18 },
      ratio: kibOf(own),
      figures: { sockets, memoryKiB: kibOf(own) },
      detail: `${resident(own)}; the kernel's part is its own`,
    },
    {
      question: `${count} idle chat sockets: share of a core, in %`,
      floor: { atMost: 3 },
      ratio: share,
      figures: { serverPercent: share, databasePercent: database, redisPercent: redisShare },
      detail: `${shareText(middle.server)}, ${ofWindows(shares)}; database ${figure(database)} %; heartbeats and presence every 15 s; loop delay p99 ${middle.delayP99Ms.toFixed(1)} ms`,
    },
    {
      question: `${count} idle chat sockets: share of Redis' core, in %`,
      floor: { atMost: 0.5 },
      ratio: redisShare,
      detail: ofWindows(redis),
    },
    {
      question: `${count} idle sockets: memory of one of ours / of a bare ws server`,
      floor: null,
      ratio: kibOf(own) / kibOf(peer),
      detail: `${figure(kibOf(own))} KiB against ${figure(kibOf(peer))} KiB; the bare one ${resident(peer)}`,
      bars: { unit: 'KiB', sides: { Parley: kibOf(own), 'bare ws': kibOf(peer) } },
    },
    {
      question: `${count} idle sockets: CPU of ours / of a bare ws server that answers the same heartbeats`,
      floor: null,
      ratio: share / peerShare,
      detail: `${shareText(middle.server)} against ${shareText(peer.server)}, which has no presence and no database`,
      bars: { unit: '% of a core', sides: { Parley: share, 'bare ws': peerShare } },
    },
  ];
}
