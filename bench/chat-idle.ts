import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { hasRedisServer, startOwnRedis } from '../apps/server/testkit/kit/redis.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import type { Watched } from './chat-server.ts';
import { adminUrl, startStage, tokensOf } from './chat-stage.ts';
import { startChild } from './children.ts';
import { countCpu } from './cpu-usage.ts';
import type { Row } from './ratio.ts';

const sockets = 10_000;
const usersPerConversation = 10;
/** Long enough for two heartbeats of everybody and two refreshes of their presence. */
const idleMs = 32_000;

/** Chat sockets that say nothing but their heartbeats, each subscribed to a conversation with presence. */
export async function rows(): Promise<Row[]> {
  if (!hasRedisServer) throw new Error('needs redis-server, for one of its own');
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
    const { residentBytes: before } = await stage.child.ask<Watched>({ order: 'watched' });
    await crowd.ask({ gather: { port: stage.port, members, presence: true } });
    await sleep(5_000); // what connecting left behind is done and collected
    await stage.child.ask({ order: 'watch' });
    const [databaseMs, redisMs] = [await countCpu([], databaseUrl), await redisCpuMs(redis.url)];
    await sleep(idleMs);
    const watched = await stage.child.ask<Watched>({ order: 'watched' });
    const ofCore = (ms: number): number => (ms / idleMs) * 100;
    return rowsOf(before, watched, {
      server: ofCore(watched.cpuSeconds * 1000),
      database: ofCore(await databaseMs()),
      redis: ofCore((await redisCpuMs(redis.url)) - redisMs),
    });
  } finally {
    await crowd.stop();
    await stage.child.stop();
    await redis.kill();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function redisCpuMs(url: string): Promise<number> {
  const client = createClient({ url });
  await client.connect();
  const text = await client.info('cpu');
  client.destroy();
  const seconds = [...text.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].map(([, value]) => Number(value));
  return seconds.reduce((sum, value) => sum + value, 0) * 1000;
}

type Shares = Record<'server' | 'database' | 'redis', number>;

function rowsOf(before: number, { residentBytes, delayP99Ms }: Watched, { server, database, redis }: Shares): Row[] {
  const count = sockets.toLocaleString('en');
  const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;
  return [
    {
      question: `${count} idle chat sockets: memory of one, in KiB`,
      floor: null,
      ratio: (residentBytes - before) / sockets / 1024,
      figures: { sockets, memoryKiB: (residentBytes - before) / sockets / 1024 },
      detail: `resident ${mib(before)} before, ${mib(residentBytes)} with them; the kernel's part is its own`,
    },
    {
      question: `${count} idle chat sockets: share of a core, in %`,
      floor: null,
      ratio: server,
      figures: { serverPercent: server, databasePercent: database, redisPercent: redis },
      detail: `database ${database.toFixed(1)} %, Redis ${redis.toFixed(1)} %; heartbeats and presence every 15 s; loop delay p99 ${delayP99Ms.toFixed(1)} ms`,
    },
  ];
}
