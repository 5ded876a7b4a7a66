import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { Publication } from './publication.ts';
import { Subscription } from './subscription.ts';
import { Uplink } from './uplink.ts';

const MID = 1;
const RID = 2;

/** A camera of layers whose packets have `sizes`, by their order in the offer, and one who wants the top layer. */
function stage(sizes: readonly number[], isOrderGuessed = true) {
  let now = 1000;
  const rids = sizes.map((_, index) => String(index));
  const keyFrames: number[] = [];
  const publication: Publication = new Publication({
    id: 'trk_1',
    request: { cid: 'c', kind: 'VIDEO', source: 'CAMERA' },
    encoding: { codec: { name: 'VP8', pt: 96 }, red: undefined },
    mid: '0',
    rids,
    extensionIds: {},
    publishedAt: 0,
    isOrderGuessed,
    events: {
      keyFrameNeeded: (ssrc) => keyFrames.push(ssrc),
      started() {},
      audioLevel() {},
      queued() {},
      reordered: () => uplink.reorder(publication),
    },
  });
  const uplink = new Uplink({
    clock: { now: () => now, wall: () => 0 },
    publicationOf: () => publication,
    rtxSsrcOf: () => undefined,
    repairedSsrcOf: () => undefined,
  });
  uplink.readExtensionIds({
    media: [{ mid: '0', kind: 'video', direction: 'sendonly', extensions: { mid: MID, rid: RID } }],
  });
  const sent: { sequence: number; bytes: number }[] = [];
  const ids = { ssrc: 10, rtxSsrc: 11, payloadType: 96, redPayloadType: undefined, rtxPayloadType: undefined };
  const take = (packet: Buffer) => void sent.push({ sequence: packet.readUInt16BE(2), bytes: packet.length });
  const subscription = new Subscription(publication, ids, { rtp: take, rtcp: () => {} }, () => 0);
  publication.subscribe(subscription);
  subscription.setTarget(sizes.length - 1);
  let sequence = 0;
  /** Twice a second, as the reports to a publisher do. */
  const measure = (): void => {
    for (const { upstream } of publication.layers) upstream?.rate.measure(now);
    publication.measure(now);
  };
  /** Seconds of 20 frames, the first of each a key frame, of these layers. */
  const play = (seconds: number, layers = sizes.map((_, index) => index)): void => {
    for (let frame = 0; frame < seconds * 20; frame += 1) {
      now += 50;
      sequence += 1;
      for (const layer of layers) {
        const body = Array.from({ length: sizes[layer] ?? 0 }, () => 1);
        const payload = vp8Payload(sequence, 0, frame % 20 === 0, body);
        const mid: [number, number[]] = [MID, [...Buffer.from('0')]];
        const rid: [number, number[]] = [RID, [...Buffer.from(String(layer))]];
        const head = { sequence, timestamp: sequence * 4500, ssrc: 100 + layer, extensions: [mid, rid] };
        uplink.onPacket(rtpPacket({ ...head, payload }));
      }
      if (frame % 10 === 9) measure();
      publication.flushKeyFrameRequests(now);
    }
  };
  const order = (): string => publication.layers.map(({ rid }) => rid).join(' ');
  return { publication, sent, keyFrames, play, order };
}

test('[MED-106] layers listed highest first, as OBS does, are put right by what comes, and who wants the top gets it', () => {
  const { publication, sent, keyFrames, play, order } = stage([1000, 600, 300]);
  const taps: string[] = [];
  publication.addTap({
    wants: () => true,
    wantsBackup: false,
    forward: ({ ssrc }, layer) => void taps.push(`${ssrc}:${layer}`),
    senderReport() {},
  });
  play(1);
  assert.equal(order(), '0 1 2', 'the order of the offer, until more is known');
  assert.ok(sent.length > 0 && sent.every(({ bytes }) => bytes < 600));
  play(4);
  assert.equal(order(), '2 1 0');
  assert.ok(keyFrames.includes(100), 'a key frame of the layer that is the top now');
  sent.length = 0;
  taps.length = 0;
  play(2);
  assert.equal(sent.length, 40);
  assert.ok(sent.every(({ bytes }) => bytes > 900));
  const first = sent[0]?.sequence ?? 0;
  assert.deepEqual(
    sent.map(({ sequence }) => sequence - first),
    sent.map((_, index) => index),
    'without a gap in its numbers',
  );
  assert.deepEqual([...new Set(taps)], ['100:2', '101:1', '102:0'], 'other processes too');
});

test('[MED-106] any order is put right, once it is clear', () => {
  for (const [sizes, expected] of [
    [[600, 1000, 300], '2 0 1'],
    [[300, 1000, 600], '0 2 1'],
    [[300, 600, 1000], '0 1 2'],
    // A top layer that the uplink starves takes little more, or less, than the one below.
    [[300, 1000, 700], '0 1 2'],
  ] as const) {
    const { play, order } = stage(sizes);
    play(5);
    assert.equal(order(), expected);
  }
});

test('[MED-106] a layer that comes later is put in its place then; a client of the SDK said the order itself', () => {
  const late = stage([1000, 600, 300]);
  late.play(5, [0, 1]);
  assert.equal(late.order(), '1 0 2');
  late.play(5);
  assert.equal(late.order(), '2 1 0');
  const said = stage([1000, 600, 300], false);
  said.play(5);
  assert.equal(said.order(), '0 1 2');
});

test('[MED-81] four layers are four streams, and who wants the fourth gets that one alone', () => {
  const { sent, keyFrames, play, order } = stage([200, 400, 700, 1000], false);
  play(2);
  assert.equal(order(), '0 1 2 3');
  assert.equal(sent.length, 40);
  assert.ok(sent.every(({ bytes }) => bytes > 1000));
  assert.ok(keyFrames.every((ssrc) => ssrc === 103));
});
