import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { newVp8Descriptor, readVp8 } from './payload.ts';
import { Publication } from './publication.ts';
import { newRtpView, readRtp } from './rtp.ts';
import { Subscription } from './subscription.ts';

const view = newRtpView();

function redMicrophone() {
  const publication = new Publication({
    id: 'trk_1',
    request: { cid: 'c', kind: 'AUDIO', source: 'MICROPHONE' },
    encoding: { codec: { name: 'opus', pt: 109 }, red: { name: 'red', pt: 63 } },
    mid: '0',
    rids: [],
    extensionIds: {},
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued() {} },
  });
  publication.bind(1, undefined);
  const listen = (redPayloadType: number | undefined) => {
    const sent: { payloadType: number; payload: number[] }[] = [];
    const ids = { ssrc: 10, rtxSsrc: 11, payloadType: 111, redPayloadType, rtxPayloadType: undefined };
    const take = (packet: Buffer) => {
      const read = newRtpView();
      assert.ok(readRtp(packet, read));
      sent.push({ payloadType: read.payloadType, payload: [...packet.subarray(read.payloadStart, read.payloadEnd)] });
    };
    const subscription = new Subscription(publication, ids, { rtp: take, rtcp: () => {} }, () => 0);
    publication.subscribe(subscription);
    subscription.setTarget(0);
    return sent;
  };
  const give = (payloadType: number, payload: number[], sequence: number) => {
    assert.ok(readRtp(rtpPacket({ sequence, payloadType, payload: Uint8Array.from(payload) }), view));
    publication.receive(view, 0, sequence * 20);
  };
  return { publication, listen, give };
}

test('[MED-38] RED goes as it is to who takes it, and as plain Opus to who does not', () => {
  const { listen, give } = redMicrophone();
  const takesRed = listen(63);
  const plain = listen(undefined);
  // The publisher numbers Opus 109, subscribers know it as 111.
  const redOf = (type: number) => [0x80 | type, 0, 0, 2, type, 1, 2, 7, 8, 9];
  give(63, redOf(109), 1);
  give(109, [5, 6], 2);
  assert.deepEqual(takesRed, [
    { payloadType: 63, payload: redOf(111) },
    { payloadType: 111, payload: [5, 6] },
  ]);
  assert.deepEqual(plain, [
    { payloadType: 111, payload: [7, 8, 9] },
    { payloadType: 111, payload: [5, 6] },
  ]);
});

test('[MED-34] a track muted by the server goes to nobody', () => {
  const { publication, listen, give } = redMicrophone();
  const sent = listen(63);
  give(111, [1], 1);
  publication.isMutedByServer = true;
  give(111, [2], 2);
  assert.equal(sent.length, 1);
});

test('[MED-96] a microphone that is not among the loudest goes to nobody here, but to other processes', () => {
  const { publication, listen, give } = redMicrophone();
  const sent = listen(63);
  let piped = 0;
  publication.addTap({ wants: () => true, wantsBackup: false, forward: () => piped++, senderReport() {} });
  publication.isAudible = false;
  give(111, [1], 1);
  assert.deepEqual([sent.length, piped], [0, 1]);
  publication.isAudible = true;
  give(111, [2], 2);
  assert.deepEqual([sent.length, piped], [1, 2]);
});

/** A camera, two who take it and some who do not yet; `sent` is what goes out, in its order. */
function camera(paused = 8) {
  let waits = 0;
  const publication = new Publication({
    id: 'trk_2',
    request: { cid: 'c', kind: 'VIDEO', source: 'CAMERA' },
    encoding: { codec: { name: 'VP8', pt: 96 }, red: undefined },
    mid: '0',
    rids: [],
    extensionIds: {},
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued: () => (waits += 1) },
  });
  publication.bind(1, undefined);
  const sent: string[] = [];
  const ids = { ssrc: 1, rtxSsrc: 2, payloadType: 96, redPayloadType: undefined, rtxPayloadType: undefined };
  const subscribe = (take: (packet: Buffer) => void) => {
    const subscription = new Subscription(publication, ids, { rtp: take, rtcp: () => {} }, () => 0);
    publication.subscribe(subscription);
    return subscription;
  };
  for (let index = 0; index < paused; index += 1) subscribe(() => assert.fail('it was paused'));
  const subscriptions = ['a', 'b'].map((name) => {
    const take = (packet: Buffer) => {
      const vp8 = newVp8Descriptor();
      const read = newRtpView();
      assert.ok(readRtp(packet, read) && readVp8(packet, read.payloadStart, read.payloadEnd, vp8));
      sent.push(`${name} ${read.sequence} ${read.timestamp} ${vp8.pictureId}.${vp8.temporalLayer}`);
    };
    const subscription = subscribe(take);
    subscription.setTarget(0);
    return subscription;
  });
  const give = (sequence: number, temporalLayer = 0) => {
    const payload = vp8Payload(100 + sequence, 0, sequence === 1);
    payload[5] = temporalLayer << 6;
    assert.ok(readRtp(rtpPacket({ sequence, timestamp: sequence * 3000, payload }), view));
    publication.receive(view, 0, sequence * 33);
  };
  return { publication, subscriptions, sent, give, waits: () => waits };
}

test('[MED-14] packets that came together go to each subscriber in a row, in their order and with their own numbers', () => {
  const { publication, sent, give, waits } = camera();
  for (const sequence of [1, 2, 3]) give(sequence);
  assert.deepEqual([sent.length, waits()], [0, 1]);
  publication.flush();
  const row = (name: string) => [`${name} 1 3000 101.0`, `${name} 2 6000 102.0`, `${name} 3 9000 103.0`];
  assert.deepEqual(sent, [...row('a'), ...row('b')]);
  publication.flush();
  assert.equal(sent.length, 6, 'nothing goes twice');
  give(4);
  assert.equal(waits(), 2);
  publication.flush();
  assert.deepEqual(sent.slice(6), ['a 4 12000 104.0', 'b 4 12000 104.0']);
});

test('[MED-14] to a few subscribers each packet goes at once, and so does what waited when others left', () => {
  const few = camera(0);
  few.give(1);
  assert.deepEqual([few.sent.length, few.waits()], [2, 0]);
  const crowd = camera(6);
  crowd.give(1);
  for (const subscription of crowd.subscriptions.slice(1)) crowd.publication.unsubscribe(subscription);
  crowd.give(2);
  assert.deepEqual(crowd.sent, ['a 1 3000 101.0', 'a 2 6000 102.0']);
});

test('[MED-14] however many come together, all of them go on', () => {
  const { publication, sent, give } = camera();
  const sequences = Array.from({ length: 100 }, (_, index) => index + 1);
  for (const sequence of sequences) give(sequence);
  publication.flush();
  for (const name of ['a', 'b'])
    assert.deepEqual(
      sent.filter((line) => line.startsWith(name)).map((line) => Number(line.split(' ')[1])),
      sequences,
    );
});

test('[MED-14] what waits when another stream takes over goes before it', () => {
  const { publication, sent, give } = camera();
  give(1);
  publication.bind(2, undefined);
  assert.deepEqual(sent, ['a 1 3000 101.0', 'b 1 3000 101.0']);
});

test('[MED-52] a frame is left out by its own temporal layer, not by that of a frame that came with it', () => {
  const { publication, subscriptions, sent, give } = camera();
  subscriptions[0]?.setTemporalLimit(0);
  give(1);
  give(2, 1);
  give(3);
  publication.flush();
  assert.deepEqual(sent.slice(0, 2), ['a 1 3000 101.0', 'a 2 9000 102.0']);
  assert.deepEqual(sent.slice(2), ['b 1 3000 101.0', 'b 2 6000 102.1', 'b 3 9000 103.0']);
});

test('[MED-34] what waits when the server mutes a track, or when a subscriber leaves it, does not go', () => {
  const { publication, subscriptions, sent, give } = camera();
  give(1);
  for (const subscription of subscriptions.slice(0, 1)) publication.unsubscribe(subscription);
  publication.flush();
  assert.deepEqual(sent, ['b 1 3000 101.0']);
  give(2);
  publication.isMutedByServer = true;
  publication.flush();
  publication.isMutedByServer = false;
  publication.flush();
  assert.equal(sent.length, 1);
});

test('[MED-79] a subscriber gets one unbroken stream over a restart of the source', () => {
  const publication = new Publication({
    id: 'trk_1',
    request: { cid: 'c', kind: 'VIDEO', source: 'CAMERA' },
    encoding: { codec: { name: 'VP8', pt: 96 }, red: undefined },
    mid: '0',
    rids: [],
    extensionIds: {},
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued() {} },
  });
  publication.bind(1, undefined);
  const sent: number[] = [];
  const ids = { ssrc: 10, rtxSsrc: 11, payloadType: 96, redPayloadType: undefined, rtxPayloadType: undefined };
  const take = (packet: Buffer) => sent.push(packet.readUInt16BE(2));
  const subscription = new Subscription(publication, ids, { rtp: take, rtcp: () => {} }, () => 0);
  publication.subscribe(subscription);
  subscription.setTarget(0);
  const give = (sequence: number, timestamp: number, isKey: boolean, now: number) => {
    const payload = vp8Payload(sequence & 0x7fff, 0, isKey);
    assert.ok(readRtp(rtpPacket({ sequence, timestamp, payloadType: 96, payload }), view));
    publication.receive(view, 0, now);
  };
  for (let index = 0; index < 5; index += 1) give(30_000 + index, index * 3000, index === 0, index * 33);
  for (let index = 0; index < 4; index += 1) give(200 + index, 9_000_000 + index * 3000, index === 2, 200 + index * 33);
  assert.deepEqual(sent, [1, 2, 3, 4, 5, 6, 7]);
});

test('[MED-108] a layer that falls silent while a lower one goes on is off; one of a picture that stands still is not', () => {
  const rids = ['q', 'h', 'f'];
  const publication = new Publication({
    id: 'trk_3',
    request: { cid: 'c', kind: 'VIDEO', source: 'CAMERA' },
    encoding: { codec: { name: 'VP8', pt: 96 }, red: undefined },
    mid: '0',
    rids,
    extensionIds: {},
    publishedAt: 0,
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {}, queued() {} },
  });
  for (const [index, rid] of rids.entries()) publication.bind(index + 1, rid);
  let [sequence, now] = [0, 10_000];
  const give = (layers: readonly number[], ms: number) => {
    for (const until = now + ms; now < until; now += 50) {
      sequence += 1;
      for (const layer of layers) {
        const payload = vp8Payload(sequence, 0, sequence === 1);
        assert.ok(readRtp(rtpPacket({ sequence, payloadType: 96, payload }), view));
        publication.receive(view, layer, now);
      }
    }
  };
  const served = () => [0, 1, 2].map((layer) => publication.canServe(layer, now));
  give([0, 1, 2], 1_000);
  give([0, 1], 500);
  assert.deepEqual(served(), [true, true, true]);
  give([0, 1], 200);
  assert.deepEqual(served(), [true, true, false]);
  give([0, 1, 2], 50);
  assert.deepEqual(served(), [true, true, true], 'it is back');
  give([], 1_500);
  assert.deepEqual(served(), [true, true, true], 'nothing moves');
  give([0], 300);
  assert.deepEqual(served(), [true, false, false]);
});
