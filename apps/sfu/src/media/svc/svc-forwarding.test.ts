import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mode, SvcSource } from '../../../testkit/svc.ts';
import { Publication } from '../publication.ts';
import { extensionLength, findExtension, newRtpView, readRtp } from '../rtp.ts';
import { Subscription } from '../subscription.ts';
import { DependencyReader } from './dependency-descriptor.ts';
import { readVp9Layers } from './vp9-layers.ts';

const PICTURE_MS = 33;

interface Received {
  sequence: number;
  timestamp: number;
  marker: boolean;
  spatial: number;
  temporal: number;
  hasDescriptor: boolean;
  /** As the subscriber reads its own packets. */
  active: number | undefined;
  fdiffs: readonly number[] | undefined;
  isEmpty: boolean;
}

/** Of the packets of a picture. */
type IsOne = (packet: number) => boolean;

/** A camera in three spatial and two temporal layers, and who watches it. */
function stage(mode: Mode, { hasDescriptor = true } = {}) {
  const source = new SvcSource(
    { mode, spatial: 3, temporal: 2, hasSizes: true },
    { descriptorId: hasDescriptor ? 12 : 0 },
  );
  let keyFramesAsked = 0;
  const publication = new Publication({
    id: 'trk_1',
    request: { cid: 'c', kind: 'VIDEO', source: 'CAMERA' },
    encoding: { codec: { name: 'VP9', pt: 98 }, red: undefined },
    mid: '0',
    rids: [],
    extensionIds: hasDescriptor ? { dependencyDescriptor: 12 } : {},
    publishedAt: 0,
    events: { keyFrameNeeded: () => (keyFramesAsked += 1), started() {}, audioLevel() {}, queued() {} },
  });
  const upstream = publication.bind(1, undefined)?.upstream;
  const view = newRtpView();
  const missing: Buffer[] = [];
  let now = 0;
  const sentFrames = new Map<number, { fdiffs: number[]; frameNumber: number }>();
  const receive = (packet: Buffer): void => {
    assert.ok(readRtp(packet, view));
    publication.receive(view, 0, now);
  };
  /** What was lost, repeated by the publisher. */
  const giveMissing = (): void => missing.splice(0).forEach(receive);
  const none = (): boolean => false;
  const give = (options: Parameters<SvcSource['picture']>[0] = {}, lost = none as IsOne, bare = none as IsOne) => {
    now += PICTURE_MS;
    let at = 0;
    for (const frame of source.picture(options)) {
      for (const packet of frame.packets) {
        sentFrames.set(keyOf(frame.timestamp, frame.spatial), frame);
        if (lost(at)) missing.push(packet);
        else receive(bare(at) ? packet.subarray(0, readRtp(packet, view) ? view.payloadStart : 0) : packet);
        at += 1;
      }
    }
    publication.flushKeyFrameRequests(now);
    publication.measure(now);
    upstream?.rate.measure(now);
  };
  return { publication, give, giveMissing, sentFrames, asked: () => keyFramesAsked, now: () => now };
}

const keyOf = (timestamp: number, spatial: number): number => timestamp * 8 + spatial;

function watch(publication: Publication, target: number) {
  const received: Received[] = [];
  const view = newRtpView();
  const reader = new DependencyReader();
  const take = (packet: Buffer) => {
    assert.ok(readRtp(packet, view));
    const { spatial } = readVp9Layers(packet, view.payloadStart, view.payloadEnd);
    const temporal = (packet[view.payloadStart + 2] ?? 0) >> 5;
    const { sequence, timestamp, marker } = view;
    const at = findExtension(view, 12);
    const frame = at < 0 ? undefined : reader.read(packet, at, extensionLength);
    const { active, fdiffs } = frame ?? {};
    const isEmpty = view.payloadEnd === view.payloadStart;
    received.push({ sequence, timestamp, marker, spatial, temporal, hasDescriptor: at >= 0, active, fdiffs, isEmpty });
  };
  const ids = { ssrc: 1, rtxSsrc: 2, payloadType: 98, redPayloadType: undefined, rtxPayloadType: 99 };
  const subscription = new Subscription(publication, ids, { rtp: take, rtcp: () => {} }, () => 0);
  publication.subscribe(subscription);
  subscription.setTarget(target);
  return { subscription, received };
}

/** The pictures that came, each as its layers, with the end of each marked once and at its end. */
function pictures(received: readonly Received[]): string[] {
  const found: string[] = [];
  for (const [timestamp, packets] of Map.groupBy(received, (packet) => packet.timestamp)) {
    assert.deepEqual(
      packets.map(({ marker }) => marker),
      packets.map((_, at) => at === packets.length - 1),
      `picture ${timestamp} of ${packets.length} packets`,
    );
    found.push([...new Set(packets.map(({ spatial }) => spatial))].join(''));
  }
  received.forEach(({ sequence }, at) => {
    assert.equal(sequence, ((received[0]?.sequence ?? 0) + at) & 0xffff, 'numbers without a gap');
  });
  return found;
}

/** Nothing that came refers to something that did not. */
function assertDecodable(received: readonly Received[], sent: ReturnType<typeof stage>['sentFrames']): void {
  const have = new Set<number>();
  for (const { timestamp, spatial } of received) {
    const frame = sent.get(keyOf(timestamp, spatial));
    assert.ok(frame);
    for (const fdiff of frame.fdiffs)
      assert.ok(have.has((frame.frameNumber - fdiff) & 0xffff), `frame ${frame.frameNumber} needs ${fdiff} back`);
    have.add(frame.frameNumber);
  }
}

test('[MED-86] each subscriber gets the spatial layer it is for, unbroken and with the end of its pictures marked', () => {
  const { publication, give, sentFrames } = stage('full');
  const watchers = [0, 1, 2].map((target) => watch(publication, target));
  give({ isKey: true });
  for (let at = 0; at < 5; at += 1) give();
  assert.deepEqual(
    watchers.map(({ received }) => new Set(pictures(received))),
    [new Set(['0']), new Set(['01']), new Set(['012'])],
  );
  for (const { received } of watchers) {
    assert.equal(received.length / pictures(received).length, 2 * (received.at(-1)?.spatial ?? 0) + 2);
    assert.ok(received.every(({ hasDescriptor }) => hasDescriptor));
    assertDecodable(received, sentFrames);
  }
});

test('[MED-86] layers that build on each other in key frames only are not sent along in between', () => {
  const { publication, give, sentFrames } = stage('key');
  const { received } = watch(publication, 2);
  give({ isKey: true });
  for (let at = 0; at < 3; at += 1) give();
  assert.deepEqual(pictures(received), ['012', '2', '2', '2']);
  assertDecodable(received, sentFrames);
});

test('[MED-87] down at once where the lower layer was sent all along, up from a key frame', () => {
  const { publication, give, sentFrames, asked } = stage('full');
  const { subscription, received } = watch(publication, 2);
  give({ isKey: true });
  give();
  const before = asked();
  subscription.setTarget(0);
  give();
  assert.equal(subscription.current, 0);
  assert.equal(asked(), before, 'no key frame is asked for');
  subscription.setTarget(1);
  give();
  give();
  assert.ok(asked() > before || subscription.isSwitching);
  give({ isKey: true });
  give();
  assert.deepEqual(pictures(received), ['012', '012', '0', '0', '0', '01', '01']);
  assertDecodable(received, sentFrames);
});

test('[MED-87] down from a key frame where the lower layer was not sent; on a congested path nothing until then', () => {
  for (const isCongested of [false, true]) {
    const { publication, give, sentFrames } = stage('key');
    const { subscription, received } = watch(publication, 2);
    give({ isKey: true });
    give();
    give();
    subscription.setTarget(1);
    if (isCongested) subscription.dropCurrentLayer();
    give();
    assert.ok(subscription.isSwitching, 'the key frame is asked for again');
    give({ isKey: true });
    give();
    assert.ok(!subscription.isSwitching);
    assert.deepEqual(pictures(received), ['012', '2', '2', ...(isCongested ? [] : ['2']), '01', '1']);
    assertDecodable(received, sentFrames);
  }
});

test('[MED-87] fewer frames at once, all of them again where they refer to nothing that was dropped', () => {
  const { publication, give, sentFrames } = stage('full');
  const { subscription, received } = watch(publication, 1);
  give({ isKey: true });
  give();
  subscription.setTemporalLimit(0);
  for (let at = 0; at < 4; at += 1) give();
  subscription.setTemporalLimit(7);
  for (let at = 0; at < 4; at += 1) give();
  const temporal = [...Map.groupBy(received, ({ timestamp }) => timestamp).values()].map(
    ([packet]) => packet?.temporal,
  );
  assert.deepEqual(temporal, [0, 1, 0, 0, 0, 1, 0, 1]);
  pictures(received);
  assertDecodable(received, sentFrames);
});

test('[MED-87] what the publisher stops sending is not waited for', () => {
  const { publication, give } = stage('full');
  const { subscription, received } = watch(publication, 2);
  give({ isKey: true });
  give({ layers: 2, active: 0b001111 });
  give({ layers: 2 });
  assert.ok(!subscription.isSwitching);
  assert.deepEqual(pictures(received), ['012', '01', '01']);
});

test('[MED-87] where the lower layer was not sent, a key frame is requested as soon as the publisher stops the higher one', () => {
  const { publication, give, sentFrames, asked } = stage('key');
  const { subscription, received } = watch(publication, 2);
  give({ isKey: true });
  for (let at = 0; at < 3; at += 1) give();
  assert.equal(asked(), 0);
  give({ layers: 2, active: 0b001111 });
  assert.equal(asked(), 1);
  give({ layers: 2 });
  assert.deepEqual(pictures(received), ['012', '2', '2', '2'], 'it cannot be decoded');
  give({ layers: 2, active: 0b001111, isKey: true });
  give({ layers: 2 });
  assert.ok(!subscription.isSwitching);
  assert.deepEqual(pictures(received), ['012', '2', '2', '2', '01', '1']);
  assertDecodable(received, sentFrames);
  for (let at = 0; at < 20; at += 1) give({ layers: 2 });
  assert.equal(asked(), 1, 'once, as it came');
});

test('[MED-86] without the descriptor the payload of VP9 says it', () => {
  const { publication, give } = stage('full', { hasDescriptor: false });
  const low = watch(publication, 0);
  const { subscription, received } = watch(publication, 1);
  give({ isKey: true });
  give();
  subscription.setTarget(2);
  give();
  give({ isKey: true });
  subscription.setTarget(0);
  give();
  assert.deepEqual(pictures(received), ['01', '01', '01', '012', '0']);
  assert.deepEqual(pictures(low.received), ['0', '0', '0', '0', '0']);
  assert.equal(publication.layers.length, 3);
});

test('[MED-88] a lost packet leaves its gap, and comes late under its own number', () => {
  const { publication, give } = stage('full');
  const { received } = watch(publication, 0);
  give({ isKey: true });
  give({}, (packet) => packet === 0);
  give();
  const numbers = received.map(({ sequence }) => sequence - (received[0]?.sequence ?? 0));
  assert.deepEqual(numbers, [0, 1, 3, 4, 5]);
});

for (const hasDescriptor of [true, false])
  test(`[MED-118] what comes late of a layer that does not go out gives its number alone${hasDescriptor ? '' : ', without a descriptor'}`, () => {
    const { publication, give, giveMissing } = stage(hasDescriptor ? 'key' : 'full', { hasDescriptor });
    const high = watch(publication, hasDescriptor ? 2 : 1);
    give({ isKey: true });
    give();
    const before = high.received.length;
    // Of three layers of two packets: the lowest does not go out to who gets the highest of independent ones.
    const [unwanted, wanted] = hasDescriptor ? [0, 4] : [4, 0];
    give({}, (packet) => packet === unwanted || packet === wanted);
    give();
    const onTime = high.received.slice(before).map(({ isEmpty }) => isEmpty);
    assert.ok(onTime.length > 0 && !onTime.includes(true));
    giveMissing();
    const late = high.received.slice(before + onTime.length);
    assert.deepEqual(late.map(({ isEmpty }) => isEmpty).sort(), [false, true]);
    const numbers = high.received.map(({ sequence }) => sequence).sort((a, b) => a - b);
    assert.deepEqual(
      numbers,
      numbers.map((_, at) => (numbers[0] ?? 0) + at),
      'no number is missing or comes twice',
    );
    const empty = late.find(({ isEmpty }) => isEmpty);
    assert.equal(high.subscription.resend([empty?.sequence ?? 0], false, 1000, { take: () => true }), 0);
  });

test('[MED-88] bit rates are those of a layer with all it builds on, and a layer without packets is off', () => {
  const { publication, give, now } = stage('full');
  watch(publication, 2);
  give({ isKey: true });
  for (let at = 0; at < 70; at += 1) give({ layers: at < 5 ? 3 : 2 });
  const [low = 0, middle = 0] = [0, 1].map((layer) => publication.bitrateOf(layer, now()));
  assert.ok(low > 0 && Math.abs(middle / low - 2) < 0.2, `${low} ${middle}`);
  assert.deepEqual(
    [0, 1, 2].map((layer) => publication.canServe(layer, now())),
    [true, true, false],
  );
  const { layers, simulcast } = publication.describe(now());
  assert.deepEqual([layers.map(({ height }) => height), simulcast], [[180, 360, 720], false]);
});

test('[PIPE-44] on content that was left out on the way nothing builds, and it counts for no bit rate', () => {
  const { publication, give, now } = stage('full');
  const { subscription, received } = watch(publication, 1);
  give({ isKey: true });
  for (let at = 0; at < 70; at += 1) give();
  const top = () => [publication.bitrateOf(2, now()), publication.canServe(2, now())];
  const [rate] = top();
  const [none, isTop] = [() => false, (packet: number) => packet >= 4];
  for (let at = 0; at < 70; at += 1) give({}, none, isTop);
  assert.deepEqual(top(), [rate, false]);
  subscription.setTarget(2);
  give({ isKey: true }, none, isTop);
  give({}, none, isTop);
  assert.equal(subscription.current, 1, 'a key frame without its content lets nobody in');
  give();
  received.splice(0);
  give();
  give({ isKey: true });
  give();
  assert.deepEqual([subscription.current, pictures(received)], [2, ['01', '012', '012']]);
});

test('[MED-86] a stream in one layer is forwarded whole, whatever was announced', () => {
  const source = new SvcSource({ mode: 'full', spatial: 1, temporal: 2 }, { descriptorId: 0 });
  const publication = new Publication({
    id: 'trk_1',
    request: {
      cid: 'c',
      kind: 'VIDEO',
      source: 'CAMERA',
      layers: [
        { rid: 'q', width: 320, height: 180 },
        { rid: 'f', width: 640, height: 360 },
      ],
    },
    encoding: { codec: { name: 'VP9', pt: 98 }, red: undefined },
    mid: '0',
    rids: [],
    extensionIds: {},
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued() {} },
  });
  assert.deepEqual(
    publication.layers.map(({ rid }) => rid),
    ['q', 'f'],
  );
  publication.bind(1, undefined);
  const { received } = watch(publication, 1);
  const view = newRtpView();
  for (const isKey of [true, false, false])
    for (const { packets } of source.picture({ isKey }))
      for (const packet of packets) {
        assert.ok(readRtp(packet, view));
        publication.receive(view, 0, 0);
      }
  assert.deepEqual(pictures(received), ['0', '0', '0']);
  assert.deepEqual(
    publication.layers.map(({ rid, height }) => [rid, height]),
    [['', 360]],
  );
});

test('[MED-86] the descriptor calls those layers active that the subscriber gets, and says the rest as it was', () => {
  const { publication, give, sentFrames } = stage('full');
  const low = watch(publication, 0);
  const { subscription, received } = watch(publication, 2);
  give({ isKey: true });
  give();
  subscription.setTarget(1);
  give();
  give();
  give({ isKey: true });
  give();
  const activeOf = (packets: readonly Received[]) =>
    [...Map.groupBy(packets, ({ timestamp }) => timestamp).values()].map((picture) => picture.at(-1)?.active);
  // Two targets a layer: at the full frame rate, and at half of it.
  assert.deepEqual(activeOf(received), [0b111111, 0b111111, 0b1111, 0b1111, 0b1111, 0b1111]);
  assert.deepEqual(activeOf(low.received), [0b11, 0b11, 0b11, 0b11, 0b11, 0b11]);
  for (const { timestamp, spatial, fdiffs } of [...received, ...low.received])
    assert.deepEqual(fdiffs, sentFrames.get(keyOf(timestamp, spatial))?.fdiffs);
  pictures(received);
});
