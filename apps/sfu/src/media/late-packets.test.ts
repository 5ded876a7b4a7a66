import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CodecName } from '@parley/media-description';
import { rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { SvcSource } from '../../testkit/svc.ts';
import { Publication } from './publication.ts';
import { newRtpView, readRtp } from './rtp.ts';
import { Subscription } from './subscription.ts';

/** A camera and who watches it: of each packet that came, how long its content is. */
function stage(name: CodecName, rids: string[] = []) {
  const publication = new Publication({
    id: 'trk_1',
    request: { cid: 'c', kind: 'VIDEO', source: 'CAMERA' },
    encoding: { codec: { name, pt: 96 }, red: undefined },
    mid: '0',
    rids,
    extensionIds: rids.length > 0 ? {} : { dependencyDescriptor: 12 },
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued() {} },
  });
  if (rids.length === 0) publication.bind(1, undefined);
  rids.forEach((rid, layer) => {
    publication.bind(layer + 1, rid);
  });
  const view = newRtpView();
  const contents: number[] = [];
  const rtp = (packet: Buffer) => {
    assert.ok(readRtp(packet, view));
    contents.push(view.payloadEnd - view.payloadStart);
  };
  const ids = { ssrc: 1, rtxSsrc: 2, payloadType: 96, redPayloadType: undefined, rtxPayloadType: 97 };
  const subscription = new Subscription(publication, ids, { rtp, rtcp() {} }, () => 0);
  publication.subscribe(subscription);
  const give = (packet: Buffer, layer = 0): void => {
    const given = newRtpView();
    assert.ok(readRtp(packet, given));
    publication.receive(given, layer, 0);
  };
  const take = () => contents.splice(0);
  return { subscription, give, take };
}

test('[MED-118] the key frame that follows a late packet of a frame that was left out has its content', () => {
  const { subscription, give, take } = stage('VP8', ['q', 'f']);
  const packet = (sequence: number, frame: number, temporal: number, isKey = false): Buffer => {
    const payload = vp8Payload(frame, frame, isKey);
    payload[5] = temporal << 6;
    return rtpPacket({ sequence, timestamp: frame * 3000, payload });
  };
  subscription.setTarget(0);
  subscription.setTemporalLimit(0);
  give(packet(1, 1, 0, true));
  give(packet(3, 2, 2));
  give(packet(4, 3, 0));
  give(packet(2, 2, 2));
  const [first] = take();
  subscription.setTarget(1);
  give(packet(500, 3, 0, true), 1);
  assert.deepEqual(take(), [first]);
});

test('[MED-118] the key frame with which a stream of layers goes on after such a packet has its content', () => {
  const { subscription, give, take } = stage('VP9');
  const source = new SvcSource({ mode: 'key', spatial: 2, temporal: 1 });
  const picture = (isKey = false) => source.picture({ isKey }).flatMap(({ packets }) => packets);
  subscription.setTarget(1);
  for (const packet of picture(true)) give(packet);
  const [whole] = take();
  const [late, ...others] = picture();
  assert.ok(late);
  for (const packet of [...others, ...picture(), late]) give(packet);
  assert.equal(take().at(-1), 0);
  subscription.restart();
  for (const packet of picture(true)) give(packet);
  assert.equal(take()[0], whole);
});

test('[MED-118] the beginning of a key frame that comes late, with another structure of the layers, has its content', () => {
  const { subscription, give, take } = stage('VP9');
  const source = new SvcSource({ mode: 'full', spatial: 2, temporal: 1 });
  const picture = (isKey = false) => source.picture({ isKey }).flatMap(({ packets }) => packets);
  subscription.setTarget(1);
  for (const packet of [...picture(true), ...picture()]) give(packet);
  take();
  const [first, second, ...others] = picture(true);
  assert.ok(first && second);
  for (const packet of [...others, ...picture(), first, second]) give(packet);
  assert.equal(take().includes(0), false);
});

test('[MED-118] a late AV1 packet that does not say its layer has its content, whatever came before it', () => {
  for (const rids of [['q', 'f'], []]) {
    const { subscription, give, take } = stage('AV1', rids);
    /** Each frame of two packets, of which the second one goes on with what the first one began. */
    const packet = (sequence: number, temporal: number, isKey = false): Buffer => {
      const payload = [isKey ? 0x58 : 0x50, 0x34, temporal << 5, 1];
      const rest = [0x90, 2, 3];
      const isBegin = sequence % 2 === 0;
      return rtpPacket({ sequence, timestamp: (sequence >> 1) * 3000, payload: Buffer.from(isBegin ? payload : rest) });
    };
    subscription.setTarget(0);
    give(packet(0, 0, true));
    give(packet(1, 0));
    subscription.setTemporalLimit(0);
    give(packet(2, 0));
    give(packet(4, 2));
    give(packet(5, 2));
    give(packet(3, 0));
    assert.deepEqual(take(), [4, 3, 4, 3], rids.join());
    give(packet(8, 0));
    give(packet(6, 2));
    assert.deepEqual(take(), [4, 0], 'nor does that hide what it says');
  }
});

test('[MED-118] what comes late of a frame that went out before fewer were wanted has its content, and after that not', () => {
  const { subscription, give, take } = stage('H264', ['q', 'f']);
  const packet = (sequence: number, frame: number, nal: number): Buffer =>
    rtpPacket({ sequence, timestamp: frame * 3000, payload: Buffer.from([nal, 1, 2, 3]) });
  const [key, base, disposable] = [0x65, 0x61, 0x01] as const;
  subscription.setTarget(0);
  give(packet(1, 1, key));
  give(packet(2, 2, disposable));
  give(packet(4, 2, disposable));
  subscription.setTemporalLimit(0);
  give(packet(5, 3, base));
  give(packet(3, 2, disposable));
  assert.deepEqual(take(), [4, 4, 4, 4, 4]);

  give(packet(7, 4, disposable));
  subscription.setTemporalLimit(7);
  give(packet(8, 5, base));
  give(packet(6, 4, disposable));
  assert.deepEqual(take(), [4, 0]);
});
