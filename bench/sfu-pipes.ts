import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Description } from '@parley/media-description';
import { processCpuMs } from '../apps/server/testkit/kit/cpu.ts';
import { everything } from '../apps/sfu/testkit/call.ts';
import { startTestNode } from '../apps/sfu/testkit/node.ts';
import type { Answer } from './ratio.ts';
import type { PeerRequest } from './sfu-peers.ts';

/** What a packet costs in a room over two media processes, all of their CPU time together, against a room in one. */
const FLOOR = 1.15;
const SUBSCRIBERS = 75;
/** A room is spread when its process is busy: in a small one only the waking of a second process would be measured. */
const PACKETS_PER_SECOND = 200;
const PACKET_BYTES = 1100;
const WARM_UP_MS = 2000;
const MEASURE_MS = 4000;
const ROUNDS = 3;
const ROOM = 'bench';

interface Outcome {
  cpuMicrosPerPacket: number;
  /** Share of all packets sent that the subscribers got. */
  arrived: number;
}

export async function rows(): Promise<Answer[]> {
  const [one, two]: [Outcome[], Outcome[]] = [[], []];
  // In turns, so that a busy machine hits both alike.
  for (let round = 0; round < ROUNDS; round += 1) {
    one.push(await measure(1));
    two.push(await measure(2));
  }
  const [single, spread] = [best(one), best(two)];
  return [
    {
      question: `CPU a packet in a room over two processes / in one, ${SUBSCRIBERS} subscribers`,
      ratio: spread.cpuMicrosPerPacket / single.cpuMicrosPerPacket,
      floor: { atMost: FLOOR },
      detail: `two: ${describe(two)}; one: ${describe(one)}`,
      bars: {
        unit: 'µs',
        sides: { 'two processes': spread.cpuMicrosPerPacket, 'one process': single.cpuMicrosPerPacket },
      },
    },
    {
      question: 'Packets that arrive in a room over two processes',
      ratio: Math.min(...two.map(({ arrived }) => arrived)),
      floor: { atLeast: 0.999 },
      detail: `share of those that were due, in the worst of ${ROUNDS} rounds`,
    },
  ];
}

const best = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce((a, b) => (b.cpuMicrosPerPacket < a.cpuMicrosPerPacket ? b : a));

const describe = (outcomes: readonly Outcome[]): string =>
  outcomes
    .map(({ cpuMicrosPerPacket, arrived }) => `${cpuMicrosPerPacket.toFixed(1)} µs, ${(arrived * 100).toFixed(1)} %`)
    .join('; ');

async function measure(processes: number): Promise<Outcome> {
  // With 0 those who join take turns.
  const node = await startTestNode({ SFU_PROCESSES: String(processes), SFU_ROOM_SPREAD_PERCENT: '0' });
  const peers = fork(new URL('./sfu-peers.ts', import.meta.url));
  try {
    await fill(node, peers);
    await sleep(WARM_UP_MS);
    const before = await sample(node.node.pids(), peers);
    await sleep(MEASURE_MS);
    const after = await sample(node.node.pids(), peers);
    const received = after.received - before.received;
    const seconds = (after.at - before.at) / 1000;
    return {
      cpuMicrosPerPacket: ((after.cpuMs - before.cpuMs) * 1000) / received,
      arrived: received / (PACKETS_PER_SECOND * seconds * SUBSCRIBERS),
    };
  } finally {
    peers.disconnect();
    await once(peers, 'exit');
    await node.stop();
  }
}

/** One publisher, and everybody else subscribed to it. */
async function fill({ connect }: Awaited<ReturnType<typeof startTestNode>>, peers: ChildProcess): Promise<void> {
  const offers = new Map<string, (description: Description) => void>();
  const control = await connect({
    onEvent: ({ type, data }) => {
      if (type === 'sub.offer') offers.get(data.participant)?.(data.description as Description);
    },
  });
  await control.command('room.open', { room: ROOM });
  const join = (participant: string, autoSubscribe: boolean) =>
    control.command('participant.add', {
      ...{ room: ROOM, participant, identity: participant, autoSubscribe },
      permissions: everything,
    });
  await join('publisher', false);
  const answer = await control.command('pub.offer', {
    room: ROOM,
    participant: 'publisher',
    tracks: [{ cid: 'bench', kind: 'VIDEO', source: 'CAMERA' }],
    description: (await ask(peers, { kind: 'offer' })) as Description,
  });
  await ask(peers, { kind: 'answered', description: answer.description as Description });
  await ask(peers, { kind: 'send', packetsPerSecond: PACKETS_PER_SECOND, bytes: PACKET_BYTES });
  for (let index = 0; index < SUBSCRIBERS; index += 1) {
    const participant = `subscriber-${index}`;
    const first = Promise.withResolvers<Description>();
    offers.set(participant, first.resolve);
    await join(participant, true);
    const description = (await ask(peers, { kind: 'subscribe', description: await first.promise })) as Description;
    // Where the track came after the transport, there is a second offer without one.
    const again = { room: ROOM, participant, revision: 2, description: { media: [] } };
    offers.set(participant, () => void control.command('sub.answer', again));
    await control.command('sub.answer', { room: ROOM, participant, revision: 1, description });
  }
}

async function sample(pids: readonly number[], peers: ChildProcess) {
  const cpus = await Promise.all(pids.map((pid) => processCpuMs(pid)));
  const received = Number(await ask(peers, { kind: 'count' }));
  return { cpuMs: cpus.reduce<number>((sum, cpuMs) => sum + (cpuMs ?? 0), 0), received, at: performance.now() };
}

function ask(peers: ChildProcess, request: PeerRequest): Promise<unknown> {
  return new Promise((resolve) => {
    peers.once('message', (message: { answer: unknown }) => resolve(message.answer));
    peers.send(request);
  });
}
