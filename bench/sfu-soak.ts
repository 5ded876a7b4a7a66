/**
 * A room under churn for a while, by hand: `node bench/sfu-soak.ts [minutes] [processes]`. Ten participants, one of them
 * joining, leaving or muting every 250 ms, each publishing and receiving, in turns in each media process; prints the
 * memory of the media processes as it goes. Fails when one of them crashed, or when the memory of all together in the
 * last third is more than 5 % above that of the middle third.
 */

import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaEvents } from '@parley/contract/media-control';
import type { Description } from '@parley/media-description';
import { startTestNode } from '../apps/sfu/testkit/node.ts';
import { everything } from '../apps/sfu/testkit/permissions.ts';
import type { PeerRequest } from './sfu-peers.ts';

const [minutes = 10, processes = 1] = process.argv.slice(2).map(Number);
const room = 'soak';
const offers = new Map<string, (offer: MediaEvents['sub.offer']) => void>();
// With 0 those who join take turns.
const kit = await startTestNode({ SFU_PROCESSES: String(processes), SFU_ROOM_SPREAD_PERCENT: '0' });
const control = await kit.connect({
  onEvent: ({ type, data }) => {
    if (type === 'sub.offer') offers.get(data.participant)?.(data);
  },
});
await control.command('room.open', { room });
const pids = kit.node.pids();
/** Another process in its place is another one that has ended. */
const crashed = (): number => kit.node.pids().filter((pid) => !pids.includes(pid)).length;
const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
const memoryBytes = (): number => kit.node.pids().reduce((sum, pid) => sum + residentBytes(pid), 0);

/** Each participant is a process of its own peers: what it leaks is not the node's. */
async function join(participant: string): Promise<Present> {
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
  const describe = async (request: PeerRequest) => (await ask(request)) as Description;
  let isFirst = true;
  offers.set(participant, async ({ revision, description }) => {
    const answer = isFirst ? await describe({ kind: 'subscribe', description }) : { media: [] };
    isFirst = false;
    const data = { room, participant, revision, description: answer };
    await control.command('sub.answer', data).catch(() => {});
  });
  await control.command('participant.add', {
    ...{ room, participant, identity: participant, permissions: everything, autoSubscribe: true },
  });
  const description = await describe({ kind: 'offer' });
  const answer = await control.command('pub.offer', {
    ...{ room, participant, tracks: [{ cid: 'bench', kind: 'VIDEO', source: 'CAMERA' }], description },
  });
  const trackId = answer.tracks[0]?.trackId ?? '';
  let isMuted = false;
  await ask({ kind: 'answered', description: answer.description as Description });
  await ask({ kind: 'send', packetsPerSecond: 30, bytes: 900 });
  return {
    async leave() {
      offers.delete(participant);
      await control.command('participant.remove', { room, participant, reason: 'CLIENT_INITIATED' });
      peers.disconnect();
    },
    async toggleMute() {
      isMuted = !isMuted;
      const data = { room, participant, trackId, muted: isMuted, by: 'PUBLISHER' } as const;
      await control.command('track.mute', data);
    },
  };
}

interface Present {
  leave(): Promise<void>;
  toggleMute(): Promise<void>;
}

const present: Present[] = [];
/** Resident memory, every second. */
const samples: number[] = [];
const sampling = setInterval(() => samples.push(memoryBytes()), 1_000);
const started = performance.now();
let joins = 0;
let said = 0;
while (performance.now() - started < minutes * 60_000) {
  if (present.length < 10) {
    joins += 1;
    present.push(await join(`ps_${joins}`));
  } else await present.shift()?.leave();
  await present[joins % Math.max(1, present.length)]?.toggleMute();
  await sleep(250);
  const minute = Math.floor((performance.now() - started) / 30_000);
  if (minute === said) continue;
  said = minute;
  console.log(`${minute / 2} min: ${(memoryBytes() / 2 ** 20).toFixed(1)} MiB, ${joins} joins, ${crashed()} crashes`);
}
clearInterval(sampling);
// Stopping it looks like losing it.
const crashes = crashed();
for (const { leave } of present) await leave();
await kit.stop();
const third = Math.floor(samples.length / 3);
const [middle, last] = [mean(samples.slice(third, 2 * third)), mean(samples.slice(2 * third))];
const growth = (last / middle - 1) * 100;
const slope = perMinute(samples.slice(samples.length >> 1)) / 2 ** 20;
console.log(
  `middle third ${(middle / 2 ** 20).toFixed(1)} MiB, last third ${(last / 2 ** 20).toFixed(1)} MiB: ${growth.toFixed(1)} %; ` +
    `second half ${slope.toFixed(2)} MiB a minute; ${crashes} crashes`,
);
process.exitCode = crashes > 0 || growth > 5 ? 1 : 0;

/** How much a value of each second grows in a minute: the line that fits them best. */
function perMinute(values: readonly number[]): number {
  const [middleAt, middleValue] = [(values.length - 1) / 2, mean(values)];
  const covariance = values.reduce((sum, value, at) => sum + (at - middleAt) * (value - middleValue), 0);
  const variance = values.reduce((sum, _, at) => sum + (at - middleAt) ** 2, 0);
  return (covariance / variance) * 60;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
