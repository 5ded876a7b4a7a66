import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { adminUrl, redisUrl, type Server, type Stage, startServer, startStage } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import type { LoadResult } from './http-load.ts';
import { median, type Row } from './ratio.ts';

const writerCounts = [1, 10, 100] as const;
const conversations = 100;
const processes = 3;
const runMs = 3_000;
const rounds = 3;
const body = JSON.stringify({ text: 'x'.repeat(200), senderId: 'user-0', clientMessageId: 'c%d' });

/** Writers who each send the next message when the last is stored, all to one conversation or each to one of many. */
async function write(
  generator: Child,
  stage: Pick<Stage, 'port' | 'key'>,
  writers: number,
  rooms: readonly string[],
): Promise<LoadResult> {
  return requestsPerSecond(generator, {
    port: stage.port,
    method: 'POST',
    paths: rooms.map((room) => `/v1/chat/conversations/${room}/messages`),
    headers: { authorization: `Bearer ${stage.key}` },
    body,
    connections: writers,
    ms: runMs,
  });
}

/** The same writers, each at one of the processes: their batches wait for each other at the row. */
async function writeOverProcesses(generators: readonly Child[], key: string, servers: readonly Server[], room: string) {
  const writers = Math.ceil(100 / servers.length);
  const results = await Promise.all(
    servers.map(({ port }, at) => write(generators[at] as Child, { port, key }, writers, [room])),
  );
  return {
    perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
  };
}

async function inTurns(one: () => Promise<Rate>, other: () => Promise<Rate>): Promise<[Rate, Rate]> {
  const [ofOne, ofOther]: [Rate[], Rate[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    ofOne.push(await one());
    ofOther.push(await other());
  }
  return [middle(ofOne), middle(ofOther)];
}

/** What the row of one conversation gives, beside the same writers in a hundred of them. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const generators = Array.from({ length: processes }, () => startChild('./http-load.ts'));
  const env = { DATABASE_URL: database.url ?? '', REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `bench-${process.pid}:` };
  const stage = await startStage({ dataDir, env, conversations, users: 1 });
  const servers: Server[] = [stage];
  try {
    const [hot = ''] = stage.rooms;
    const generator = generators[0] as Child;
    await write(generator, stage, 100, stage.rooms);
    const result: Row[] = [];
    for (const writers of writerCounts) {
      const send = (rooms: readonly string[]) => () => write(generator, stage, writers, rooms);
      result.push(rowOf(writers, ...(await inTurns(send([hot]), send(stage.rooms)))));
    }
    while (servers.length < processes) servers.push(await startServer({ DATA_DIR: dataDir, ...env }));
    const [over, alone] = await inTurns(
      () => writeOverProcesses(generators, stage.key, servers, hot),
      () => write(generator, stage, 100, [hot]),
    );
    return [...result, overRow(over, alone)];
  } finally {
    for (const generator of generators) await generator.stop();
    for (const { child } of servers) await child.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

type Rate = Pick<LoadResult, 'perSecond' | 'p50Ms' | 'p99Ms'>;

const middle = (results: readonly Rate[]): Rate => ({
  perSecond: median(results.map(({ perSecond }) => perSecond)),
  p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
});

const shown = ({ perSecond, p50Ms, p99Ms }: Rate): string =>
  `${Math.round(perSecond)}/s, p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms`;

function rowOf(writers: number, one: Rate, many: Rate): Row {
  return {
    question: `${writers} ${writers === 1 ? 'writer' : 'writers'} in one conversation / in ${conversations} conversations (medians)`,
    floor: null,
    ratio: one.perSecond / many.perSecond,
    detail: `${shown(one)} against ${shown(many)}`,
    bars: { unit: 'messages/s', sides: { 'one conversation': one.perSecond, [`${conversations}`]: many.perSecond } },
  };
}

const overRow = (over: Rate, alone: Rate): Row => ({
  question: `100 writers in one conversation through ${processes} processes / through one (medians)`,
  floor: null,
  ratio: over.perSecond / alone.perSecond,
  detail: `${shown(over)} against ${shown(alone)}`,
  bars: { unit: 'messages/s', sides: { [`${processes} processes`]: over.perSecond, one: alone.perSecond } },
});
