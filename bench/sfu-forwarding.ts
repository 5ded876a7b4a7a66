import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Description } from '@parley/media-description';
import { processCpuMs } from '../apps/server/testkit/kit/cpu.ts';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';
import { Worker } from '../apps/sfu/src/control/workers.ts';
import { systemClock } from '../apps/sfu/src/media/clock.ts';
import { everything } from '../apps/sfu/testkit/permissions.ts';
import { startChild } from './children.ts';
import { hasJanus, startJanus } from './janus.ts';
import type { Answer, Row } from './ratio.ts';
import type { BareOrder } from './sfu-bare.ts';
import type { PeerRequest } from './sfu-peers.ts';

/** Packets that reach subscribers per CPU-second of the forwarding process: one publisher, N subscribers, DTLS-SRTP. */
const FLOOR = 50_000;
const PACKET_BYTES = 1100;
const WARM_UP_MS = 2000;
const MEASURE_MS = 4000;
const ROUNDS = 3;
/** So that the subscribers, who share the machine, are not what is being measured. */
const PACKETS_OUT_PER_SECOND = 10_000;
/** How the cost of one stream changes as a room grows. */
const GROWTH = [2, 10, 25, 50];
const GROWTH_PACKETS_PER_SECOND = 100;

const unit = 'per CPU-second';

interface Outcome {
  perCpuSecond: number;
  /** CPU time for each stream and second, in milliseconds. */
  cpuMsPerStream: number;
  /** Share of all packets sent that the subscribers got. */
  arrived: number;
  residentBytes: number;
}

/** What forwards: ours, or a peer that does the same job. */
interface Forwarder {
  pid: number;
  publish(offer: Description): Promise<Description>;
  subscribe(answer: (offer: Description) => Promise<Description>): Promise<void>;
  stop(): Promise<void>;
}

export async function rows(): Promise<Answer[]> {
  const result: Answer[] = [];
  for (const subscribers of [25, 75]) {
    const packetsPerSecond = Math.round(PACKETS_OUT_PER_SECOND / subscribers);
    const [ours, bare, theirs]: [Outcome[], Outcome[], Outcome[]] = [[], [], []];
    // In turns, so that a busy machine hits all alike.
    for (let round = 0; round < ROUNDS; round += 1) {
      ours.push(await measure(startOurs, subscribers, packetsPerSecond));
      bare.push(await measure(startBare, subscribers, packetsPerSecond));
      if (hasJanus()) theirs.push(await measure(startJanus, subscribers, packetsPerSecond));
    }
    const mine = best(ours);
    result.push({
      question: `SFU packets out per CPU-second, ${subscribers} subscribers`,
      ratio: mine.perCpuSecond,
      floor: { atLeast: FLOOR },
      bars: { unit, sides: { Parley: mine.perCpuSecond } },
      figures: { [`packetsPerCpuSecond${subscribers}`]: mine.perCpuSecond },
      detail: describe(ours),
    });
    result.push({
      question: `SFU packets out per CPU-second, ${subscribers} subscribers / the library alone`,
      ratio: mine.perCpuSecond / best(bare).perCpuSecond,
      floor: null,
      detail: `the library alone: ${describe(bare)}`,
      bars: { unit, sides: { Parley: mine.perCpuSecond, 'the library alone': best(bare).perCpuSecond } },
    });
    const beside = {
      question: `SFU packets out per CPU-second, ${subscribers} subscribers / Janus video room`,
      floor: { atLeast: 1 },
    };
    if (theirs.length === 0) result.push({ ...beside, notRun: 'Janus is not installed (Debian: janus)' });
    else
      result.push({
        ...beside,
        ratio: mine.perCpuSecond / best(theirs).perCpuSecond,
        detail: `Janus: ${describe(theirs)}`,
        bars: { unit, sides: { Parley: mine.perCpuSecond, Janus: best(theirs).perCpuSecond } },
      });
  }
  return [...result, await growth()];
}

async function growth(): Promise<Row> {
  const outcomes: Outcome[] = [];
  for (const subscribers of GROWTH) outcomes.push(await measure(startOurs, subscribers, GROWTH_PACKETS_PER_SECOND));
  const [first, last] = [outcomes[0], outcomes.at(-1)];
  if (!first || !last) throw new Error('nothing measured');
  const memory = (last.residentBytes - first.residentBytes) / ((GROWTH.at(-1) ?? 0) - (GROWTH[0] ?? 0));
  const costs = GROWTH.map((count, index) => `${count}: ${outcomes[index]?.cpuMsPerStream.toFixed(2)}`);
  return {
    question: `CPU a stream in a room of ${GROWTH.at(-1)} / in a room of ${GROWTH[0]}`,
    ratio: last.cpuMsPerStream / first.cpuMsPerStream,
    floor: { atMost: 1 },
    figures: { streamsInRoom: GROWTH.at(-1) ?? 0, streamCpuMs: last.cpuMsPerStream, participantKiB: memory / 1024 },
    bars: {
      unit: 'ms/s',
      sides: { [`a room of ${GROWTH.at(-1)}`]: last.cpuMsPerStream, [`a room of ${GROWTH[0]}`]: first.cpuMsPerStream },
    },
    detail: `ms of CPU a second and stream of ${GROWTH_PACKETS_PER_SECOND} packets/s, by subscribers: ${costs.join(', ')}; ${Math.round(memory / 1024)} KiB a participant`,
  };
}

const best = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce((a, b) => (b.perCpuSecond > a.perCpuSecond ? b : a));

function describe(outcomes: readonly Outcome[]): string {
  const { perCpuSecond, arrived, residentBytes } = best(outcomes);
  const all = outcomes.map((one) => Math.round(one.perCpuSecond / 1000));
  return `${Math.round(perCpuSecond)} packets a CPU-second (rounds: ${all.join('k, ')}k), ${(arrived * 100).toFixed(1)} % arrived, ${Math.round(residentBytes / 2 ** 20)} MiB in all`;
}

async function measure(
  start: () => Promise<Forwarder>,
  subscribers: number,
  packetsPerSecond: number,
): Promise<Outcome> {
  const forwarder = await start();
  const peers = fork(new URL('./sfu-peers.ts', import.meta.url));
  try {
    const description = (await ask(peers, { kind: 'offer' })) as Description;
    await ask(peers, { kind: 'answered', description: await forwarder.publish(description) });
    await ask(peers, { kind: 'send', packetsPerSecond, bytes: PACKET_BYTES });
    for (let index = 0; index < subscribers; index += 1)
      await forwarder.subscribe(
        async (offer) => (await ask(peers, { kind: 'subscribe', description: offer })) as Description,
      );
    await sleep(WARM_UP_MS);
    const before = await sample(forwarder, peers);
    await sleep(MEASURE_MS);
    const after = await sample(forwarder, peers);
    const seconds = (after.at - before.at) / 1000;
    const cpuMs = after.cpuMs - before.cpuMs;
    const received = after.received - before.received;
    return {
      perCpuSecond: received / (cpuMs / 1000),
      cpuMsPerStream: cpuMs / seconds / subscribers,
      arrived: received / (packetsPerSecond * seconds * subscribers),
      residentBytes: after.residentBytes,
    };
  } finally {
    peers.disconnect();
    await forwarder.stop();
  }
}

async function sample({ pid }: Forwarder, peers: ChildProcess) {
  const [cpuMs, status] = await Promise.all([processCpuMs(pid), readFile(`/proc/${pid}/status`, 'utf8')]);
  if (cpuMs === null) throw new Error('This system does not report the CPU time of a process.');
  const received = Number(await ask(peers, { kind: 'count' }));
  const residentBytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
  return { cpuMs, received, residentBytes, at: performance.now() };
}

/** One media process, controlled as the node controls it. */
async function startOurs(): Promise<Forwarder> {
  const udpPort = await ownPort();
  const offers = new Map<string, (description: Description) => void>();
  const worker = new Worker({
    index: 0,
    clock: systemClock,
    iceKey: randomBytes(32),
    settings: { udpPort, bindAddress: null, candidates: [`udp 2130706431 127.0.0.1 ${udpPort} host`] },
    onEvent: ({ type, data }) => {
      if (type !== 'sub.offer') return;
      const { participant, description } = data;
      offers.get(participant)?.(description);
      offers.delete(participant);
    },
    onLost: () => {},
    onError: (error) => console.error(error),
  });
  await worker.started;
  const room = 'bench';
  await worker.request({ type: 'room.open', data: { room } });
  const join = (participant: string, autoSubscribe: boolean) =>
    worker.request({
      type: 'participant.add',
      data: { room, participant, identity: participant, permissions: everything, autoSubscribe },
    });
  let subscribers = 0;
  return {
    pid: worker.pid ?? 0,
    async publish(description) {
      await join('publisher', false);
      const answer = await worker.request({
        type: 'pub.offer',
        data: {
          room,
          participant: 'publisher',
          tracks: [{ cid: 'bench', kind: 'VIDEO', source: 'CAMERA' }],
          description,
        },
      });
      return answer.description;
    },
    async subscribe(answer) {
      const participant = `subscriber-${subscribers++}`;
      const offered = new Promise<Description>((resolve) => offers.set(participant, resolve));
      await join(participant, true);
      const description = await answer(await offered);
      await worker.request({ type: 'sub.answer', data: { room, participant, revision: 1, description } });
    },
    stop: () => worker.stop(),
  };
}

/** The library and a loop: the upper bound of any forwarder that uses it. */
async function startBare(): Promise<Forwarder> {
  const udpPort = await ownPort();
  const child = startChild('./sfu-bare.ts');
  const ask = (order: BareOrder): Promise<Description> => child.ask(order);
  return {
    pid: child.process.pid ?? 0,
    publish: (offer) => ask({ kind: 'publish', udpPort, offer }),
    async subscribe(answer) {
      await ask({ kind: 'answered', answer: await answer(await ask({ kind: 'subscribe', udpPort })) });
    },
    stop: child.stop,
  };
}

function ask(peers: ChildProcess, request: PeerRequest): Promise<unknown> {
  return new Promise((resolve) => {
    peers.once('message', (message: { answer: unknown }) => resolve(message.answer));
    peers.send(request);
  });
}
