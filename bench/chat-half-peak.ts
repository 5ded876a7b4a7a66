import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { adminUrl, startStage, tokensOf } from './chat-stage.ts';
import { startChild } from './children.ts';
import { countDatabaseCpu, cpuOf, cpuText, perUnit, type Spent } from './cpu-usage.ts';
import type { Pace, Paced } from './paced-senders.ts';
import { figure, type Row } from './ratio.ts';

const conversations = 20;
/** Of each conversation, and of no other. */
const members = 10;
const inFlight = 1;
/** Compiled and cached by then: a peak that is found too low would make half of it easy. */
const warmUpMs = 10_000;
const peakMs = 5_000;
const runMs = 15_000;
const share = 0.5;

/** How long a send takes while half of what is possible is asked for. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const databaseUrl = database.url ?? '';
  const dataDir = await newDataDir();
  const env = { DATABASE_URL: databaseUrl, CHAT_SEND_RATE_LIMIT: '100000000' };
  const stage = await startStage({ dataDir, env, conversations, users: members * conversations });
  const driver = startChild('./paced-senders.ts');
  try {
    const tokens = tokensOf(stage, stage.users);
    const spread = tokens.map((token, at) => ({ token, rooms: [stage.rooms[at % conversations] ?? ''] }));
    await driver.ask({ open: { port: stage.port, members: spread } });
    const findPeak = (ms: number) => driver.ask<{ perSecond: number }>({ peak: { inFlight, ms } });
    await findPeak(warmUpMs);
    const { perSecond: peak } = await findPeak(peakMs);
    // What sends have left to do until later is not to fall on those that are measured.
    await stage.child.ask({ order: 'index' });
    const databaseCpu = await countDatabaseCpu(databaseUrl);
    await stage.child.ask({ order: 'watch' });
    const pace: Pace = { perSecond: peak * share, ms: runMs, settleMs: 10_000 };
    const paced = await driver.ask<Paced>({ run: pace });
    const spent = await stage.child.ask<Spent>({ order: 'watched' });
    const { sent, delivered, expected, p50Ms, p99Ms, refused, lastRefusal } = paced;
    if (delivered < expected || refused > 0)
      throw new Error(`${delivered} of ${expected} delivered, ${refused} refused: ${lastRefusal}`);
    const cpu = [perUnit(cpuOf(spent), sent), perUnit(await databaseCpu(), sent)] as const;
    return [
      {
        question: `sends at ${share * 100} % of the peak, ${conversations} conversations of ${members} on PostgreSQL: p99, in ms`,
        floor: { atMost: 40 },
        ratio: p99Ms,
        detail: `p50 ${p50Ms.toFixed(1)} ms; ${figure(peak * share)} of ${figure(peak)} messages a second; a message took the server ${cpuText(cpu[0])}, the database ${cpuText(cpu[1])}`,
        bars: { unit: 'ms', sides: { Parley: p99Ms } },
      },
    ];
  } finally {
    await driver.stop();
    await stage.child.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
