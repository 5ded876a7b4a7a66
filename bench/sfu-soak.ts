/**
 * A room under churn for a while, by hand: `node bench/sfu-soak.ts [minutes]`. Ten participants, one of them joining or
 * leaving every 250 ms, each publishing and receiving; prints the memory of the media process as it goes.
 */
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaEvents } from '@parley/contract/media-control';
import type { Description } from '@parley/media-description';
import { Worker } from '../apps/sfu/src/control/workers.ts';
import { systemClock } from '../apps/sfu/src/media/clock.ts';
import { freeUdpPort } from '../apps/sfu/testkit/node.ts';
import type { PeerRequest } from './sfu-peers.ts';

const minutes = Number(process.argv[2] ?? 10);
const room = 'soak';
const permissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: false,
  publishVideo: false,
  publishData: true,
};
const udpPort = await freeUdpPort();
const offers = new Map<string, (offer: MediaEvents['sub.offer']) => void>();
let lost = 0;
const worker = new Worker({
  index: 0,
  clock: systemClock,
  settings: { udpPort, bindAddress: null, candidates: [`udp 2130706431 127.0.0.1 ${udpPort} host`] },
  onEvent: (type, data) => {
    if (type === 'sub.offer')
      offers.get((data as MediaEvents['sub.offer']).participant)?.(data as MediaEvents['sub.offer']);
  },
  onLost: () => {
    lost += 1;
  },
  onError: (error) => console.error(error),
});
await worker.started;
await worker.request('room.open', { room });

/** Each participant is a process of its own peers: what it leaks is not the node's. */
async function join(participant: string): Promise<() => Promise<void>> {
  const peers = fork(new URL('./sfu-peers.ts', import.meta.url));
  let queue = Promise.resolve<unknown>(null);
  const ask = (request: PeerRequest): Promise<unknown> => {
    queue = queue.then(
      () =>
        new Promise((resolve) => {
          peers.once('message', (message: { answer: unknown }) => resolve(message.answer));
          peers.send(request);
        }),
    );
    return queue;
  };
  let isFirst = true;
  offers.set(participant, async ({ revision, description }) => {
    const answer = isFirst ? await ask({ kind: 'subscribe', description }) : { media: [] };
    isFirst = false;
    await worker.request('sub.answer', { room, participant, revision, description: answer }).catch(() => {});
  });
  await worker.request('participant.add', {
    room,
    participant,
    identity: participant,
    permissions,
    autoSubscribe: true,
  });
  const description = await ask({ kind: 'offer' });
  const tracks = [{ cid: 'bench', kind: 'VIDEO', source: 'CAMERA' }];
  const answer = (await worker.request('pub.offer', { room, participant, tracks, description })) as {
    description: Description;
  };
  await ask({ kind: 'answered', description: answer.description });
  await ask({ kind: 'send', packetsPerSecond: 30, bytes: 900 });
  return async () => {
    offers.delete(participant);
    await worker.request('participant.remove', { room, participant, reason: 'CLIENT_INITIATED' });
    peers.disconnect();
  };
}

const present: (() => Promise<void>)[] = [];
const started = performance.now();
let joins = 0;
let said = 0;
while (performance.now() - started < minutes * 60_000) {
  if (present.length < 10) {
    joins += 1;
    present.push(await join(`ps_${joins}`));
  } else await present.shift()?.();
  await sleep(250);
  const minute = Math.floor((performance.now() - started) / 30_000);
  if (minute === said) continue;
  said = minute;
  const { memoryBytes = 0, outPackets = 0 } = worker.load ?? {};
  console.log(
    `${minute / 2} min: ${(memoryBytes / 2 ** 20).toFixed(1)} MiB, ${joins} joins, ${outPackets} packets out, ${lost} crashes`,
  );
}
for (const leave of present) await leave();
await worker.stop();
