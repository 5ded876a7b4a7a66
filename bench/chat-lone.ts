import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import type { LoneResult } from './chat-lone-driver.ts';
import type { Watched } from './chat-server.ts';
import { adminUrl, type Stage, startStage, tokensOf } from './chat-stage.ts';
import { type Child, startChild } from './children.ts';
import { countCpu } from './cpu-usage.ts';
import type { Row } from './ratio.ts';

/** As many as were measured beside ejabberd: far from the peak, where nothing waits that a batch could gather. */
const perSecond = 373;
const embeddedPerSecond = 100;
const conversations = 20;
const listeners = 10;
const runMs = 8_000;
const warmUpMs = 4_000;
const open = { CHAT_SEND_RATE_LIMIT: '100000000', CHAT_MAX_ROOM_SUBSCRIPTIONS: '100' };

interface Side {
  cpuMicros: number;
  p50Ms: number;
}

/** What a message costs while little happens: ours with all it does, and the least that stores and writes the same. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const stages: Stage[] = [];
  const children: Child[] = [];
  try {
    const databaseUrl = database.url ?? '';
    const start = async (env: Record<string, string>): Promise<Stage> => {
      const stage = await startStage({ dataDir, env: { ...open, ...env }, conversations, users: listeners });
      stages.push(stage);
      return stage;
    };
    const child = (file: string): Child => {
      const made = startChild(file);
      children.push(made);
      return made;
    };
    const driver = child('./chat-lone-driver.ts');
    const onPostgres = await start({ DATABASE_URL: databaseUrl });
    const bare = child('./chat-lone-bare.ts');
    const { port: barePort } = await bare.ask<{ port: number }>({ databaseUrl });
    const ours = await sideOf(driver, onPostgres, databaseUrl, perSecond);
    const theirs = await bareSide(driver, bare, barePort, databaseUrl);
    const embedded = await start({});
    const oursEmbedded = await sideOf(driver, embedded, null, embeddedPerSecond);
    const pglite = child('./chat-lone-pglite.ts');
    const insert = await pglite.ask<Side>({ perSecond: embeddedPerSecond, warmUpMs, runMs });
    return rowsOf({ ours, theirs, oursEmbedded, insert });
  } finally {
    for (const made of children) await made.stop();
    for (const stage of stages) await stage.child.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function sideOf(driver: Child, stage: Stage, databaseUrl: string | null, rate: number): Promise<Side> {
  const tokens = tokensOf(stage, stage.users);
  const run = { port: stage.port, tokens, rooms: stage.rooms, perSecond: rate };
  await driver.ask({ ...run, ms: warmUpMs });
  const database = databaseUrl === null ? null : await countCpu([], databaseUrl);
  await stage.child.ask({ order: 'watch' });
  const { sent, p50Ms } = await driver.ask<LoneResult>({ ...run, ms: runMs });
  const { cpuSeconds } = await stage.child.ask<Watched>({ order: 'watched' });
  const databaseMs = database ? await database() : 0;
  return { cpuMicros: (cpuSeconds * 1e6 + databaseMs * 1e3) / sent, p50Ms };
}

async function bareSide(driver: Child, bare: Child, port: number, databaseUrl: string): Promise<Side> {
  const run = { port, tokens: null, rooms: Array.from({ length: conversations }, (_, at) => `room-${at}`), perSecond };
  await driver.ask({ ...run, ms: warmUpMs });
  const database = await countCpu([], databaseUrl);
  await bare.ask({ watch: true });
  const { sent, p50Ms } = await driver.ask<LoneResult>({ ...run, ms: runMs });
  const { cpuMicros } = await bare.ask<{ cpuMicros: number }>({ watched: true });
  return { cpuMicros: (cpuMicros + (await database()) * 1e3) / sent, p50Ms };
}

interface Sides {
  ours: Side;
  theirs: Side;
  oursEmbedded: Side;
  insert: Side;
}

const micros = ({ cpuMicros }: Side): string => `${Math.round(cpuMicros)} µs`;

function rowsOf({ ours, theirs, oursEmbedded, insert }: Sides): Row[] {
  const unit = 'µs of CPU a message';
  const p50 = ({ p50Ms }: Side): string => `${p50Ms.toFixed(1)} ms`;
  return [
    {
      question: `CPU of a lone message at ${perSecond} a second, ${listeners} listeners each / bare server, one pg insert and ${listeners} frames`,
      floor: null,
      ratio: ours.cpuMicros / theirs.cpuMicros,
      detail: `${micros(ours)} against ${micros(theirs)}, database included; p50 ${p50(ours)} against ${p50(theirs)}`,
      bars: { unit, sides: { Parley: ours.cpuMicros, 'bare server': theirs.cpuMicros } },
    },
    {
      question: `CPU of an embedded message at ${embeddedPerSecond} a second / bare PGlite insert`,
      floor: null,
      ratio: oursEmbedded.cpuMicros / insert.cpuMicros,
      detail: `${micros(oursEmbedded)} against ${micros(insert)}; p50 ${p50(oursEmbedded)} against ${p50(insert)}`,
      bars: { unit, sides: { Parley: oursEmbedded.cpuMicros, 'bare insert': insert.cpuMicros } },
    },
  ];
}
