/**
 * What a key frame does on its way out, in counts and without a clock: `node tools/proof/key-frame-burst.ts`. One comes
 * to the outlet of a `Downlink` whose path carries 1.5 Mbit/s and is estimated at that, sent by a browser that paces 2.4
 * Mbit/s of layers at 2.5 times that, or all at once; it leaves as it comes, or as the downlink paces it.
 */
import { Deliveries } from '../../apps/sfu/src/media/deliveries.ts';
import { Downlink } from '../../apps/sfu/src/media/downlink.ts';
import type { PeerTransport } from '../../apps/sfu/src/media/peer-transport.ts';
import { rtpPacket } from '../../apps/sfu/testkit/packets.ts';

const PATH_BPS = 1_500_000;
const PACKET_BYTES = 1200;
const BROWSER_BPS = 2_400_000 * 2.5;
const WINDOW_MS = 20;
const FEEDBACK_MS = 60;
const msOf = (bytes: number, bps: number): number => (bytes * 8000) / bps;

interface Sent {
  at: number;
  bytes: number;
}

/** Through the outlet itself: what reaches the socket of what comes at these times, and when. */
function sendAll(times: readonly number[]): Sent[] {
  const out: Sent[] = [];
  let now = 0;
  const events = { streamState() {}, streamStates() {}, demandChanged() {} };
  const downlink = new Downlink({ slots: () => [], isAdaptive: false, isLarge: () => false, spokeAt: () => 0, events });
  const send = (packet: Buffer): boolean => out.push({ at: now, bytes: packet.length }) > 0;
  // What an outlet uses of a transport.
  const transport: Pick<PeerTransport, 'send' | 'isOpen' | 'sentBytes'> = { send, isOpen: true, sentBytes: 0 };
  downlink.reset(transport as PeerTransport);
  // The estimate is nine tenths of a measured capacity.
  downlink.estimator.feedback(PATH_BPS / 0.9, now);
  downlink.allocate(now);
  const outlet = downlink.outlet('video');
  const payload = new Uint8Array(PACKET_BYTES - 12);
  const tickUntil = (at: number): void => {
    for (let tick = (Math.floor(now / WINDOW_MS) + 1) * WINDOW_MS; tick <= at; tick += WINDOW_MS) {
      now = tick;
      downlink.tick(now);
    }
    now = at;
  };
  times.forEach((at, sequence) => {
    tickUntil(at);
    outlet.rtp(rtpPacket({ sequence, payload }), now);
  });
  tickUntil(now + 1000);
  return out;
}

function largestWindow(out: readonly Sent[]): number {
  const sums = out.map(({ at }) =>
    out.reduce((sum, other) => sum + (other.at >= at && other.at < at + WINDOW_MS ? other.bytes : 0), 0),
  );
  return Math.max(...sums);
}

/** Over the path: the longest wait in its queue, when the last packet is through, and what overflows a queue of so much. */
function carry(out: readonly Sent[], queueMsMax: number) {
  const deliveries = new Deliveries();
  const arrivals: number[] = [];
  let freeAt = Number.NEGATIVE_INFINITY;
  let waitMs = 0;
  let lost = 0;
  const estimates: number[] = [];
  // A second of calm first, by which the delay is known.
  const calm = Array.from({ length: 50 }, (_, index) => ({ at: index * WINDOW_MS - 1000, bytes: PACKET_BYTES }));
  for (const { at, bytes } of [...calm, ...out]) {
    deliveries.sent(bytes, at);
    const start = Math.max(at, freeAt);
    if (start - at > queueMsMax) {
      lost += 1;
      arrivals.push(Number.NaN);
      continue;
    }
    waitMs = Math.max(waitMs, start - at);
    freeAt = start + msOf(bytes, PATH_BPS);
    arrivals.push(freeAt);
  }
  for (let base = 0; base < arrivals.length; base += FEEDBACK_MS / WINDOW_MS) {
    const some = Float64Array.from(arrivals.slice(base, base + FEEDBACK_MS / WINDOW_MS));
    const bps = deliveries.onFeedback({ base, count: some.length, arrivals: some });
    if (bps !== undefined) estimates.push(bps);
  }
  return { waitMs, doneMs: freeAt, lost, estimate: estimates.length > 0 ? Math.min(...estimates) : undefined };
}

const rows = [15_000, 40_000, 80_000].flatMap((bytes) => {
  const packets = Math.ceil(bytes / PACKET_BYTES);
  const comes = {
    'paced by the browser': Array.from({ length: packets }, (_, index) => msOf(index * PACKET_BYTES, BROWSER_BPS)),
    'at once': Array.from({ length: packets }, () => 0),
  };
  return Object.entries(comes).flatMap(([how, arrivals]) => {
    const asItComes = arrivals.map((at) => ({ at, bytes: PACKET_BYTES }));
    return Object.entries({ 'as it comes': asItComes, paced: sendAll(arrivals) }).map(([leaves, out]) => {
      const { waitMs, doneMs, estimate } = carry(out, Number.POSITIVE_INFINITY);
      return {
        'key frame': `${bytes / 1000} kB, ${how}`,
        leaves,
        'bytes in 20 ms': largestWindow(out),
        'waits with us at most, ms': Math.round(Math.max(...out.map(({ at }, index) => at - (arrivals[index] ?? 0)))),
        'waits on the path at most, ms': Math.round(waitMs),
        'is there after, ms': Math.round(doneMs),
        'lost at 300, 100, 50 ms of queue': [300, 100, 50].map((ms) => carry(out, ms).lost).join(', '),
        'capacity by feedback': estimate === undefined ? 'none' : `${(estimate / 1e6).toFixed(2)} Mbit/s`,
      };
    });
  });
});
console.table(rows);
