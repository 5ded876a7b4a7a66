import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { processCpuMs } from '../apps/server/testkit/kit/cpu.ts';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { adminUrl, redisUrl, type Server, type Stage, startServer, startStage, tokensOf } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import { countCpu } from './cpu-usage.ts';
import type { Heard } from './group-members.ts';
import { hasHaproxy, startHaproxy } from './haproxy.ts';
import type { LoadResult } from './http-load.ts';
import type { Answer, NotRun, Row } from './ratio.ts';

const connections = 192;
/** Those that are written to. */
const busy = 20;
/** Those that only the bystander hears: enough for it to listen on nearly every channel of the bus. */
const quiet = 180;
const listeners = 10;
const runMs = 3_000;
const rounds = 3;
/** Less CPU than a tick of the kernel's clock is not seen. */
const tickMs = 10;
const body = JSON.stringify({ text: 'x'.repeat(200), senderId: 'user-1', clientMessageId: 'c%d' });

/** Three processes, or one of them, behind one address. */
interface Fleet {
  stage: Stage;
  port: number;
  pids: number[];
  databaseUrl: string;
  generator: Child;
}

interface Outcome {
  perSecond: number;
  /** Of the servers and the database; the balancer and the clients are left out. */
  cpuUsPerSend: number;
  heardPerSecond: number;
}

const post = ({ stage, port, generator }: Pick<Fleet, 'stage' | 'port' | 'generator'>): Promise<LoadResult> =>
  requestsPerSecond(generator, {
    port,
    method: 'POST',
    paths: stage.rooms.slice(0, busy).map((room) => `/v1/chat/conversations/${room}/messages`),
    headers: { authorization: `Bearer ${stage.key}` },
    body,
    connections,
    ms: runMs,
  });

async function measure({ stage, port, pids, databaseUrl, generator }: Fleet, isHeard: boolean): Promise<Outcome> {
  const crowd = startChild('./group-members.ts');
  const users = isHeard ? stage.users : [];
  const members = tokensOf(stage, users).map((name) => ({ name, rooms: stage.rooms.slice(0, busy) }));
  await crowd.ask({ open: { protocol: 'parley', port, members } });
  const spentMs = await countCpu(pids, databaseUrl);
  const [{ perSecond }, { heard }] = await Promise.all([
    post({ stage, port, generator }),
    crowd.ask<Heard>({ hear: runMs }),
  ]);
  const cpuUs = (await spentMs()) * 1000;
  await crowd.stop();
  const seconds = runMs / 1000;
  return { perSecond, cpuUsPerSend: cpuUs / (perSecond * seconds), heardPerSecond: heard / seconds };
}

/** What more processes give and cost where they share the cores with the database and those who send. */
export async function rows(): Promise<Answer[]> {
  if (!hasHaproxy()) return withoutBalancer;
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const databaseUrl = database.url ?? '';
  const shared = { REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `bench-${process.pid}:` };
  const env = { DATABASE_URL: databaseUrl, ...shared };
  const stage = await startStage({ dataDir, env, conversations: busy + quiet, users: listeners });
  const others = [await startServer({ DATA_DIR: dataDir, ...env }), await startServer({ DATA_DIR: dataDir, ...env })];
  const balancers = [
    await startHaproxy([stage.port]),
    await startHaproxy([stage.port, ...others.map(({ port }) => port)]),
  ];
  const children = [stage.child, ...others.map(({ child }) => child)];
  const generator = startChild('./http-load.ts');
  try {
    const pids = children.map((child) => child.process.pid ?? 0);
    const [one, three] = balancers.map(({ port }) => ({ stage, port, pids, databaseUrl, generator }));
    if (!one || !three) throw new Error('a side is missing');
    const rows = [...(await compare(one, three, false)), ...(await compare(one, three, true))];
    const [bystander] = others;
    return bystander ? [...rows, await listening(one, bystander)] : rows;
  } finally {
    for (const child of [generator, ...children]) await child.stop();
    for (const balancer of balancers) await balancer.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const heardText = (isHeard: boolean): string => (isHeard ? `, ${listeners} deliveries each` : '');
const rateQuestion = (isHeard: boolean): string =>
  `POST message${heardText(isHeard)}: three processes behind haproxy / one`;
const cpuQuestion = (isHeard: boolean): string =>
  `POST message${heardText(isHeard)}: CPU of one with three processes / with one`;
const unheardQuestion = 'a message that nobody in a process hears: its CPU there, in µs';

const withoutBalancer: NotRun[] = [
  ...[false, true].flatMap((isHeard) => [rateQuestion(isHeard), cpuQuestion(isHeard)]),
  unheardQuestion,
].map((question) => ({ question, floor: null, notRun: 'haproxy is not installed (Debian: haproxy)' }));

async function compare(one: Fleet, three: Fleet, isHeard: boolean): Promise<Row[]> {
  const [alone, together]: [Outcome[], Outcome[]] = [[], []];
  await measure(three, isHeard); // to warm up
  for (let round = 0; round < rounds; round++) {
    alone.push(await measure(one, isHeard));
    together.push(await measure(three, isHeard));
  }
  return rowsOf(best(alone), best(together), isHeard);
}

/** The cost of messages without a subscriber in a process. */
async function listening(one: Fleet, bystander: Server): Promise<Row> {
  const crowd = startChild('./group-members.ts');
  const rooms = one.stage.rooms.slice(busy);
  const share = quiet / listeners;
  const members = tokensOf(one.stage, one.stage.users).map((name, at) => ({
    name,
    rooms: rooms.slice(at * share, (at + 1) * share),
  }));
  await crowd.ask({ open: { protocol: 'parley', port: bystander.port, members } });
  const pid = bystander.child.process.pid ?? 0;
  const spentMs = async (meanwhile: () => Promise<unknown>): Promise<number> => {
    const before = (await processCpuMs(pid)) ?? 0;
    await meanwhile();
    return ((await processCpuMs(pid)) ?? 0) - before;
  };
  const costs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    // Its own sockets cost something without any message.
    const idleMs = await spentMs(() => sleep(runMs));
    let sent = 0;
    const busyMs = await spentMs(async () => {
      sent = (await post(one)).perSecond * (runMs / 1000);
    });
    costs.push((Math.max(tickMs, busyMs - idleMs) * 1000) / sent);
  }
  await crowd.stop();
  const median = [...costs].sort((a, b) => a - b)[rounds >> 1] ?? 0;
  return {
    question: unheardQuestion,
    floor: null,
    ratio: median,
    figures: { unheardCpuUs: median },
    detail: `of ${costs.map((cost) => cost.toFixed(1)).join(', ')}: a process hears only what somebody there listens to`,
  };
}

const best = (outcomes: readonly Outcome[]): Outcome => ({
  perSecond: Math.max(...outcomes.map(({ perSecond }) => perSecond)),
  cpuUsPerSend: Math.min(...outcomes.map(({ cpuUsPerSend }) => cpuUsPerSend)),
  heardPerSecond: Math.max(...outcomes.map(({ heardPerSecond }) => heardPerSecond)),
});

function rowsOf(one: Outcome, three: Outcome, isHeard: boolean): Row[] {
  const rate = ({ perSecond, heardPerSecond }: Outcome): string =>
    `${Math.round(perSecond)}/s${heardPerSecond > 0 ? ` (${Math.round(heardPerSecond)} frames/s)` : ''}`;
  return [
    {
      question: rateQuestion(isHeard),
      floor: null,
      ratio: three.perSecond / one.perSecond,
      figures: { [isHeard ? 'gainHeard' : 'gain']: three.perSecond / one.perSecond },
      detail: `${rate(three)} against ${rate(one)}, on the cores that the database and the clients use too`,
    },
    {
      question: cpuQuestion(isHeard),
      floor: null,
      ratio: three.cpuUsPerSend / one.cpuUsPerSend,
      figures: { [isHeard ? 'heardCpuUs' : 'storedCpuUs']: one.cpuUsPerSend },
      detail: `${three.cpuUsPerSend.toFixed(0)} µs against ${one.cpuUsPerSend.toFixed(0)} µs, database included`,
    },
  ];
}
