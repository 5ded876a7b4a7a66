import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rtpPacket } from '../../testkit/packets.ts';
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
    events: { keyFrameNeeded() {}, started() {}, audioLevel() {} },
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
