import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { hasRedisServer, startOwnRedis } from '../apps/server/testkit/kit/redis.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { besideSocketIo } from './chat-processes-peer.ts';
import type { Received, Watched } from './chat-server.ts';
import { adminUrl, type Server, type Stage, startServer, startStage, tokensOf } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import { countCpu, totalOf } from './cpu-usage.ts';
import type { Heard } from './group-members.ts';
import type { LoadResult } from './http-load.ts';
import { type Answer, boundOfMedian, figure, leftOutOf, median, middleBy, type NotRun, type Row } from './ratio.ts';
import { countRedisCpu } from './redis-usage.ts';

const connections = 192;
/** Those that are written to. */
const busy = 20;
/** Those that only the bystander hears: enough for it to listen on nearly every channel of the bus. */
const quiet = 180;
const listeners = 10;
const runMs = 3_000;
const rounds = 3;
/** Half a microsecond a message is some 12 ms in so long, and the collector of garbage may take as much: so many rounds. */
const unheardMs = 6_000;
const unheardRuns = 11;
/** With the fleet's chores there is more to see. */
const withChoresMs = 4_000;
const withChoresRuns = 2;
/** A lease of the chore of search is gone by then, and who holds it is settled. */
const leaseMs = 1_000;
const body = JSON.stringify({ text: 'x'.repeat(200), senderId: 'user-1', clientMessageId: 'c%d' });

/** Three processes, or one of them. */
interface Fleet {
  stage: Stage;
  /** Connections are spread over them, as a balancer would: none stands in between on either side. */
  ports: number[];
  pids: number[];
  databaseUrl: string;
  redisUrl: string;
  generator: Child;
}

interface Outcome {
  perSecond: number;
  /** Of servers, database and Redis together; the clients are left out. */
  cpuUsPerSend: number;
  redisUsPerSend: number;
  heardPerSecond: number;
}

/** One run of each, one right after the other. */
interface Pair {
  one: Outcome;
  three: Outcome;
}

const post = (
  { stage, ports, generator }: Pick<Fleet, 'stage' | 'ports' | 'generator'>,
  ms = runMs,
): Promise<LoadResult> =>
  requestsPerSecond(generator, {
    port: ports,
    method: 'POST',
    paths: stage.rooms.slice(0, busy).map((room) => `/v1/chat/conversations/${room}/messages`),
    headers: { authorization: `Bearer ${stage.key}` },
    body,
    connections,
    ms,
  });

async function measure(fleet: Fleet, isHeard: boolean): Promise<Outcome> {
  const { stage, ports, pids, databaseUrl, redisUrl } = fleet;
  const crowd = startChild('./group-members.ts');
  const users = isHeard ? stage.users : [];
  const members = tokensOf(stage, users).map((name) => ({ name, rooms: stage.rooms.slice(0, busy) }));
  await crowd.ask({ open: { protocol: 'parley', port: ports, members } });
  const [spentMs, redisCpu] = [await countCpu(pids, databaseUrl), await countRedisCpu(redisUrl)];
  const [{ perSecond, answers }, { heard }] = await Promise.all([post(fleet), crowd.ask<Heard>({ hear: runMs })]);
  const [redisUs, cpuUs] = [totalOf(await redisCpu()), (await spentMs()) * 1000];
  await crowd.stop();
  return {
    perSecond,
    cpuUsPerSend: (cpuUs + redisUs) / answers,
    redisUsPerSend: redisUs / answers,
    heardPerSecond: heard / (runMs / 1000),
  };
}

/** What more processes give and cost where they share the cores with the database and those who send. */
export async function rows(): Promise<Answer[]> {
  if (!hasRedisServer) throw new Error('needs redis-server, for one of its own');
  const database = await openTestDatabase({ url: adminUrl });
  const redis = await startOwnRedis();
  const dataDir = await newDataDir();
  const databaseUrl = database.url ?? '';
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url };
  const stage = await startStage({ dataDir, env, conversations: busy + quiet, users: listeners });
  const others = [await startServer({ DATA_DIR: dataDir, ...env }), await startServer({ DATA_DIR: dataDir, ...env })];
  const children = [stage.child, ...others.map(({ child }) => child)];
  const generator = startChild('./http-load.ts');
  try {
    const pids = children.map((child) => child.process.pid ?? 0);
    const shared = { stage, pids, databaseUrl, redisUrl: redis.url, generator };
    const [bystander, other] = others;
    if (!bystander || !other) throw new Error('a process is missing');
    // First: a process goes on hearing for some seconds what was listened to there.
    const unheard = await listening({ ...shared, ports: [stage.port] }, bystander, [stage, other]);
    const ports = [stage.port, bystander.port, other.port];
    const compared = await comparisons(shared, [bystander, other]);
    return [...compared, ...unheard, await besideSocketIo({ ...shared, ports }), ...peers];
  } finally {
    for (const child of [generator, ...children]) await child.stop();
    await redis.kill();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const heardText = (isHeard: boolean): string => (isHeard ? `, ${listeners} deliveries each` : '');
const rateQuestion = (isHeard: boolean): string =>
  `POST message${heardText(isHeard)}: three processes, connections spread over them / one`;
const cpuQuestion = (isHeard: boolean): string =>
  `POST message${heardText(isHeard)}: CPU of one with three processes / with one`;
const cpuFloor = (isHeard: boolean) => ({ atMost: isHeard ? 1.25 : 1.15 });
const unheardQuestion = 'a message that nobody in a process hears: its CPU there, in µs';
const unheardFloor = { atMost: 0.5 };
const receivedQuestion = 'envelopes of the bus that a process receives with messages that nobody there hears';
const receivedFloor = { atMost: 0 };
const choresQuestion =
  'the same while that process does all chores of the fleet, the index of search among them, in µs';

/** One process, and all of them. */
async function comparisons(shared: Omit<Fleet, 'ports'>, others: readonly Server[]): Promise<Row[]> {
  const own = shared.stage.port;
  const one = { ...shared, ports: [own] };
  const three = { ...shared, ports: [own, ...others.map(({ port }) => port)] };
  return [...(await compare(one, three, false)), ...(await compare(one, three, true))];
}

async function compare(one: Fleet, three: Fleet, isHeard: boolean): Promise<Row[]> {
  const pairs: Pair[] = [];
  await measure(three, isHeard); // to warm up
  for (let round = 0; round < rounds; round++) {
    const alone = await measure(one, isHeard);
    pairs.push({ one: alone, three: await measure(three, isHeard) });
  }
  return rowsOf(pairs, isHeard);
}

/** The cost of messages without a subscriber in a process: what it spends beside what it spends without them. */
async function listening(one: Fleet, bystander: Server, others: readonly Server[]): Promise<Row[]> {
  const crowd = startChild('./group-members.ts');
  const rooms = one.stage.rooms.slice(busy);
  const share = quiet / listeners;
  const members = tokensOf(one.stage, one.stage.users).map((name, at) => ({
    name,
    rooms: rooms.slice(at * share, (at + 1) * share),
  }));
  await crowd.ask({ open: { protocol: 'parley', port: bystander.port, members } });

  const spentUs = async (meanwhile: () => Promise<unknown>): Promise<number> => {
    await bystander.child.ask({ order: 'watch' });
    await meanwhile();
    return (await bystander.child.ask<Watched>({ order: 'watched' })).cpuSeconds * 1e6;
  };
  let [sent, bytes, quietBytes] = [0, 0, 0];
  const received: string[] = [];
  const hear = async (): Promise<Received> => bystander.child.ask<Received>({ order: 'heard' });

  /** What sends have left to do until later, so that it falls on them and not on what comes next. */
  const index = async (): Promise<void> => {
    let indexed = 1;
    while (indexed > 0) ({ indexed } = await bystander.child.ask<{ indexed: number }>({ order: 'index' }));
  };

  /** Its own sockets and chores cost something without any message. */
  async function idleUs(ms: number): Promise<number> {
    await bystander.child.ask({ order: 'hear' });
    const us = await spentUs(() => sleep(ms));
    quietBytes += (await hear()).bytes;
    return us;
  }

  /** Each run beside the quiet before it and after it: what a process does by itself grows less with time. */
  async function costs(runs: number, ms: number, hasChores: boolean): Promise<number[]> {
    const found: number[] = [];
    if (hasChores) await index();
    let beforeUs = await idleUs(ms);
    for (let run = 0; run < runs; run++) {
      await bystander.child.ask({ order: 'hear' });
      let answers = 0;
      const busyUs = await spentUs(async () => {
        ({ answers } = await post(one, ms));
        if (hasChores) await index();
      });
      const heard = await hear();
      const afterUs = await idleUs(ms);
      found.push((busyUs - (beforeUs + afterUs) / 2) / answers);
      beforeUs = afterUs;
      if (hasChores) continue;
      [sent, bytes] = [sent + answers, bytes + heard.bytes];
      for (const [channel, count] of Object.entries(heard.envelopes)) received.push(...Array(count).fill(channel));
    }
    return found;
  }

  await bystander.child.ask({ order: 'leaveChores' });
  await post(one); // to warm up
  await sleep(leaseMs);
  const without = await costs(unheardRuns, unheardMs, false);
  const quietKib = quietBytes / 1024 / (unheardRuns + 1);
  // All that the fleet has: more than it would have in turns.
  await bystander.child.ask({ order: 'takeChores' });
  for (const { child } of others) await child.ask({ order: 'leaveChores' });
  await sleep(leaseMs);
  const withChores = await costs(withChoresRuns, withChoresMs, true);
  for (const { child } of others) await child.ask({ order: 'takeChores' });
  await crowd.stop();
  const [unheardUs, leftOut] = [boundOfMedian(without), leftOutOf(without.length)];
  return [
    {
      question: unheardQuestion,
      floor: unheardFloor,
      ratio: unheardUs,
      figures: { unheardCpuUs: unheardUs },
      detail: `at most so much: the largest round of either sign without the ${leftOut} lowest and the ${leftOut} highest, between which the median is (sign test, 95 % at each end); median ${median(without).toFixed(2)} of ${numbersText(without)}, each in ${unheardMs / 1000} s with messages less the mean of as many before and after without; chores of the fleet are done by the others`,
    },
    {
      question: receivedQuestion,
      floor: receivedFloor,
      ratio: received.length,
      detail: `of ${figure(sent)} stored elsewhere; Redis sent it ${figure(bytes / 1024 / unheardRuns)} KiB a run and ${figure(quietKib)} in as long without them: heartbeats and answers${received.length > 0 ? `; channels ${[...new Set(received)].slice(0, 3).join(', ')}` : ''}`,
    },
    {
      question: choresQuestion,
      floor: null,
      ratio: median(withChores),
      detail: `the median of ${numbersText(withChores)}, each in ${withChoresMs / 1000} s; in a fleet one process or the other has them`,
    },
  ];
}

const numbersText = (values: readonly number[]): string => values.map((value) => value.toFixed(2)).join(', ');

function rowsOf(pairs: readonly Pair[], isHeard: boolean): Row[] {
  const cpuRatio = ({ one, three }: Pair): number => three.cpuUsPerSend / one.cpuUsPerSend;
  const { one, three } = middleBy(pairs, cpuRatio);
  const rate = ({ perSecond, heardPerSecond }: Outcome): string =>
    `${Math.round(perSecond)}/s${heardPerSecond > 0 ? ` (${Math.round(heardPerSecond)} frames/s)` : ''}`;
  const cpu = ({ cpuUsPerSend, redisUsPerSend }: Outcome): string =>
    `${cpuUsPerSend.toFixed(0)} µs (Redis ${redisUsPerSend.toFixed(0)})`;
  const redisName = isHeard ? 'heardRedisUs' : 'storedRedisUs';
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
      floor: cpuFloor(isHeard),
      ratio: cpuRatio({ one, three }),
      figures: { [isHeard ? 'heardCpuUs' : 'storedCpuUs']: one.cpuUsPerSend, [redisName]: three.redisUsPerSend },
      detail: `${cpu(three)} against ${cpu(one)}, database and Redis included; the median of ${pairs.map((pair) => figure(cpuRatio(pair))).join(', ')}`,
    },
  ];
}

const hasCentrifugo = spawnSync('centrifugo', ['version'], { stdio: 'ignore' }).error === undefined;

/** Nothing here would drive them, were they there. */
const peers: NotRun[] = [
  {
    question: `CPU of a delivery over three processes, ${listeners} deliveries each / Centrifugo`,
    floor: null,
    notRun: hasCentrifugo
      ? 'Centrifugo is installed, but nothing here drives it'
      : 'Centrifugo is not installed (Debian has no package of it)',
  },
];
