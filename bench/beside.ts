/**
 * `node bench/beside.ts FOLDER [embedded] [connections] [seconds]`: sends at the peak by this checkout and by another one
 * (its packages installed), in turns on one machine. What a version costs is seen only so: rates of two days differ by
 * more than any change of the code.
 */
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { processCpuMs } from '../apps/server/testkit/kit/cpu.ts';
import type { Stage } from './chat-stage.ts';
import { requestsPerSecond, startChild } from './children.ts';
import { countCpu } from './cpu-usage.ts';
import type { LoadResult } from './http-load.ts';
import { median } from './ratio.ts';

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined)
  throw new Error('Which other checkout? node bench/beside.ts FOLDER [embedded] [connections] [seconds]');
const isEmbedded = rest.includes('embedded');
const [connections = 256, seconds = 4] = rest.filter((word) => word !== 'embedded').map(Number);

const rounds = 6;
const warmUpRounds = 2;
/** The share of a core below which a side has nothing left to do, and how long it is looked at: chores run each second. */
const [idleShare, idleMs] = [0.07, 1_700];
const looksMax = 100;
const body = JSON.stringify({ text: 'x'.repeat(200), senderId: 'user-1', clientMessageId: 'c%d' });

interface Side {
  stage: Stage;
  /** Microseconds of the server and its database from now on. */
  countCpu(): Promise<() => Promise<number>>;
  stop(): Promise<void>;
}

interface Turn {
  perSecond: number;
  cpuUs: number;
  /** What it does once the crowd is gone, for each message. */
  afterUs: number;
}

/** By the modules of that checkout: its schema, its settings, its server. */
async function open(root: string): Promise<Side> {
  const from = <T>(path: string): Promise<T> => import(pathToFileURL(resolve(root, path)).href) as Promise<T>;
  const { openTestDatabase } = await from<typeof import('../apps/server/testkit/kit/test-database.ts')>(
    'apps/server/testkit/kit/test-database.ts',
  );
  const { newDataDir } = await from<typeof import('../apps/server/testkit/kit/process.ts')>(
    'apps/server/testkit/kit/process.ts',
  );
  const { adminUrl, startStage } = await from<typeof import('./chat-stage.ts')>('bench/chat-stage.ts');
  const database = isEmbedded ? null : await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const env: Record<string, string> = database?.url ? { DATABASE_URL: database.url } : {};
  const stage = await startStage({ dataDir, env, conversations: 20, users: 10 });
  const pid = stage.child.process.pid ?? 0;
  return {
    stage,
    async countCpu() {
      if (database?.url) {
        const spentMs = await countCpu([pid], database.url);
        return async () => (await spentMs()) * 1_000;
      }
      const before = (await processCpuMs(pid)) ?? 0;
      return async () => (((await processCpuMs(pid)) ?? 0) - before) * 1_000;
    },
    async stop() {
      await stage.child.stop();
      await database?.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const generator = startChild('./http-load.ts');

const post = ({ stage: { port, rooms, key } }: Side): Promise<LoadResult> =>
  requestsPerSecond(generator, {
    port,
    method: 'POST',
    paths: rooms.map((room) => `/v1/chat/conversations/${room}/messages`),
    headers: { authorization: `Bearer ${key}` },
    body,
    connections,
    ms: seconds * 1_000,
  });

/** Until it does nothing any more: what is left to do must not fall on the other side. */
async function settle(side: Side): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    const spentUs = await side.countCpu();
    await sleep(idleMs);
    if ((await spentUs()) < idleShare * idleMs * 1_000) return;
  }
  throw new Error('A side does not come to rest.');
}

async function turnOf(side: Side): Promise<Turn> {
  const spentUs = await side.countCpu();
  const { perSecond, answers } = await post(side);
  const cpuUs = (await spentUs()) / answers;
  await settle(side);
  return { perSecond, cpuUs, afterUs: (await spentUs()) / answers - cpuUs };
}

const textOf = ({ perSecond, cpuUs, afterUs }: Turn): string =>
  `${perSecond.toFixed(0)}/s, ${cpuUs.toFixed(0)} µs a message, ${afterUs.toFixed(0)} µs after the crowd`;

const here = resolve(import.meta.dirname, '..');
const sides: Side[] = [];
try {
  for (const root of [folder, here]) sides.push(await open(root));
  for (let round = 0; round < warmUpRounds; round++) for (const side of sides) await turnOf(side);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const turns: Turn[] = [];
    for (const side of sides) turns.push(await turnOf(side));
    const [theirs, ours] = turns as [Turn, Turn];
    ratios.push(ours.perSecond / theirs.perSecond);
    console.log(`[${round + 1} of ${rounds}] there ${textOf(theirs)}\n         here ${textOf(ours)}`);
  }
  console.log(`\nhere / there: ${median(ratios).toFixed(3)} of its rate (median of ${rounds} turns)`);
} finally {
  await generator.stop();
  for (const side of sides) await side.stop();
}
