/**
 * One publisher to many subscribers over two nodes, real DTLS-SRTP peers with small packets: which share of the packets
 * arrives once the busiest media process needs 55-60 % of a core, or as much of it as the machine bears beside the peers:
 * `node tools/proof/one-to-thousand.ts [subscribers] [packets a second to begin with]`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Description } from '@parley/media-description';
import { processCpuMs } from '../../apps/server/testkit/kit/cpu.ts';
import { startTestNode } from '../../apps/sfu/testkit/node.ts';
import { everything } from '../../apps/sfu/testkit/permissions.ts';
import type { PeerRequest } from '../../bench/sfu-peers.ts';
import { socketDrops } from '../../bench/socket-drops.ts';

const [subscribers = 1000, firstRate = 8] = process.argv.slice(2).map(Number);
const BYTES = 200;
const WARM_UP_MS = 5000;
const CONNECT_S_MAX = 60;
const STEP_MS = 5000;
const STEPS_MAX = 8;
const MEASURE_MS = 20_000;
const QUIET_MS = 1000;
/** Of a core: what the busiest media process is brought to, and what it may need in the end. */
const BUSY_AIM = 0.575;
const BUSY_MAX = 0.6;
/** Of all cores: beyond it the peers read late, and what they lose says nothing about the nodes. */
const MACHINE_MAX = 0.9;
/** So near to its aim a rate stays as it is. */
const NEAR = 0.04;
/** The source sends frames of four packets. */
const FRAME_PACKETS = 4;
/** Peers of a process: each is several threads' work. */
const PEERS_EACH = 250;
const room = 'large';
const startedAt = performance.now();

const offers = new Map<string, (description: Description) => void>();
const nodes = await Promise.all(
  ['one', 'two'].map(async (name) => {
    const kit = await startTestNode({ SFU_NAME: name, SFU_PIPE_PORT: '0', SFU_PROCESSES: '1' });
    const control = await kit.connect({
      onEvent: ({ type, data }) => {
        if (type === 'sub.offer') offers.get(data.participant)?.(data.description as Description);
      },
    });
    const { pipes } = control.hello;
    if (!pipes) throw new Error('the node has no pipes');
    await control.command('room.open', { room });
    return { name, kit, control, pipes };
  }),
);
type Node = (typeof nodes)[number];
const [home] = nodes as [Node, Node];
for (const { name, control, pipes } of nodes) {
  const others = nodes.filter((other) => other.name !== name);
  for (const other of others) await control.command('node.meet', { node: other.name, pipes: other.pipes });
  const linked = others.map((other) => ({ node: other.name, pipes: other.pipes.id }));
  await control.command('room.link', { room, own: pipes.id, nodes: linked });
}

let joined = 0;
const forks = Array.from({ length: Math.ceil(subscribers / PEERS_EACH) }, () =>
  fork(new URL('../../bench/sfu-peers.ts', import.meta.url)),
);
const [first] = forks as [ChildProcess];

await join(home, 'publisher', false);
const { description } = await home.control.command('pub.offer', {
  ...{ room, participant: 'publisher', tracks: [{ cid: 'bench', kind: 'VIDEO', source: 'CAMERA' }] },
  description: (await ask(first, { kind: 'offer' })) as Description,
});
await ask(first, { kind: 'answered', description: description as Description });
await Promise.all(
  forks.map(async (peers, group) => {
    for (let index = group; index < subscribers; index += forks.length)
      await subscribe(nodes[Math.floor(index / forks.length) % 2] as Node, peers, `subscriber-${index}`);
  }),
);
const joinedMs = performance.now() - startedAt;
// The first picture reaches everybody before anything is counted.
await ask(first, { kind: 'send', packetsPerSecond: firstRate, bytes: BYTES });
await sleep(WARM_UP_MS);
for (let round = 0; round < CONNECT_S_MAX && (await totals()).silent > 0; round += 1) await sleep(1000);
const { silent } = await totals();
console.log(`all asked after ${Math.round(joinedMs / 1000)} s, ${silent} have got nothing`);

const { rate, limit } = await findRate();
const outcome = await measure(rate, MEASURE_MS);
const { sent, received, droppedAtPeers, droppedAtNodes, busiest, machine } = outcome;
const missing = sent * (subscribers - silent) - received;
// Reports that were dropped at the peers count there too: as many packets of media can hide behind them.
const lost = Math.max(0, missing - droppedAtPeers);
console.log(
  `${subscribers} subscribers of one publisher over two nodes, ${rate} packets of ${BYTES} bytes a second (${limit})\n` +
    `${silent} never connected; of the others ${missing} of ${sent * (subscribers - silent)} packets are missing: ` +
    `${droppedAtPeers} datagrams dropped by the kernel at sockets of the peers, ${lost} packets lost from overload ` +
    `(${droppedAtNodes} datagrams dropped by the kernel at sockets of the nodes)\n` +
    `media processes: ${outcome.busy.map(percent).join(' and ')} of a core, ${outcome.microsPerPacket.toFixed(1)} µs a packet; ` +
    `machine: ${percent(machine)} of ${cpus().length} cores, load ${loadavg()[0]?.toFixed(0)}`,
);
for (const peers of forks) peers.disconnect();
await Promise.all(nodes.map(({ kit }) => kit.stop()));
process.exit(lost === 0 && silent === 0 && sent > 0 && busiest <= BUSY_MAX ? 0 : 1);

/** Raised in steps until the busiest media process has its share of a core, or the machine has none left for the peers. */
async function findRate(): Promise<{ rate: number; limit: string }> {
  let rate = whole(firstRate);
  let limit = '';
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const { busiest, machine } = await measure(rate, STEP_MS);
    const [ofProcess, ofMachine] = [BUSY_AIM / busiest, MACHINE_MAX / machine];
    const growth = Math.min(2, ofProcess, ofMachine);
    limit =
      ofProcess <= ofMachine
        ? `the busiest media process at ${percent(busiest)} of a core`
        : `no more, because the ${cpus().length} cores of the machine are full: nodes and peers share them`;
    console.log(`${rate} packets a second: ${percent(busiest)} of a core, ${percent(machine)} of the machine`);
    const next = whole(rate * growth);
    // From below: what is measured then must not be above the bar.
    if (next === rate || (growth >= 1 && growth - 1 < NEAR)) break;
    rate = next;
  }
  return { rate, limit };
}

/** In whole frames, rounded down. */
function whole(rate: number): number {
  return Math.max(FRAME_PACKETS, Math.floor(rate / FRAME_PACKETS) * FRAME_PACKETS);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

async function measure(packetsPerSecond: number, ms: number) {
  const before = await quietTotals();
  const from = await cpuTimes();
  await ask(first, { kind: 'send', packetsPerSecond, bytes: BYTES });
  await sleep(ms);
  // While it is still sent: the wait for the last packets is no load.
  const to = await cpuTimes();
  const after = await quietTotals();
  const processMs = to.processes.map((cpuMs, index) => cpuMs - (from.processes[index] ?? 0));
  const busy = processMs.map((cpuMs) => cpuMs / (to.at - from.at));
  const received = after.received - before.received;
  return {
    sent: after.sent - before.sent,
    received,
    droppedAtPeers: after.droppedAtPeers - before.droppedAtPeers,
    droppedAtNodes: after.droppedAtNodes - before.droppedAtNodes,
    busy,
    busiest: Math.max(...busy),
    machine: 1 - (to.idle - from.idle) / (to.all - from.all),
    microsPerPacket: (processMs.reduce((sum, cpuMs) => sum + cpuMs, 0) * 1000) / received,
  };
}

function mediaPids(): number[] {
  return nodes.flatMap(({ kit }) => kit.node.pids());
}

async function cpuTimes() {
  const times = cpus().map((cpu) => cpu.times);
  return {
    at: performance.now(),
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0),
    processes: await Promise.all(mediaPids().map(async (pid) => (await processCpuMs(pid)) ?? 0)),
  };
}

function join({ control }: Node, participant: string, autoSubscribe: boolean) {
  const who = { room, participant, identity: participant, autoSubscribe, brief: true };
  return control.command('participant.add', { ...who, permissions: everything });
}

async function subscribe(node: Node, peers: ChildProcess, participant: string): Promise<void> {
  const offered = Promise.withResolvers<Description>();
  offers.set(participant, offered.resolve);
  await join(node, participant, true);
  const answer = (await ask(peers, { kind: 'subscribe', description: await offered.promise })) as Description;
  // Where the track came after the transport, there is a second offer without one.
  const again = { room, participant, revision: 2, description: { media: [] } };
  offers.set(participant, () => void node.control.command('sub.answer', again));
  await node.control.command('sub.answer', { room, participant, revision: 1, description: answer });
  joined += 1;
  if (joined % 100 === 0) console.log(`${joined} asked after ${Math.round((performance.now() - startedAt) / 1000)} s`);
}

/** With the publisher stopped, when all that it sent has arrived or is lost. */
async function quietTotals() {
  await ask(first, { kind: 'stop' });
  let last = await totals();
  for (;;) {
    await sleep(QUIET_MS);
    const now = await totals();
    if (now.received === last.received) break;
    last = now;
  }
  const [droppedAtPeers, droppedAtNodes] = await Promise.all([
    socketDrops(forks.map(({ pid }) => pid)),
    socketDrops(mediaPids()),
  ]);
  return { ...last, droppedAtPeers, droppedAtNodes };
}

async function totals() {
  const all = await Promise.all(
    forks.map(
      async (peers) => (await ask(peers, { kind: 'totals' })) as Record<'sent' | 'received' | 'silent', number>,
    ),
  );
  const sum = (of: 'sent' | 'received' | 'silent') => all.reduce((count, one) => count + one[of], 0);
  return { sent: sum('sent'), received: sum('received'), silent: sum('silent') };
}

function ask(peers: ChildProcess, request: PeerRequest): Promise<unknown> {
  return new Promise((resolve) => {
    peers.once('message', (message: { answer: unknown }) => resolve(message.answer));
    peers.send(request);
  });
}
