import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaEvents } from '@parley/contract/media-control';
import type { Description } from '@parley/media-description';
import { Worker } from '../apps/sfu/src/control/workers.ts';
import { systemClock } from '../apps/sfu/src/media/clock.ts';
import { freeUdpPort } from '../apps/sfu/testkit/node.ts';
import type { Row } from './ratio.ts';
import type { PeerRequest } from './sfu-peers.ts';

/** Packets out per CPU-second of a media process: one publisher, N subscribers, DTLS-SRTP on both sides. */
const FLOOR = 50_000;
const PACKET_BYTES = 1100;
const WARM_UP_MS = 2000;
const MEASURE_MS = 4000;
/** A process tells its load once a second. */
const LOAD_MS = 2500;
const ROUNDS = 3;
/** So that the subscribers, who share the machine, are not what is being measured. */
const PACKETS_OUT_PER_SECOND = 10_000;

interface Outcome {
  perCpuSecond: number;
  /** Share of all packets sent that the subscribers got. */
  arrived: number;
  memoryBytesEach: number;
}

export async function rows(): Promise<Row[]> {
  const result: Row[] = [];
  for (const subscribers of [25, 75]) {
    const outcomes: Outcome[] = [];
    for (let round = 0; round < ROUNDS; round += 1) outcomes.push(await measure(subscribers));
    const best = outcomes.reduce((a, b) => (b.perCpuSecond > a.perCpuSecond ? b : a));
    const all = outcomes.map(({ perCpuSecond }) => Math.round(perCpuSecond / 1000));
    result.push({
      question: `SFU packets out per CPU-second, ${subscribers} subscribers / ${FLOOR}`,
      ratio: best.perCpuSecond / FLOOR,
      floor: { atLeast: 1 },
      detail: `${Math.round(best.perCpuSecond)} packets a CPU-second (rounds: ${all.join('k, ')}k), ${(best.arrived * 100).toFixed(1)} % arrived, ${Math.round(best.memoryBytesEach / 1024)} KiB a participant`,
    });
  }
  return result;
}

async function measure(subscribers: number): Promise<Outcome> {
  const udpPort = await freeUdpPort();
  const offers = new Map<string, (description: Description) => void>();
  const worker = new Worker({
    index: 0,
    clock: systemClock,
    settings: { udpPort, bindAddress: null, candidates: [`udp 2130706431 127.0.0.1 ${udpPort} host`] },
    onEvent: (type, data) => {
      if (type !== 'sub.offer') return;
      const { participant, description } = data as MediaEvents['sub.offer'];
      offers.get(participant)?.(description);
      offers.delete(participant);
    },
    onLost: () => {},
    onError: (error) => console.error(error),
  });
  await worker.started;
  const peers = fork(new URL('./sfu-peers.ts', import.meta.url));
  try {
    await call(worker, peers, subscribers, offers);
    return await count(worker, peers, subscribers);
  } finally {
    peers.disconnect();
    await worker.stop();
  }
}

async function call(
  worker: Worker,
  peers: ChildProcess,
  subscribers: number,
  offers: Map<string, (description: Description) => void>,
): Promise<void> {
  const room = 'bench';
  const permissions = {
    join: true,
    subscribe: true,
    publish: true,
    publishAudio: false,
    publishVideo: false,
    publishData: true,
  };
  await worker.request('room.open', { room });
  const join = (participant: string, autoSubscribe: boolean) =>
    worker.request('participant.add', { room, participant, identity: participant, permissions, autoSubscribe });
  await join('publisher', false);
  const description = await ask(peers, { kind: 'offer' });
  const track = { cid: 'bench', kind: 'VIDEO', source: 'CAMERA' };
  const answer = (await worker.request('pub.offer', {
    room,
    participant: 'publisher',
    tracks: [track],
    description,
  })) as { description: Description };
  await ask(peers, { kind: 'answered', description: answer.description });
  for (let index = 0; index < subscribers; index += 1) {
    const participant = `subscriber-${index}`;
    const offered = new Promise<Description>((resolve) => offers.set(participant, resolve));
    await join(participant, true);
    const subscription = await ask(peers, { kind: 'subscribe', description: await offered });
    await worker.request('sub.answer', { room, participant, revision: 1, description: subscription });
  }
  await ask(peers, {
    kind: 'send',
    packetsPerSecond: Math.round(PACKETS_OUT_PER_SECOND / subscribers),
    bytes: PACKET_BYTES,
  });
}

async function count(worker: Worker, peers: ChildProcess, subscribers: number): Promise<Outcome> {
  await sleep(WARM_UP_MS);
  const before = worker.load;
  await sleep(MEASURE_MS);
  const after = worker.load;
  await ask(peers, { kind: 'stop' });
  await sleep(LOAD_MS);
  const received = Number(await ask(peers, { kind: 'count' }));
  if (!before || !after || !worker.load) throw new Error('The media process reported no load.');
  return {
    perCpuSecond: (after.outPackets - before.outPackets) / ((after.cpuMicros - before.cpuMicros) / 1e6),
    arrived: received / worker.load.outPackets,
    memoryBytesEach: after.memoryBytes / (subscribers + 1),
  };
}

function ask(peers: ChildProcess, request: PeerRequest): Promise<unknown> {
  return new Promise((resolve) => {
    peers.once('message', (message: { answer: unknown }) => resolve(message.answer));
    peers.send(request);
  });
}
