import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Description } from '@parley/media-description';
import { processCpuMs } from '../apps/server/testkit/kit/cpu.ts';
import { everything } from '../apps/sfu/testkit/call.ts';
import { startTestNode } from '../apps/sfu/testkit/node.ts';
import { pipeAlone } from './pipe-alone.ts';
import type { Answer } from './ratio.ts';
import type { PeerRequest } from './sfu-peers.ts';
import { socketDrops } from './socket-drops.ts';

/** What a packet costs in a room over two media processes, all of their CPU time together, against a room in one. */
const FLOOR = 1.15;
const SUBSCRIBERS = 75;
/** A room is spread when its process is busy: in a small one only the waking of a second process would be measured. */
const PACKETS_PER_SECOND = 200;
const PACKET_BYTES = 1100;
const WARM_UP_MS = 2000;
/** On a busy machine some connect late. */
const CONNECT_S_MAX = 30;
const MEASURE_MS = 4000;
const ROUNDS = 5;
/** What was sent has arrived once nothing came for this long. */
const QUIET_MS = 300;

interface Outcome {
  cpuMicrosPerPacket: number;
  /** What the publisher sent, times subscribers. */
  expected: number;
  received: number;
  /** Dropped by the kernel at the sockets of the peers: they request nothing again. */
  droppedAtPeers: number;
  droppedAtNode: number;
}

interface Totals {
  sent: number;
  received: number;
  /** Peers that have got nothing so far. */
  silent: number;
}

/** What did not arrive and was not dropped at the peers; reports that were dropped there can hide as many packets. */
const lostByNode = ({ expected, received, droppedAtPeers }: Outcome): number =>
  Math.max(0, expected - received - droppedAtPeers);

export async function rows(): Promise<Answer[]> {
  const [one, two, apart]: [Outcome[], Outcome[], Outcome[]] = [[], [], []];
  // In turns, so that a busy machine hits both alike.
  for (let round = 0; round < ROUNDS; round += 1) {
    one.push(await measure(1));
    two.push(await measure(2));
    apart.push(await measure(2, ['first', 'second']));
  }
  const [single, spread] = [median(one.map(costOf)), median(two.map(costOf))];
  return [
    {
      question: `CPU a packet in a room over two processes / in one, ${SUBSCRIBERS} subscribers`,
      // A round of one and the next of two had the same machine; the best of each may not have.
      ratio: ratioOf(two, one),
      floor: { atMost: FLOOR },
      detail: `median of ${ROUNDS} pairs; two: ${describe(two)}; one: ${describe(one)}`,
      figures: { pipedPacketMicros: spread, packetMicros: single },
      bars: { unit: 'µs', sides: { 'two processes': spread, 'one process': single } },
    },
    {
      question: 'CPU a packet in a room over two processes / in two rooms of half the size, a process each',
      ratio: ratioOf(two, apart),
      floor: null,
      detail: `two rooms, no pipe: ${describe(apart)}; the rest of the row above is what any second process costs`,
      bars: { unit: 'µs', sides: { 'one room, piped': spread, 'two rooms': median(apart.map(costOf)) } },
    },
    {
      question: 'Packets that a room over two processes brings to the sockets of its subscribers',
      ratio: 1 - Math.max(...two.map((outcome) => lostByNode(outcome) / outcome.expected)),
      floor: { atLeast: 1 },
      detail: `share of those that the publisher sent, in the worst of ${ROUNDS} rounds; all rounds together: ${account(two)}`,
    },
    await pipeAlone(),
  ];
}

const costOf = ({ cpuMicrosPerPacket }: Outcome): number => cpuMicrosPerPacket;

/** Of the median pair. */
const ratioOf = (these: readonly Outcome[], those: readonly Outcome[]): number =>
  median(these.map((outcome, round) => costOf(outcome) / costOf(those[round] ?? outcome)));

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const describe = (outcomes: readonly Outcome[]): string =>
  outcomes
    .map(
      ({ cpuMicrosPerPacket, received, expected }) =>
        `${cpuMicrosPerPacket.toFixed(1)} µs, ${((received * 100) / expected).toFixed(2)} %`,
    )
    .join('; ');

function account(outcomes: readonly Outcome[]): string {
  const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((total, one) => total + of(one), 0);
  const [expected, received] = [sum((one) => one.expected), sum((one) => one.received)];
  return (
    `${received} of ${expected} received, ${sum(({ droppedAtPeers }) => droppedAtPeers)} dropped by the kernel at ` +
    `sockets of the peers, ${sum(lostByNode)} lost by the node ` +
    `(${sum(({ droppedAtNode }) => droppedAtNode)} datagrams dropped by the kernel at its sockets)`
  );
}

async function measure(processes: number, rooms: readonly string[] = ['bench']): Promise<Outcome> {
  // With 0 those who join take turns.
  const spread = rooms.length > 1 ? 'off' : '0';
  const node = await startTestNode({ SFU_PROCESSES: String(processes), SFU_ROOM_SPREAD_PERCENT: spread });
  const peers = fork(new URL('./sfu-peers.ts', import.meta.url));
  try {
    for (const room of rooms) await fill(node, peers, room, Math.floor(SUBSCRIBERS / rooms.length));
    await ask(peers, start);
    await sleep(WARM_UP_MS);
    await everybodyReceives(peers);
    const before = await sample(node.node.pids(), peers);
    await ask(peers, start);
    await sleep(MEASURE_MS);
    const after = await sample(node.node.pids(), peers);
    const received = after.received - before.received;
    return {
      cpuMicrosPerPacket: ((after.cpuMs - before.cpuMs) * 1000) / received,
      expected: (after.sent - before.sent) * Math.floor(SUBSCRIBERS / rooms.length),
      received,
      droppedAtPeers: after.droppedAtPeers - before.droppedAtPeers,
      droppedAtNode: after.droppedAtNode - before.droppedAtNode,
    };
  } finally {
    peers.disconnect();
    await once(peers, 'exit');
    await node.stop();
  }
}

/** Who begins only while it is counted has missed what came before their key frame: no loss. */
async function everybodyReceives(peers: ChildProcess): Promise<void> {
  for (let second = 0; second < CONNECT_S_MAX; second += 1) {
    const { silent } = (await ask(peers, { kind: 'totals' })) as Totals;
    if (silent === 0) return;
    await sleep(1000);
  }
  throw new Error('not every subscriber connects');
}

const start: PeerRequest = { kind: 'send', packetsPerSecond: PACKETS_PER_SECOND, bytes: PACKET_BYTES };

/** One publisher, and everybody else subscribed to it. */
async function fill(
  { connect }: Awaited<ReturnType<typeof startTestNode>>,
  peers: ChildProcess,
  room: string,
  subscribers: number,
): Promise<void> {
  const offers = new Map<string, (description: Description) => void>();
  const control = await connect({
    onEvent: ({ type, data }) => {
      if (type === 'sub.offer') offers.get(data.participant)?.(data.description as Description);
    },
  });
  await control.command('room.open', { room });
  const join = (participant: string, autoSubscribe: boolean) =>
    control.command('participant.add', {
      ...{ room, participant, identity: participant, autoSubscribe },
      permissions: everything,
    });
  await join(`publisher of ${room}`, false);
  const answer = await control.command('pub.offer', {
    room,
    participant: `publisher of ${room}`,
    tracks: [{ cid: 'bench', kind: 'VIDEO', source: 'CAMERA' }],
    description: (await ask(peers, { kind: 'offer' })) as Description,
  });
  await ask(peers, { kind: 'answered', description: answer.description as Description });
  for (let index = 0; index < subscribers; index += 1) {
    const participant = `subscriber-${index} of ${room}`;
    const first = Promise.withResolvers<Description>();
    offers.set(participant, first.resolve);
    await join(participant, true);
    const description = (await ask(peers, { kind: 'subscribe', description: await first.promise })) as Description;
    // Where the track came after the transport, there is a second offer without one.
    const again = { room, participant, revision: 2, description: { media: [] } };
    offers.set(participant, () => void control.command('sub.answer', again));
    await control.command('sub.answer', { room, participant, revision: 1, description });
  }
}

/** With the publisher stopped, when all that it sent has arrived or is lost. */
async function sample(pids: readonly number[], peers: ChildProcess) {
  await ask(peers, { kind: 'stop' });
  const totals = async () => (await ask(peers, { kind: 'totals' })) as Totals;
  let last = await totals();
  for (;;) {
    await sleep(QUIET_MS);
    const now = await totals();
    if (now.received === last.received) break;
    last = now;
  }
  const cpus = await Promise.all(pids.map((pid) => processCpuMs(pid)));
  const [droppedAtPeers, droppedAtNode] = await Promise.all([socketDrops([peers.pid]), socketDrops(pids)]);
  return { ...last, cpuMs: cpus.reduce<number>((sum, cpuMs) => sum + (cpuMs ?? 0), 0), droppedAtPeers, droppedAtNode };
}

function ask(peers: ChildProcess, request: PeerRequest): Promise<unknown> {
  return new Promise((resolve) => {
    peers.once('message', (message: { answer: unknown }) => resolve(message.answer));
    peers.send(request);
  });
}
