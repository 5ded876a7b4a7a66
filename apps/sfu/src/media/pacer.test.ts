import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_EXTENSIONS } from '@parley/media-description';
import { rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { Downlink } from './downlink.ts';
import { Pacer } from './pacer.ts';
import type { PeerTransport } from './peer-transport.ts';
import { Publication } from './publication.ts';
import { findExtension, newRtpView, readRtp, toAbsSendTime } from './rtp.ts';
import type { Slot } from './slot.ts';
import { Subscription } from './subscription.ts';
import { PacketTemplate } from './template.ts';

const PACKET_BYTES = 1200;
const ESTIMATE_BPS = 1_500_000;
/** What may leave at once: 20 ms of 2.5 times the estimate. */
const AT_ONCE_BYTES = (ESTIMATE_BPS * 2.5 * 0.02) / 8;

interface Left {
  at: number;
  packet: Buffer;
}

function newPacer(estimateBps = ESTIMATE_BPS) {
  const left: Left[] = [];
  const pacer = new Pacer((packet, _, at) => left.push({ at, packet }));
  pacer.estimate(estimateBps);
  const sequences = () => left.map(({ packet }) => packet.readUInt16BE(2));
  return { pacer, left, sequences };
}

const packetOf = (sequence: number): Buffer =>
  rtpPacket({ sequence, extensions: [[2, [0, 0, 0]]], payload: new Uint8Array(PACKET_BYTES - 20) });

/** Ticks until nothing waits; how long that took. */
function drain({ drain, until }: { drain(now: number): void; until(): boolean }, from: number): number {
  let now = from;
  while (!until() && now < from + 10_000) {
    now += 20;
    drain(now);
  }
  return now - from;
}

test('[MED-115] what comes spread leaves in the same turn, as it is and without a copy', () => {
  const { pacer, left } = newPacer();
  const packets: Buffer[] = [];
  // A key frame of 40 kB as a browser paces it, and two seconds of pictures of 6 kB.
  const times = Array.from({ length: 34 }, (_, index) => index * 2.56);
  for (let picture = 0; picture < 60; picture += 1)
    for (let at = 0; at < 5; at += 1) times.push(200 + picture * 33 + at);
  times.forEach((at, sequence) => {
    const packet = packetOf(sequence);
    packets.push(packet);
    pacer.send(packet, undefined, at);
    assert.equal(left.length, packets.length, `packet ${sequence} waited`);
  });
  assert.ok(left.every(({ packet, at }, index) => packet === packets[index] && at === times[index]));
});

test('[MED-115] a key frame that comes at once leaves in order at 2.5 times the estimate', () => {
  const { pacer, left, sequences } = newPacer();
  // One buffer for all, as packets are stamped.
  const shared = packetOf(0);
  for (let sequence = 0; sequence < 34; sequence += 1) {
    shared.writeUInt16BE(sequence, 2);
    pacer.send(shared, undefined, 1000);
  }
  const atOnce = left.length;
  const tookMs = drain({ drain: (now) => pacer.drain(now), until: () => left.length === 34 }, 1000);
  assert.deepEqual(
    sequences().slice(atOnce),
    Array.from({ length: 34 - atOnce }, (_, index) => atOnce + index),
  );
  assert.ok(tookMs >= 60 && tookMs <= 100, `${tookMs} ms`);
  const bytesAt = Map.groupBy(left, ({ at }) => at);
  for (const [at, some] of bytesAt)
    assert.ok(some.length * PACKET_BYTES <= AT_ONCE_BYTES, `${some.length} packets at ${at}`);
});

test('[MED-115] nothing waits longer than 200 ms, however low the estimate; the rate is then even', () => {
  const { pacer, left } = newPacer(50_000);
  for (let sequence = 0; sequence < 67; sequence += 1) pacer.send(packetOf(sequence), undefined, 0);
  assert.ok(left.length <= 2, `${left.length} at once`);
  const tookMs = drain({ drain: (now) => pacer.drain(now), until: () => left.length === 67 }, 0);
  assert.ok(tookMs <= 200, `${tookMs} ms`);
  const largest = Math.max(...[...Map.groupBy(left, ({ at }) => at).values()].map(({ length }) => length));
  assert.ok(largest <= 10, `${largest} packets in a turn of ten`);
});

test('[MED-115] a stream that is faster than its path for good waits less than 200 ms', () => {
  const { pacer, left } = newPacer(100_000);
  const came = new Map<number, number>();
  let sequence = 0;
  for (let now = 0; now < 5000; now += 10) {
    came.set(sequence, now);
    pacer.send(packetOf(sequence), undefined, now);
    sequence += 1;
    if (now % 20 === 0) pacer.drain(now);
  }
  const waits = left.map(({ at, packet }) => at - (came.get(packet.readUInt16BE(2)) ?? 0));
  assert.ok(Math.max(...waits) <= 200, `${Math.max(...waits)} ms`);
  assert.ok(left.length > sequence - 30, 'it keeps up');
  const turns = [...Map.groupBy(left, ({ at }) => at).values()].map(({ length }) => length);
  assert.ok(Math.max(...turns.slice(100)) <= 4, 'evenly, not all at the end of each 200 ms');
});

test('[MED-115] what waits is bounded in bytes: the oldest leaves early, in order', () => {
  const { pacer, left, sequences } = newPacer(50_000);
  for (let sequence = 0; sequence < 1000; sequence += 1) pacer.send(packetOf(sequence), undefined, 0);
  const waiting = 1000 - left.length;
  assert.ok(waiting * PACKET_BYTES <= 256 << 10, `${waiting} wait`);
  assert.ok(waiting > 100);
  assert.deepEqual(
    sequences(),
    Array.from({ length: left.length }, (_, index) => index),
  );
});

test('[MED-116] a packet that waited is stamped with the time at which it leaves', () => {
  const { pacer, left } = newPacer(50_000);
  const view = newRtpView();
  const sendTimeOf = ({ packet }: Left): number => {
    assert.ok(readRtp(packet, view));
    return packet.readUIntBE(findExtension(view, DEFAULT_EXTENSIONS.video.absSendTime), 3);
  };
  // A long dependency descriptor takes heads of two bytes, and moves the time.
  for (const wide of [false, true]) {
    left.length = 0;
    const descriptor = wide ? [[12, new Array<number>(30).fill(7)] as [number, number[]]] : [];
    assert.ok(readRtp(rtpPacket({ sequence: 1, wideExtensions: descriptor, payload: new Uint8Array(1000) }), view));
    const template = new PacketTemplate();
    assert.ok(template.build(view, view.payloadStart, view.payloadEnd, { dependencyDescriptor: 12 }, 5000));
    for (let count = 0; count < 10; count += 1) pacer.send(template.packet, undefined, 5000);
    const untouched = Buffer.from(template.packet);
    pacer.drain(5200);
    assert.equal(left.length, 10);
    const last = left.at(-1);
    assert.ok(last);
    assert.equal(sendTimeOf(last), toAbsSendTime(5200));
    assert.deepEqual(last.packet.subarray(28), untouched.subarray(28));
    pacer.reset();
  }
});

/** The downlink of a subscriber, on a transport that keeps what is sent; its path was measured, unless it says nothing. */
function newDownlink({ isSilent = false, slots = [] as Slot[] } = {}) {
  const left: { sequence: number; number: number }[] = [];
  const send = (packet: Buffer) => {
    left.push({ sequence: packet.readUInt16BE(2), number: packet.readUInt16BE(21) });
    transport.sentBytes += packet.length;
    return true;
  };
  const events = { streamState() {}, streamStates() {}, demandChanged() {} };
  const downlink = new Downlink({
    slots: () => slots,
    isAdaptive: false,
    isLarge: () => false,
    spokeAt: () => 0,
    events,
  });
  // What an outlet and the allocation use of a transport.
  const transport = { send, isOpen: true, sentBytes: 0 };
  downlink.reset(transport as unknown as PeerTransport);
  if (!isSilent) downlink.estimator.feedback(ESTIMATE_BPS / 0.9, 0);
  downlink.allocate(0);
  return { downlink, left, transport };
}

test('[MED-115] [MED-116] sound does not wait behind a key frame, and transport-wide numbers are in the order of leaving', () => {
  const { downlink, left } = newDownlink();
  const [video, audio] = [downlink.outlet('video'), downlink.outlet('audio')];
  for (let sequence = 0; sequence < 34; sequence += 1) video.rtp(packetOf(sequence), 1000);
  const atOnce = left.length;
  assert.ok(atOnce < 12, `${atOnce} packets at once`);
  audio.rtp(packetOf(100), 1001);
  assert.equal(left.at(-1)?.sequence, 100);
  drain({ drain: (now) => downlink.tick(now), until: () => left.length === 35 }, 1000);
  assert.deepEqual(
    left.map(({ number }) => number),
    left.map((_, index) => index),
  );
});

test('[MED-115] nothing of one transport is sent on the next', () => {
  const { downlink, left } = newDownlink();
  const video = downlink.outlet('video');
  for (let sequence = 0; sequence < 34; sequence += 1) video.rtp(packetOf(sequence), 1000);
  const sent = left.length;
  downlink.reset({
    send: () => assert.fail('a packet of the transport before'),
    isOpen: true,
  } as unknown as PeerTransport);
  for (let now = 1020; now < 1400; now += 20) downlink.tick(now);
  assert.equal(left.length, sent);
});

test('[MED-115] a receiver that says nothing of its path gets a stream of 12 Mbit/s as it comes', () => {
  const { downlink, left } = newDownlink({ isSilent: true });
  const video = downlink.outlet('video');
  let sent = 0;
  for (let now = 0; now < 4000; now += 10) {
    for (const until = sent + 12; sent < until; sent += 1) video.rtp(packetOf(sent), now);
    if (now > 2000) assert.equal(left.length, sent, `something waits at ${now}`);
    if (now % 20 === 0) downlink.tick(now);
    if (now % 200 === 0) downlink.allocate(now);
  }
});

/** A camera on a line of its own. */
function addCamera(slots: Slot[], downlink: Downlink, bitrate: number) {
  const mid = String(slots.length);
  const publication = new Publication({
    id: mid,
    request: { cid: mid, kind: 'VIDEO', source: 'CAMERA', layers: [{ rid: '', bitrate }] },
    encoding: { codec: { name: 'VP8', pt: 96 }, red: undefined },
    mid,
    rids: [],
    extensionIds: {},
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued() {} },
  });
  publication.bind(1, undefined);
  const ids = { ssrc: 10, rtxSsrc: 11, payloadType: 96, redPayloadType: undefined, rtxPayloadType: 97 };
  const subscription = new Subscription(publication, ids, downlink.outlet('video'), () => 0);
  publication.subscribe(subscription);
  const use = { publication, subscription, streamId: mid };
  slots.push({ mid, kind: 'video', use, isActive: true, announced: undefined });
  const view = newRtpView();
  return (sequence: number, now: number): void => {
    assert.ok(readRtp(rtpPacket({ sequence, payload: vp8Payload(sequence, 0, true) }), view));
    publication.receive(view, 0, now);
  };
}

test('[MED-115] [MED-19] a probe is not held to the rate that it is to exceed', () => {
  const slots: Slot[] = [];
  const { downlink, transport } = newDownlink({ isSilent: true, slots });
  for (const report of [300_000, 250_000]) downlink.estimator.remb(report, 0);
  const [small, large] = [150_000, 2_000_000].map((bitrate) => addCamera(slots, downlink, bitrate));
  let most = 0;
  const samples: number[] = [];
  for (let now = 0; now < 6000; now += 20) {
    if (now % 100 === 0) for (const give of [small, large]) give?.(now / 100, now);
    downlink.tick(now);
    if (now % 200 === 0) downlink.allocate(now);
    samples.push(transport.sentBytes);
    most = Math.max(most, transport.sentBytes - (samples.at(-26) ?? 0));
  }
  const bitsPerSecond = most * 16;
  assert.ok(bitsPerSecond > 2_000_000, `${bitsPerSecond} bits a second in the best half of one`);
});
