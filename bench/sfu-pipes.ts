import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Description } from '@parley/media-description';
import { startTestNode } from '../apps/sfu/testkit/node.ts';
import { everything } from '../apps/sfu/testkit/permissions.ts';
import { pipeAlone } from './pipe-alone.ts';
import type { Answer } from './ratio.ts';
import type { PeerRequest } from './sfu-peers.ts';
import { socketDrops } from './socket-drops.ts';

/** What a packet costs in a room over two media processes, all of their CPU time together, against a room in one. */
const FLOOR = 1.15;
/**
 * A room is spread when its process is busy to 60 %, which these come close to on the machine of the records. With half
 * of them most of what is measured is the waking of a second process, for packets that one could take (1.18).
 */
const SUBSCRIBERS = 150;
const PACKETS_PER_SECOND = 200;
const PACKET_BYTES = 1100;
const WARM_UP_MS = 2000;
/** On a busy machine some connect late. */
const CONNECT_S_MAX = 30;
/** Short, and many: what a packet costs here changes by a quarter within half a minute. */
const TURN_MS = 2000;
const ROUNDS = 15;
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
  const stages = [await openStage(1), await openStage(2), await openStage(2, ['first', 'second'])];
  const outcomes: Outcome[][] = stages.map(() => []);
  try {
    // All are there all the while and send in turns, so that a busy machine hits them alike.
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [at, stage] of stages.entries()) outcomes[at]?.push(await stage.measure());
  } finally {
    for (const stage of stages) await stage.stop();
  }
  const [one = [], two = [], apart = []] = outcomes;
  const [single, spread] = [median(one.map(costOf)), median(two.map(costOf))];
  return [
    {
      question: `CPU a packet in a room over two processes / in one, ${SUBSCRIBERS} subscribers`,
      // A turn of one and the next of two had the same machine; the best of each may not have.
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

interface Stage {
  /** One turn. */
  measure(): Promise<Outcome>;
  stop(): Promise<void>;
}

async function openStage(processes: number, rooms: readonly string[] = ['bench']): Promise<Stage> {
  // With 0 those who join take turns.
  const spread = rooms.length > 1 ? 'off' : '0';
  const node = await startTestNode({ SFU_PROCESSES: String(processes), SFU_ROOM_SPREAD_PERCENT: spread });
  const peers = fork(new URL('./sfu-peers.ts', import.meta.url));
  const subscribers = Math.floor(SUBSCRIBERS / rooms.length);
  for (const room of rooms) await fill(node, peers, room, subscribers);
  await ask(peers, start);
  await sleep(WARM_UP_MS);
  await everybodyReceives(peers);
  await sample(node.node.pids(), peers);
  return {
    async measure() {
      const before = await sample(node.node.pids(), peers);
      await ask(peers, start);
      await sleep(TURN_MS);
      const after = await sample(node.node.pids(), peers);
      const received = after.received - before.received;
      return {
        cpuMicrosPerPacket: (after.cpuMicros - before.cpuMicros) / received,
        expected: (after.sent - before.sent) * subscribers,
        received,
        droppedAtPeers: after.droppedAtPeers - before.droppedAtPeers,
        droppedAtNode: after.droppedAtNode - before.droppedAtNode,
      };
    },
    async stop() {
      peers.disconnect();
      await once(peers, 'exit');
      await node.stop();
    },
  };
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
  const cpus = await Promise.all(pids.map(cpuMicrosOf));
  const [droppedAtPeers, droppedAtNode] = await Promise.all([socketDrops([peers.pid]), socketDrops(pids)]);
  return { ...last, cpuMicros: cpus.reduce((sum, one) => sum + one, 0), droppedAtPeers, droppedAtNode };
}

/** Of all threads to the nanosecond, for a turn is short; those of a media process do not end. */
async function cpuMicrosOf(pid: number): Promise<number> {
  const tasks = `/proc/${pid}/task`;
  const books = await Promise.all((await readdir(tasks)).map((task) => readFile(`${tasks}/${task}/schedstat`, 'utf8')));
  return books.reduce((sum, book) => sum + Number(book.split(' ')[0]) / 1000, 0);
}

function ask(peers: ChildProcess, request: PeerRequest): Promise<unknown> {
  return new Promise((resolve) => {
    peers.once('message', (message: { answer: unknown }) => resolve(message.answer));
    peers.send(request);
  });
}
