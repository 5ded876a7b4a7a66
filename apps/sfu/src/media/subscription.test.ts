import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { PacketCache } from './packet-cache.ts';
import { PathBudget } from './path-budget.ts';
import { newVp8Descriptor, readVp8, startsKeyFrame } from './payload.ts';
import { newRtpView, readRtp, sequenceDistance, timestampDistance } from './rtp.ts';
import { Subscription } from './subscription.ts';
import { PacketTemplate } from './template.ts';

const ids = { ssrc: 1000, rtxSsrc: 1001, payloadType: 96, redPayloadType: undefined, rtxPayloadType: 97 };

interface Sent {
  sequence: number;
  timestamp: number;
  ssrc: number;
  payloadType: number;
  pictureId: number;
  tl0: number;
  payload: number[];
}

const unbounded = { take: () => true };

/** A subscription fed by hand, and what it sent. */
function rig(own: { rtxPayloadType?: undefined } = {}) {
  const caches = [new PacketCache(512), new PacketCache(512), new PacketCache(512)];
  const sent: Sent[] = [];
  const asked: number[] = [];
  const track = {
    kind: 'video' as const,
    clockRate: 90_000,
    extensionIds: {},
    cacheOf: (layer: number) => caches[layer],
    senderReportOf: () => undefined,
    requestKeyFrame: (layer: number) => asked.push(layer),
  };
  const subscription = new Subscription(
    track,
    { ...ids, ...own },
    { rtp: (packet) => sent.push(read(packet)), rtcp: () => {} },
    () => 0.5,
  );
  const template = new PacketTemplate();
  const view = newRtpView();
  const vp8 = newVp8Descriptor();
  function feed(layer: number, packet: Buffer, now: number) {
    assert.ok(readRtp(packet, view));
    caches[layer]?.put(view.sequence, packet);
    const { sequence, timestamp, payloadStart, payloadEnd } = view;
    assert.ok(template.build(view, payloadStart, payloadEnd, {}, now));
    const hasVp8 = readVp8(packet, payloadStart, payloadEnd, vp8);
    const isKey = startsKeyFrame('VP8', packet, payloadStart, payloadEnd);
    subscription.forward({
      sequence,
      timestamp,
      payloadStart,
      template,
      marker: false,
      svc: undefined,
      plain: undefined,
      layer,
      startsKeyFrame: isKey,
      vp8: hasVp8 ? vp8 : undefined,
      temporal: { layer: vp8.temporalLayer, startsLayer: vp8.isLayerSync, opensHigher: false },
      saysTemporal: true,
      now,
    });
  }
  return { subscription, sent, asked, feed };
}

function read(packet: Buffer): Sent {
  const view = newRtpView();
  assert.ok(readRtp(packet, view));
  const isRtx = view.payloadType === ids.rtxPayloadType;
  const start = view.payloadStart + (isRtx ? 2 : 0);
  const vp8 = newVp8Descriptor();
  readVp8(packet, start, view.payloadEnd, vp8);
  const { sequence, timestamp, ssrc, payloadType } = view;
  const payload = [...packet.subarray(view.payloadStart, view.payloadEnd)];
  return { sequence, timestamp, ssrc, payloadType, pictureId: vp8.pictureId, tl0: vp8.tl0PicIdx, payload };
}

const frame = (sequence: number, timestamp: number, picture: number, isKey = false) =>
  rtpPacket({ sequence, timestamp, marker: true, payload: vp8Payload(picture & 0x7fff, picture & 0xff, isKey) });

test('[MED-14] nothing is sent before a key frame of the wanted layer, and one is asked for', () => {
  const { subscription, sent, asked, feed } = rig();
  feed(0, frame(1, 0, 1, true), 0);
  subscription.setTarget(1);
  feed(1, frame(50, 0, 1), 10);
  feed(0, frame(2, 0, 1, true), 10);
  assert.equal(sent.length, 0);
  assert.deepEqual(asked, [1]);
  feed(1, frame(51, 3000, 2, true), 20);
  assert.equal(sent.length, 1);
  assert.equal(sent[0]?.ssrc, ids.ssrc);
});

test('[MED-14] sequence, timestamp and picture id run on over a change of layer', () => {
  const { subscription, sent, feed } = rig();
  subscription.setTarget(0);
  feed(0, frame(65534, 1000, 32766, true), 0);
  feed(0, frame(65535, 4000, 32767), 33);
  subscription.setTarget(1);
  feed(0, frame(0, 7000, 0), 66);
  feed(1, frame(30_000, 900_000_000, 77, true), 100);
  feed(0, frame(1, 10_000, 1), 100);
  feed(1, frame(30_001, 900_003_000, 78), 133);
  assert.equal(sent.length, 5);
  for (const [index, packet] of sent.entries()) {
    const before = sent[index - 1];
    if (!before) continue;
    assert.equal(sequenceDistance(before.sequence, packet.sequence), 1);
    assert.equal((packet.pictureId - before.pictureId) & 0x7fff, 1);
    assert.equal((packet.tl0 - before.tl0) & 0xff, 1);
    const step = timestampDistance(before.timestamp, packet.timestamp);
    assert.ok(step > 2500 && step < 3500, `step ${step}`);
  }
});

test('[MED-14] a pause leaves no hole in the numbers', () => {
  const { subscription, sent, feed } = rig();
  subscription.setTarget(0);
  feed(0, frame(1, 0, 1, true), 0);
  subscription.setTarget(-1);
  for (let sequence = 2; sequence < 100; sequence += 1)
    feed(0, frame(sequence, sequence * 3000, sequence), sequence * 33);
  subscription.setTarget(0);
  feed(0, frame(100, 300_000, 100), 3300);
  feed(0, frame(101, 303_000, 101, true), 3333);
  assert.equal(sent.length, 2);
  assert.equal(sequenceDistance(sent[0]?.sequence ?? 0, sent[1]?.sequence ?? 0), 1);
  assert.equal(sent[1]?.timestamp, 303_000);
});

test('[MED-14] whatever comes in, no number goes out twice and every gap is a packet that was not given', () => {
  const step = fc.record({
    layer: fc.nat(1),
    skip: fc.nat(3),
    isKey: fc.boolean(),
    swap: fc.boolean(),
    target: fc.option(fc.nat(1), { freq: 5 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 120 }), (steps) => {
      const { subscription, sent, feed } = rig();
      subscription.setTarget(0);
      const next = [65_500, 100];
      let held: { layer: number; packet: Buffer } | undefined;
      let missing = 0;
      steps.forEach(({ layer, skip, isKey, swap, target }, index) => {
        if (target !== null) subscription.setTarget(target);
        next[layer] = (next[layer] ?? 0) + 1 + skip;
        missing += skip;
        const packet = frame(next[layer] ?? 0, index * 3000, index, isKey);
        if (swap && !held) {
          held = { layer, packet };
          return;
        }
        feed(layer, packet, index * 33);
        if (held) feed(held.layer, held.packet, index * 33);
        held = undefined;
      });
      const numbers = sent.map(({ sequence }) => sequence);
      assert.equal(new Set(numbers).size, numbers.length);
      if (numbers.length === 0) return;
      const distances = numbers.map((number) => sequenceDistance(numbers[0] ?? 0, number));
      const span = Math.max(...distances) - Math.min(...distances) + 1;
      assert.ok(span - numbers.length <= missing + steps.filter(({ swap }) => swap).length);
    }),
  );
});

test('[MED-15] a packet asked for again comes on the RTX stream as it went out, and not twice at once', () => {
  const { subscription, sent, feed } = rig();
  subscription.setTarget(0);
  feed(0, frame(10, 1000, 5, true), 0);
  subscription.setTarget(1);
  feed(1, frame(700, 9_000_000, 300, true), 33);
  const before = sent.at(-1);
  assert.ok(before);
  assert.equal(subscription.resend([before.sequence, (before.sequence + 5) & 0xffff], true, 100, unbounded), 1);
  assert.equal(subscription.resend([before.sequence], true, 101, unbounded), 0);
  const again = sent.at(-1);
  assert.ok(again);
  assert.deepEqual(
    [again.ssrc, again.payloadType, again.timestamp],
    [ids.rtxSsrc, ids.rtxPayloadType, before.timestamp],
  );
  assert.deepEqual(again.payload, [before.sequence >> 8, before.sequence & 0xff, ...before.payload]);
});

test('[MED-15] it can be asked for again after a while, however large the numbers and however long the node runs', () => {
  const { subscription, sent, feed } = rig();
  const start = 2 ** 32 - 40.5;
  subscription.setTarget(2);
  feed(2, rtpPacket({ sequence: 65_535, timestamp: 0xffff_fff0, payload: vp8Payload(0x7fff, 255, true) }), start);
  const [first] = sent;
  assert.ok(first);
  const resentAfter = (ms: number) => subscription.resend([first.sequence], true, start + ms, unbounded);
  assert.deepEqual([0, 0, 30, 32, 50, 64, 70].map(resentAfter), [1, 0, 0, 1, 0, 1, 0]);
  const { timestamp, pictureId, tl0 } = first;
  assert.deepEqual([timestamp, pictureId, tl0], [0xffff_fff0, 0x7fff, 255]);
  for (const again of sent.slice(1))
    assert.deepEqual([again.timestamp, again.pictureId, again.tl0], [timestamp, pictureId, tl0]);
});

test('[MED-19] what never came from the publisher does not count as lost on the way to the subscriber', () => {
  const { subscription, feed } = rig();
  subscription.setTarget(0);
  const report = (highestSequence: number, packetsLost: number) => {
    const rest = { ssrc: 1, fractionLost: 0, jitter: 0, lastSenderReport: 0, delaySinceLastSenderReport: 0 };
    return subscription.onReceptionReport({ ...rest, highestSequence, packetsLost }, 0);
  };
  feed(0, frame(100, 0, 1, true), 0);
  report(0, 0);
  for (const sequence of [101, 102, 106, 104, 110]) feed(0, frame(sequence, sequence * 3000, sequence), sequence);
  assert.deepEqual(report(10, 7), { expected: 10, lost: 2 }, 'five of the seven were never sent');
});

test('[MED-14] one that follows another on its SSRC goes on with its numbers and its time', () => {
  const [first, second] = [rig(), rig()];
  first.subscription.setTarget(0);
  first.feed(0, frame(100, 9000, 7, true), 0);
  first.feed(0, frame(101, 12_000, 8), 33);
  second.subscription.follow(first.subscription);
  second.subscription.setTarget(0);
  second.feed(0, frame(40_000, 3_000_000, 500, true), 1_033);
  const [last, next] = [first.sent.at(-1), second.sent[0]];
  assert.equal(next?.sequence, ((last?.sequence ?? 0) + 1) & 0xffff);
  assert.equal(timestampDistance(last?.timestamp ?? 0, next?.timestamp ?? 0), 90_000);
  assert.deepEqual([next?.pictureId, next?.tl0], [(last?.pictureId ?? 0) + 1, (last?.tl0 ?? 0) + 1]);
});

test('[MED-14] a layer that is dropped is neither sent nor repeated; the next starts with its key frame', () => {
  const { subscription, sent, feed } = rig();
  subscription.setTarget(2);
  feed(2, frame(100, 0, 1, true), 0);
  subscription.setTarget(0);
  subscription.dropCurrentLayer();
  feed(2, frame(101, 3000, 2), 33);
  feed(0, frame(500, 9000, 40), 40);
  assert.equal(subscription.resend([sent[0]?.sequence ?? 0], true, 50, unbounded), 0);
  assert.equal(sent.length, 1);
  feed(0, frame(501, 12_000, 41, true), 73);
  assert.deepEqual(
    sent.map(({ sequence }) => sequence - (sent[0]?.sequence ?? 0)),
    [0, 1],
  );
});

/** Frames of three temporal layers, two packets each: base, top, middle, top; a sync frame leads each of them. */
function layered(frameIndex: number, packetIndex: number): Buffer {
  const temporal = [0, 2, 1, 2][frameIndex % 4] ?? 0;
  const isSync = frameIndex % 4 === 1 || frameIndex % 4 === 2;
  const payload = vp8Payload(100 + frameIndex, 10 + (frameIndex >> 2), frameIndex === 0);
  payload[0] = packetIndex === 0 ? 0x90 : 0x80;
  payload[5] = (temporal << 6) | (isSync ? 0x20 : 0);
  return rtpPacket({ sequence: frameIndex * 2 + packetIndex, timestamp: frameIndex * 3000, payload });
}

test('[MED-52] frames above the wished rate are left out without a gap in any number, and come back where they may', () => {
  const { subscription, sent, feed } = rig();
  const give = (from: number, to: number) => {
    sent.length = 0;
    for (let index = from; index < to; index += 1)
      for (const packet of [0, 1]) feed(0, layered(index, packet), index * 33);
    return [...new Set(sent.map(({ timestamp }) => timestamp / 3000))];
  };
  subscription.setTarget(0);
  assert.equal(give(0, 8).length, 8);
  const last = sent.at(-1);
  subscription.setTemporalLimit(0);
  assert.deepEqual(give(8, 16), [8, 12]);
  assert.deepEqual(
    sent.map(({ sequence }) => sequence - (last?.sequence ?? 0)),
    [1, 2, 3, 4],
  );
  assert.deepEqual(
    sent.map(({ pictureId }) => pictureId - (last?.pictureId ?? 0)),
    [1, 1, 2, 2],
  );
  subscription.setTemporalLimit(1);
  assert.deepEqual(give(16, 24), [16, 18, 20, 22]);
  subscription.setTemporalLimit(7);
  assert.deepEqual(give(24, 32), [24, 25, 26, 27, 28, 29, 30, 31]);
  const sequences = sent.map(({ sequence }) => sequence);
  assert.deepEqual(
    sequences,
    sequences.map((_, index) => (sequences[0] ?? 0) + index),
  );
});

test('[MED-118] what comes late of a frame that was left out gives its number and nothing else, and is not repeated', () => {
  const { subscription, sent, feed } = rig();
  subscription.setTarget(0);
  subscription.setTemporalLimit(0);
  for (const [frameIndex, packetIndex] of [
    [0, 0],
    [0, 1],
    [1, 1],
    [4, 0],
  ] as const)
    feed(0, layered(frameIndex, packetIndex), frameIndex * 33);
  feed(0, layered(1, 0), 150);
  const [, second, third, late] = sent;
  assert.ok(second && third && late);
  assert.equal(third.sequence - second.sequence, 6, 'what was lost leaves its gap');
  assert.deepEqual([late.sequence, late.payload], [second.sequence + 1, []]);
  assert.equal(subscription.resend([late.sequence], true, 400, unbounded), 0);
});

test('[MED-52] a late packet keeps its place between frames that were left out, and is repeated under it', () => {
  const { subscription, sent, feed } = rig();
  subscription.setTarget(0);
  subscription.setTemporalLimit(0);
  for (const [frameIndex, packetIndex] of [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
    [4, 1],
    [5, 0],
    [8, 0],
  ] as const)
    feed(0, layered(frameIndex, packetIndex), frameIndex * 33);
  feed(0, layered(4, 0), 270);
  const [first, , second, third, late] = sent;
  assert.ok(first && second && third && late);
  assert.equal(late.sequence, second.sequence - 1);
  assert.equal(late.pictureId, second.pictureId);
  assert.equal(subscription.resend([late.sequence], true, 400, unbounded), 1);
  assert.equal(sent.at(-1)?.pictureId, late.pictureId);
});

test('[MED-82] a receiver without RTX gets what it asks for again on the stream itself, and no padding', () => {
  const { subscription, sent, feed } = rig({ rtxPayloadType: undefined });
  subscription.setTarget(0);
  for (const index of [0, 1, 2]) feed(0, frame(10 + index, index * 3000, 5 + index, index === 0), index * 33);
  const [, lost] = sent;
  assert.ok(lost);
  assert.equal(subscription.resend([lost.sequence], true, 100, unbounded), 1);
  assert.deepEqual(sent.at(-1), lost, 'the same packet again');
  assert.equal(subscription.sendPadding(101), 0);
  feed(0, frame(13, 9000, 8), 120);
  assert.equal(sent.at(-1)?.sequence, lost.sequence + 2, 'its numbers go on');
});

test('[MED-82] nothing is repeated again before most of a round trip, nor beyond the budget of the path', () => {
  const { subscription, sent, feed } = rig();
  subscription.setTarget(0);
  for (let index = 0; index < 20; index += 1) feed(0, frame(10 + index, index * 3000, index, index === 0), index);
  subscription.statistics.rttMs = 400;
  const [first] = sent;
  assert.ok(first);
  const again = [0, 100, 299, 302].map((ms) => subscription.resend([first.sequence], true, 100 + ms, unbounded));
  assert.deepEqual(again, [1, 0, 0, 1]);

  const budget = new PathBudget();
  const all = sent.slice(0, 20).map(({ sequence }) => sequence);
  const bytes = 200_000 / 8 / 4;
  assert.ok(budget.take(bytes - 60, 2000));
  const few = subscription.resend(all, true, 2000, budget);
  assert.ok(few > 0 && few < 20, `${few} repeated`);
  budget.estimate(8_000_000);
  assert.equal(subscription.resend(all, true, 4000, budget), 20);
});

test('[MED-116] a repeat that waits for its turn is not repeated again before it can have arrived', () => {
  const { subscription, sent, feed } = rig();
  subscription.setTarget(0);
  feed(0, frame(10, 0, 5, true), 0);
  const [first] = sent;
  assert.ok(first);
  const at = (ms: number, delayMs = 0) => subscription.resend([first.sequence], true, ms, unbounded, delayMs);
  assert.deepEqual([at(100, 150), at(200), at(279), at(282)], [1, 0, 0, 1]);
});
