import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rtpPacket } from '../../testkit/packets.ts';
import { newRtpView, readRtp } from './rtp.ts';
import { Upstream } from './upstream.ts';

const view = newRtpView();
const give = (upstream: Upstream, sequence: number, now: number) => {
  assert.ok(readRtp(rtpPacket({ sequence, timestamp: sequence * 3000, payload: Uint8Array.of(1) }), view));
  return upstream.receive(view, now);
};

test('[MED-15] what is missing is asked for, again after a while, and not once it came', () => {
  const upstream = new Upstream(1, 90_000, true);
  give(upstream, 65_534, 0);
  give(upstream, 2, 10);
  assert.deepEqual(upstream.takeNacks(10), [65_535, 0, 1]);
  assert.deepEqual(upstream.takeNacks(20), []);
  assert.ok(give(upstream, 0, 30));
  assert.deepEqual(upstream.takeNacks(60), [65_535, 1]);
  assert.ok(!give(upstream, 0, 70), 'a second copy is refused');
  give(upstream, 3, 900);
  upstream.takeNacks(900);
  assert.equal(upstream.hasMissing, false, 'given up');
  assert.ok(upstream.hasGivenUp);
});

/** Loses each tenth packet of a source that repeats what is requested after a round trip; requests for each of them. */
function requestsOver(rttMs: number, { losesRepeats = false, knownRttMs = 0 } = {}): number[] {
  const upstream = new Upstream(1, 90_000, true);
  const requests: number[] = [];
  const repeats: { sequence: number; at: number }[] = [];
  for (let now = 0; now < 4000; now += 5) {
    const sequence = now / 5;
    if (sequence % 10 !== 9) give(upstream, sequence, now);
    while ((repeats[0]?.at ?? now + 1) <= now) give(upstream, repeats.shift()?.sequence ?? 0, now);
    if (now % 20 !== 0 && !upstream.hasGap) continue;
    for (const wanted of upstream.takeNacks(now, knownRttMs)) {
      const index = Math.floor(wanted / 10);
      const count = (requests[index] ?? 0) + 1;
      requests[index] = count;
      // Of each fourth packet the first repeat is lost too.
      if (!losesRepeats || index % 4 > 0 || count > 1) repeats.push({ sequence: wanted, at: now + rttMs });
    }
  }
  return requests;
}

test('[MED-103] a lost packet is requested again only when its repeat should have come', () => {
  const learnt = requestsOver(250);
  assert.ok((learnt[0] ?? 0) > 1, 'the first ones, before it is known how long a repeat takes');
  assert.deepEqual(new Set(learnt.slice(10, 70)), new Set([1]));
  assert.deepEqual(
    new Set(requestsOver(250, { knownRttMs: 250 }).slice(0, 70)),
    new Set([1]),
    'on a pipe from the first',
  );
  const lossy = requestsOver(100, { losesRepeats: true }).slice(20, 60);
  const expected = lossy.map((_, index) => (index % 4 > 0 ? 1 : 2));
  assert.deepEqual(lossy, expected, 'a lost repeat is requested again');
  assert.deepEqual(new Set(requestsOver(10).slice(1, 70)), new Set([1]));
});

test('[MED-15] the cache gives back the last packets by number and nothing else', () => {
  fc.assert(
    fc.property(fc.nat(65_535), fc.integer({ min: 1, max: 1500 }), (start, count) => {
      const upstream = new Upstream(1, 90_000, true);
      for (let index = 0; index < count; index += 1) give(upstream, (start + index) & 0xffff, index);
      for (let index = 0; index < count; index += 1) {
        const sequence = (start + index) & 0xffff;
        const packet = upstream.cache?.get(sequence);
        if (count - index <= 512) assert.equal(packet?.readUInt16BE(2), sequence);
        else assert.equal(packet, undefined);
      }
    }),
    { numRuns: 20 },
  );
});

test('[MED-16] a reception report counts what was lost since the last', () => {
  const upstream = new Upstream(7, 90_000, true);
  for (let sequence = 0; sequence < 100; sequence += 1) if (sequence % 4 !== 3) give(upstream, sequence, sequence);
  const report = upstream.report(100);
  assert.equal(report?.packetsLost, 24);
  assert.ok(Math.abs((report?.fractionLost ?? 0) / 256 - 0.24) < 0.01);
  for (let sequence = 100; sequence < 200; sequence += 1) give(upstream, sequence, sequence);
  assert.equal(upstream.report(200)?.fractionLost, 2, 'only the one before 100 was new');
});

const restartAt = (upstream: Upstream, sequence: number, timestamp: number, now: number) => {
  assert.ok(readRtp(rtpPacket({ sequence, timestamp, payload: Uint8Array.of(1) }), view));
  return upstream.receive(view, now);
};

test('[MED-79] a source that restarts its numbers lower is taken up with the second packet in a row', () => {
  for (const isVideo of [true, false]) {
    for (const first of [200, 29_000]) {
      const upstream = new Upstream(1, 90_000, isVideo);
      for (let sequence = 0; sequence < 300; sequence += 1) give(upstream, 29_700 + sequence, sequence);
      assert.equal(restartAt(upstream, first, 7, 400), false);
      assert.equal(restartAt(upstream, first + 1, 7, 401), true);
      assert.ok(upstream.hasRestarted);
      assert.deepEqual(upstream.takeNacks(402), []);
      assert.equal(restartAt(upstream, first + 2, 3007, 420), true);
      assert.equal(upstream.report(430)?.packetsLost, 0);
      if (isVideo) assert.equal(upstream.cache?.get(29_999), undefined, 'nothing from before is repeated');
    }
  }
});

test('[MED-79] packets that come a second time, however late, are no restart', () => {
  const upstream = new Upstream(1, 90_000, true);
  for (let sequence = 0; sequence < 1000; sequence += 1) restartAt(upstream, sequence, sequence * 90, sequence);
  for (let sequence = 100; sequence < 900; sequence += 1)
    assert.equal(restartAt(upstream, sequence, sequence * 90, 1000), false);
  assert.equal(upstream.hasRestarted, false);
});
