import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { createEmptyDatabase, openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import type { Inserted } from './chat-lone-pglite.ts';
import { adminUrl, type Stage, startStage, tokensOf } from './chat-stage.ts';
import { type Child, startChild } from './children.ts';
import { type Cpu, countDatabaseCpu, cpuOf, cpuText, perUnit, type Spent, totalOf } from './cpu-usage.ts';
import type { Pace, Paced } from './paced-senders.ts';
import { figure, median, middleBy, type Row } from './ratio.ts';

/** As many as were measured beside ejabberd: far from the peak, where nothing waits that a batch could gather. */
const perSecond = 373;
const embeddedPerSecond = 100;
const conversations = 20;
const listeners = 10;
const runMs = 4_000;
const rounds = 5;
const open = { CHAT_SEND_RATE_LIMIT: '100000000', CHAT_MAX_ROOM_SUBSCRIPTIONS: '100' };

/** What a message took in one round. */
interface Took {
  server: Cpu;
  database: Cpu;
  p50Ms: number;
}

type Side = () => Promise<Took>;

/** Two rounds, one right after the other. */
interface Pair {
  ours: Took;
  theirs: Took;
}

const none: Cpu = { user: 0, system: 0 };
const micros = ({ server, database }: Took): number => totalOf(server) + totalOf(database);
const cpuRatio = ({ ours, theirs }: Pair): number => micros(ours) / micros(theirs);

/** What a message costs while little happens: ours with all it does, and the least that stores and writes the same. */
export async function rows(): Promise<Row[]> {
  return [...(await onPostgres()), ...(await embedded())];
}

async function onPostgres(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  // One of its own: sessions of ours that look for chores are not to count as its.
  const bareDatabase = await createEmptyDatabase(adminUrl);
  const dataDir = await newDataDir();
  const children: Child[] = [];
  try {
    const databaseUrl = database.url ?? '';
    const stage = await startStage({
      dataDir,
      env: { ...open, DATABASE_URL: databaseUrl },
      conversations,
      users: listeners,
    });
    children.push(stage.child);
    const bare = startChild('./chat-lone-bare.ts');
    children.push(bare);
    const { port } = await bare.ask<{ port: number }>({ databaseUrl: bareDatabase.url });
    const ours = await senders(children, stage.port, membersOf(stage));
    const theirs = await senders(
      children,
      port,
      membersOf(stage).map(({ rooms }) => ({ token: null, rooms })),
    );
    const pairs = await inTurns({
      ours: () => take(stage.child, ours, databaseUrl, perSecond),
      theirs: () => take(bare, theirs, bareDatabase.url, perSecond),
    });
    return rowsBesideBare(pairs);
  } finally {
    for (const made of children) await made.stop();
    await database.close();
    await bareDatabase.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function embedded(): Promise<Row[]> {
  const [dataDir, bareDir] = [await newDataDir(), await newDataDir()];
  const children: Child[] = [];
  try {
    const stage = await startStage({ dataDir, env: open, conversations, users: listeners });
    children.push(stage.child);
    const bare = startChild('./chat-lone-pglite.ts');
    children.push(bare);
    await bare.ask({ folder: bareDir });
    const ours = await senders(children, stage.port, membersOf(stage));
    const pairs = await inTurns({
      ours: () => take(stage.child, ours, null, embeddedPerSecond),
      theirs: async () => {
        const inserted = await bare.ask<Inserted>({ run: { perSecond: embeddedPerSecond, ms: runMs } });
        return { server: perUnit(cpuOf(inserted), inserted.sent), database: none, p50Ms: inserted.p50Ms };
      },
    });
    return rowsBesideInsert(pairs);
  } finally {
    for (const made of children) await made.stop();
    for (const folder of [dataDir, bareDir]) await rm(folder, { recursive: true, force: true });
  }
}

const membersOf = (stage: Stage) => tokensOf(stage, stage.users).map((token) => ({ token, rooms: stage.rooms }));

async function senders(children: Child[], port: number, members: object[]): Promise<Child> {
  const child = startChild('./paced-senders.ts');
  children.push(child);
  await child.ask({ open: { port, members } });
  return child;
}

async function take(server: Child, driver: Child, databaseUrl: string | null, rate: number): Promise<Took> {
  const databaseCpu = databaseUrl === null ? null : await countDatabaseCpu(databaseUrl);
  await server.ask({ order: 'watch' });
  const pace: Pace = { perSecond: rate, ms: runMs, settleMs: 10_000 };
  const { sent, delivered, expected, p50Ms, refused, lastRefusal } = await driver.ask<Paced>({ run: pace });
  const spent = await server.ask<Spent>({ order: 'watched' });
  const ofDatabase = databaseCpu === null ? none : await databaseCpu();
  if (delivered < expected || refused > 0)
    throw new Error(`${delivered} of ${expected} delivered, ${refused} refused: ${lastRefusal}`);
  return { server: perUnit(cpuOf(spent), sent), database: perUnit(ofDatabase, sent), p50Ms };
}

/** Who begins changes too: what the one leaves behind falls on the other as often. */
async function inTurns({ ours, theirs }: Record<'ours' | 'theirs', Side>): Promise<Pair[]> {
  for (const side of [ours, theirs]) await side(); // to warm up
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      const first = await ours();
      pairs.push({ ours: first, theirs: await theirs() });
    } else {
      const first = await theirs();
      pairs.push({ ours: await ours(), theirs: first });
    }
  }
  return pairs;
}

const unit = 'µs of CPU a message';
const ratiosText = (pairs: readonly Pair[], of: (pair: Pair) => number): string =>
  pairs.map((pair) => figure(of(pair))).join(', ');
const tookText = ({ server, database }: Took): string =>
  `${Math.round(totalOf(server) + totalOf(database))} µs: server ${cpuText(server)}, database ${cpuText(database)}`;

function rowsBesideBare(pairs: readonly Pair[]): Row[] {
  const { ours, theirs } = middleBy(pairs, cpuRatio);
  const p50Ratio = (pair: Pair): number => pair.ours.p50Ms / pair.theirs.p50Ms;
  const [oursP50, theirsP50] = [median(pairs.map((pair) => pair.ours.p50Ms)), median(pairs.map((p) => p.theirs.p50Ms))];
  return [
    {
      question: `CPU of a lone message at ${perSecond} a second, ${listeners} listeners each / bare server, one pg insert and ${listeners} frames`,
      floor: { atMost: 1.3 },
      ratio: cpuRatio({ ours, theirs }),
      detail: `${tookText(ours)}; bare ${tookText(theirs)}; the median of ${ratiosText(pairs, cpuRatio)}`,
      bars: { unit, sides: { Parley: micros(ours), 'bare server': micros(theirs) } },
    },
    {
      question: `p50 of a lone message, from sending to its answer / bare server`,
      floor: { atMost: 1 },
      ratio: median(pairs.map(p50Ratio)),
      detail: `${oursP50.toFixed(2)} ms against ${theirsP50.toFixed(2)} ms; the median of ${ratiosText(pairs, p50Ratio)}`,
      bars: { unit: 'ms', sides: { Parley: oursP50, 'bare server': theirsP50 } },
    },
  ];
}

function rowsBesideInsert(pairs: readonly Pair[]): Row[] {
  const { ours, theirs } = middleBy(pairs, cpuRatio);
  const p50s = pairs.map((pair) => pair.ours.p50Ms);
  const theirP50 = median(pairs.map((pair) => pair.theirs.p50Ms));
  return [
    {
      question: `CPU of an embedded message at ${embeddedPerSecond} a second, ${listeners} listeners each / bare PGlite insert`,
      floor: { atMost: 2.5 },
      ratio: cpuRatio({ ours, theirs }),
      detail: `${cpuText(ours.server)} against ${cpuText(theirs.server)}; the median of ${ratiosText(pairs, cpuRatio)}`,
      bars: { unit, sides: { Parley: micros(ours), 'bare insert': micros(theirs) } },
    },
    {
      question: `p50 of an embedded message at ${embeddedPerSecond} a second, in ms`,
      floor: { atMost: 2.5 },
      ratio: median(p50s),
      detail: `the median of ${p50s.map((ms) => ms.toFixed(2)).join(', ')} ms; a bare insert ${theirP50.toFixed(2)} ms`,
      bars: { unit: 'ms', sides: { Parley: median(p50s) } },
    },
  ];
}
