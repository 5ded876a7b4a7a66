import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { type Server, startServer, startStage, tokensOf } from './chat-stage.ts';
import { startChild } from './children.ts';
import { cpuOf, cpuText, perUnit, type Spent } from './cpu-usage.ts';
import type { Pace, Paced } from './paced-senders.ts';
import { figure, type Row } from './ratio.ts';

const perSecond = 1_000;
const conversations = 20;
/** Of each conversation, and of no other. */
const members = 10;
/** The first seconds are told apart: that is where nothing is warm. */
const firstMs = 10_000;
const runMs = 60_000;
const settleMs = 10_000;
const open = { CHAT_SEND_RATE_LIMIT: '100000000' };

/** The embedded database as everybody first meets it: a busy minute that begins with the start. */
export async function rows(): Promise<Row[]> {
  const dataDir = await newDataDir();
  const driver = startChild('./paced-senders.ts');
  let server: Server | undefined;
  try {
    const stage = await startStage({ dataDir, env: open, conversations, users: members * conversations });
    const tokens = tokensOf(stage, stage.users);
    const spread = tokens.map((token, at) => ({ token, rooms: [stage.rooms[at % conversations] ?? ''] }));
    await stage.child.stop();
    // Started anew on the same folder: what made the conversations is not to have warmed it.
    server = await startServer({ DATA_DIR: dataDir, ...open });
    const startedAt = performance.now();
    await driver.ask({ open: { port: server.port, members: spread } });
    const afterMs = performance.now() - startedAt;
    await server.child.ask({ order: 'watch' });
    const pace: Pace = { perSecond, ms: runMs, settleMs, firstMs };
    const paced = await driver.ask<Paced>({ run: pace });
    return rowsOf(paced, await server.child.ask<Spent>({ order: 'watched' }), afterMs);
  } finally {
    await driver.stop();
    await server?.child.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function rowsOf(paced: Paced, spent: Spent, afterMs: number): Row[] {
  const { sent, delivered, seconds, p50Ms, p99Ms, first, refused, lastRefusal } = paced;
  const rate = delivered / members / Math.max(seconds, runMs / 1000);
  const asked = perSecond.toLocaleString('en');
  const title = `embedded, ${asked} messages a second in ${conversations} conversations of ${members}, the first minute after a start`;
  const refusals = refused > 0 ? `; ${refused} refused: ${lastRefusal.slice(0, 120)}` : '';
  return [
    {
      question: `${title}: delivered / sent`,
      floor: { atLeast: 0.99 },
      ratio: rate / perSecond,
      detail: `${figure(rate)} messages a second to ${members} each, from ${(afterMs / 1000).toFixed(1)} s after the start on${refusals}`,
      bars: { unit: 'messages/s', sides: { Parley: rate, asked: perSecond } },
    },
    {
      question: `${title}: p99 from sending to the answer, in ms`,
      floor: null,
      ratio: p99Ms,
      detail: `p50 ${p50Ms.toFixed(1)} ms; of its first ${firstMs / 1000} s p50 ${first.p50Ms.toFixed(1)}, p99 ${first.p99Ms.toFixed(1)} ms`,
    },
    {
      question: `${title}: share of a core, in %`,
      floor: null,
      ratio: (spent.cpuSeconds / Math.max(seconds, runMs / 1000)) * 100,
      detail: `${cpuText(perUnit(cpuOf(spent), sent))} a message, database and deliveries included`,
    },
  ];
}
