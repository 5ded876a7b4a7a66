import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { newDataDir } from '../apps/server/testkit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/test-database.ts';
import type { Watched } from './chat-server.ts';
import { adminUrl, redisUrl, startStage, tokensOf } from './chat-stage.ts';
import { startChild } from './children.ts';
import type { Row } from './ratio.ts';

const sockets = 10_000;
const usersPerConversation = 10;
/** Long enough for two heartbeats of everybody and two refreshes of their presence. */
const idleMs = 32_000;

/** Chat sockets that say nothing but their heartbeats, each subscribed to a conversation with presence. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const shared = { REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `bench-${process.pid}:` };
  const env = { DATABASE_URL: database.url ?? '', ...shared };
  const conversations = sockets / usersPerConversation;
  const stage = await startStage({ dataDir, env, conversations, users: usersPerConversation });
  const crowd = startChild('./chat-crowd.ts');
  const look = async (): Promise<Watched> => stage.child.ask<Watched>({ order: 'watched' });
  try {
    const tokens = tokensOf(stage, stage.users);
    const members = stage.rooms.flatMap((room) => tokens.map((token) => ({ token, rooms: [room] })));
    const before = await look();
    await crowd.ask({ gather: { port: stage.port, members, presence: true } });
    await sleep(5_000); // what connecting left behind is done and collected
    await stage.child.ask({ order: 'watch' });
    await sleep(idleMs);
    const { residentBytes, cpuSeconds, delayP99Ms } = await look();
    const each = (residentBytes - before.residentBytes) / sockets;
    const count = sockets.toLocaleString('en');
    return [
      {
        question: `${count} idle chat sockets: memory of one, in KiB`,
        floor: { atMost: 32 },
        ratio: each / 1024,
        detail: `resident ${mib(before.residentBytes)} before, ${mib(residentBytes)} with them; the kernel's buffers are its own`,
      },
      {
        question: `${count} idle chat sockets: share of one core, in %`,
        floor: { atMost: 20 },
        ratio: (cpuSeconds / (idleMs / 1000)) * 100,
        detail: `heartbeats and presence every 15 s; loop delay p99 ${delayP99Ms.toFixed(1)} ms`,
      },
    ];
  } finally {
    await crowd.stop();
    await stage.child.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;
