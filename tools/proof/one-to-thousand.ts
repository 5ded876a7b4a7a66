/**
 * One publisher to many subscribers over two nodes, real DTLS-SRTP peers with small packets: which share of the packets
 * arrives, and how busy the media processes were: `node tools/proof/one-to-thousand.ts [subscribers] [packets a second]`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Description } from '@parley/media-description';
import { processCpuMs } from '../../apps/server/testkit/kit/cpu.ts';
import { everything } from '../../apps/sfu/testkit/call.ts';
import { startTestNode } from '../../apps/sfu/testkit/node.ts';
import type { PeerRequest } from '../../bench/sfu-peers.ts';

const [subscribers = 1000, packetsPerSecond = 5] = process.argv.slice(2).map(Number);
const BYTES = 200;
const WARM_UP_MS = 5000;
const CONNECT_S_MAX = 60;
const MEASURE_MS = 20_000;
const QUIET_MS = 1000;
const BUSY_MAX = 0.6;
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
await ask(first, { kind: 'send', packetsPerSecond, bytes: BYTES });
await sleep(WARM_UP_MS);
for (let round = 0; round < CONNECT_S_MAX && (await totals()).silent > 0; round += 1) await sleep(1000);
const { silent } = await totals();

const before = await sample();
await ask(first, { kind: 'send', packetsPerSecond, bytes: BYTES });
await sleep(MEASURE_MS);
const after = await sample();
const sent = after.sent - before.sent;
const received = after.received - before.received;
const lost = sent * (subscribers - silent) - received;
const busy = after.cpuMs.map((cpuMs, index) => (cpuMs - (before.cpuMs[index] ?? 0)) / (after.at - before.at));
console.log(
  `${subscribers} subscribers of one publisher over two nodes, all in after ${Math.round(joinedMs / 1000)} s; ` +
    `${silent} never connected; ${sent} packets of ${BYTES} bytes sent, ${received} received, ${lost} lost\n` +
    `media processes: ${busy.map((share) => `${(share * 100).toFixed(1)} %`).join(' and ')} of a core, ` +
    `${((after.cpuMs.reduce((sum, cpuMs, index) => sum + cpuMs - (before.cpuMs[index] ?? 0), 0) * 1000) / received).toFixed(1)} µs a packet; ` +
    `load of the machine ${loadavg()[0]?.toFixed(0)}`,
);
for (const peers of forks) peers.disconnect();
await Promise.all(nodes.map(({ kit }) => kit.stop()));
process.exit(lost === 0 && silent === 0 && sent > 0 && Math.max(...busy) <= BUSY_MAX ? 0 : 1);

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
}

/** With the publisher stopped, when all that it sent has arrived or is lost. */
async function sample() {
  await ask(first, { kind: 'stop' });
  let last = await totals();
  for (;;) {
    await sleep(QUIET_MS);
    const now = await totals();
    if (now.received === last.received) break;
    last = now;
  }
  const pids = nodes.flatMap(({ kit }) => kit.node.pids());
  const cpuMs = await Promise.all(pids.map(async (pid) => (await processCpuMs(pid)) ?? 0));
  return { ...last, cpuMs, at: performance.now() };
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
