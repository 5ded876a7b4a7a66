import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Codec, type Description, fromSdp, type MediaEntry, toSdp } from '@parley/media-description';
import { type PacketInit, paddingPacket, rtpPacket, rtxPacket, vp8Payload } from '../../testkit/packets.ts';
import {
  camera,
  IDS,
  mid,
  NUMBER,
  numbers,
  picture,
  repairs,
  rid,
  rtx,
  stagePublisher,
  VP8,
} from '../../testkit/publisher-stage.ts';
import { local } from '../../testkit/room-stage.ts';
import { newRtpView, type RtpView, readRtp } from './rtp.ts';

const fixture = (name: string): Description =>
  fromSdp(
    readFileSync(new URL(`../../../../packages/media-description/fixtures/${name}.sdp`, import.meta.url), 'utf8'),
  );

test('[MED-119] browsers and aiortc may repeat their video by RTX, and never their sound', () => {
  for (const [name, pt, payloadType] of [
    ['publish-simulcast-offer', 96, 97],
    ['publish-plain-offer-gathered', 96, 97],
    ['publish-aiortc-offer', 97, 98],
  ] as const) {
    const offer = fixture(name);
    const video = offer.media.filter(({ kind }) => kind === 'video');
    const { answer, publisher } = stagePublisher(video);
    const [entry] = answer.media;
    assert.deepEqual(entry?.codecs, [{ name: 'VP8', pt, rtx: payloadType }], name);
    assert.equal(entry?.extensions?.repairedRid, video[0]?.extensions?.repairedRid);
    assert.match(
      toSdp({ ...local, ...answer }),
      new RegExp(`a=rtpmap:${payloadType} rtx/90000\r\na=fmtp:${payloadType} apt=${pt}`),
    );
    const again = publisher.restart({ ...offer, media: video.map((one) => ({ ...one, trackId: 'trk_1' })) });
    assert.deepEqual(again.description.media[0]?.codecs, entry?.codecs, 'nor is it lost with a transport');
    const sound = offer.media.filter(({ kind }) => kind === 'audio');
    const { description } = publisher.offer([{ cid: sound[0]?.trackId ?? '', kind: 'AUDIO', source: 'MICROPHONE' }], {
      media: sound.map((one) => ({ ...one, mid: 'a', codecs: [{ name: 'opus' as const, pt: 111, rtx: 112 }] })),
    });
    assert.deepEqual(
      description.media[0]?.codecs?.map(({ rtx }) => rtx),
      [undefined],
    );
  }
});

test('[MED-119] without RTX in the offer, or where it is not clear what repeats what, the answer has none', () => {
  const answered = (own: Partial<MediaEntry>) => stagePublisher([camera('0', own)]).answer.media[0];
  const plain = [{ name: 'VP8', pt: 96 }];
  const { repairedRid: _, ...withoutRepairedRid } = IDS;
  const rids = ['q', 'h'];
  assert.deepEqual(answered({ codecs: [{ name: 'VP8', pt: 96 }] })?.codecs, plain);
  assert.equal(answered({ codecs: [{ name: 'VP8', pt: 96 }], rids })?.extensions?.repairedRid, undefined);
  assert.deepEqual(answered({ rids, extensions: withoutRepairedRid })?.codecs, plain);
  assert.deepEqual(answered({ rids })?.codecs, [VP8]);
  assert.deepEqual(answered({ codecs: [{ ...VP8, rtx: 96 }] })?.codecs, plain);
  const circle: Codec[] = [VP8, { name: 'H264', pt: 97, rtx: 96 }];
  assert.deepEqual(answered({ codecs: circle })?.codecs, plain);
});

test('[MED-120] a lost packet that comes by RTX is not missing any more, to nobody', () => {
  const { publisher, give, pass, report, take, nacks, lost } = stagePublisher([camera('0', { ssrcs: [100, 200] })]);
  const taps: Pick<RtpView, 'ssrc' | 'payloadType' | 'sequence'>[] = [];
  const [publication] = publisher.publications.values();
  publication?.addTap({
    wants: () => true,
    wantsBackup: false,
    forward({ buffer }) {
      const view = newRtpView();
      assert.ok(readRtp(buffer, view));
      taps.push({ ssrc: view.ssrc, payloadType: view.payloadType, sequence: view.sequence });
    },
    senderReport() {},
  });
  for (const sequence of [1, 2, 4]) give(rtpPacket(picture(sequence)));
  assert.deepEqual(nacks, [[100, [3]]]);
  give(rtxPacket(picture(3), rtx(9)));
  pass(1000);
  give(rtpPacket(picture(5)));
  assert.deepEqual(nacks, [[100, [3]]], 'asked for once');
  const got = take();
  const first = got[0]?.sequence ?? 0;
  assert.deepEqual(
    numbers(got).map((number) => number - first),
    [0, 1, 3, 2, 4],
  );
  assert.ok(
    got.every(({ bytes }) => bytes === got[0]?.bytes),
    'all with their content',
  );
  assert.deepEqual(taps[3], { ssrc: 100, payloadType: 96, sequence: 3 });
  report();
  assert.deepEqual(lost, [0]);
});

test('[MED-120] a retransmission of a layer that does not go out has no content, as any that comes late', () => {
  const { publisher, give, take } = stagePublisher([camera('0', { ssrcs: [100, 200] })]);
  const frame = (sequence: number, temporal: number): PacketInit => {
    const payload = vp8Payload(sequence, sequence, sequence === 1);
    payload[5] = temporal << 6;
    return picture(sequence, { payload });
  };
  const [publication] = publisher.publications.values();
  publication?.subscriptions[0]?.setTemporalLimit(0);
  give(rtpPacket(frame(1, 0)));
  give(rtpPacket(frame(3, 2)));
  give(rtpPacket(frame(4, 0)));
  give(rtxPacket(frame(2, 2), rtx(1)));
  assert.equal(take().at(-1)?.bytes, 0);
});

test('[MED-120] RTX streams that the description does not name are learnt by what their packets say', () => {
  const rids = ['q', 'h', 'f'];
  const on = stagePublisher([camera('0', { rids }), camera('1'), camera('2')]);
  const layer = (index: number, sequence: number) =>
    picture(sequence, { ssrc: 100 + index, extensions: [mid('0'), rid(rids[index] ?? '')] });
  const layers = [0, 1, 2];
  for (const sequence of [1, 3]) for (const index of layers) on.give(rtpPacket(layer(index, sequence)));
  assert.deepEqual(
    on.nacks,
    layers.map((index) => [100 + index, [2]]),
  );
  const repeated = (index: number, own: Partial<PacketInit>) =>
    on.give(rtxPacket(picture(2, { ssrc: 100 + index }), rtx(1, { ssrc: 200 + index, ...own })));
  repeated(2, {});
  repeated(2, { extensions: [mid('0')] });
  repeated(2, { extensions: [mid('0'), repairs('x')] });
  assert.equal(on.take().length, 2, 'not by chance');
  repeated(2, { extensions: [mid('0'), repairs('f')] });
  assert.equal(on.take().length, 1);
  on.give(rtpPacket(layer(2, 5)));
  on.give(rtxPacket(picture(4), rtx(2, { ssrc: 202 })));
  assert.equal(on.take().length, 2, 'once is enough');
  for (const index of [0, 1]) repeated(index, { extensions: [repairs(rids[index] ?? '')] });
  on.pass(400);
  assert.equal(on.nacks.length, 4, 'those of the other layers came too');

  const other = (name: string, sequence: number) =>
    picture(sequence, { ssrc: 110 + Number(name), extensions: [mid(name)] });
  for (const name of ['1', '2']) for (const sequence of [1, 3]) on.give(rtpPacket(other(name, sequence)));
  on.give(rtxPacket(picture(2), rtx(1, { ssrc: 212 })));
  assert.equal(on.take('1').length + on.take('2').length, 4, 'either could be meant');
  on.give(rtxPacket(picture(2), rtx(1, { ssrc: 211, extensions: [mid('1')] })));
  on.give(rtxPacket(picture(2), rtx(1, { ssrc: 212 })));
  assert.deepEqual([on.take('1').length, on.take('2').length], [1, 1], 'by its m-line, then by what is left');
});

test('[MED-120] RTX before its stream is dropped, and taken once the stream is there', () => {
  for (const ssrcs of [[100, 200], [100], undefined]) {
    const { give, take, nacks } = stagePublisher([camera('0', { ...(ssrcs && { ssrcs }) })]);
    give(rtxPacket(picture(1), rtx(1)));
    assert.deepEqual([take(), nacks], [[], []]);
    for (const sequence of [1, 3]) give(rtpPacket(picture(sequence, { extensions: [mid('0')] })));
    give(rtxPacket(picture(2), rtx(2)));
    assert.equal(take().length, 3);
  }
});

test('[MED-120] whose RTX stream is described is not meant by another; what ends takes its RTX stream with it', () => {
  const cameras = [camera('0', { ssrcs: [100, 200] }), camera('1', { ssrcs: [101] })];
  const { publisher, give, take } = stagePublisher(cameras);
  const lose = (own: Partial<PacketInit>): void => {
    for (const sequence of [1, 3]) give(rtpPacket(picture(sequence, own)));
  };
  lose({});
  lose({ ssrc: 101 });
  give(rtxPacket(picture(2), rtx(1, { ssrc: 201 })));
  assert.deepEqual([take('0').length, take('1').length], [2, 3]);
  publisher.unpublish(['trk_2']);
  give(rtxPacket(picture(4), rtx(2, { ssrc: 201 })));
  assert.equal(take('1').length, 0);
  publisher.restart({ ...local, media: [{ ...camera('0', { ssrcs: [100, 200] }), trackId: 'trk_1' }] });
  give(rtxPacket(picture(2), rtx(1)));
  assert.equal(take().length, 0);
});

test('[MED-120] padding and what is too short are dropped, and are in the feedback about the path', () => {
  const { give, take, pass, nacks, feedback } = stagePublisher([camera('0', { ssrcs: [100, 200] })]);
  const number = (value: number): [number, number[]] => [NUMBER, [0, value]];
  give(rtpPacket(picture(1, { extensions: [number(1)] })));
  give(paddingPacket(rtx(1, { extensions: [number(2)] })));
  give(rtpPacket(rtx(2, { extensions: [number(3)], payload: Uint8Array.of(1) })));
  give(rtpPacket(rtx(3, { ssrc: 999, extensions: [number(5)], payload: Uint8Array.of(0, 9, 1) })));
  pass(100);
  assert.deepEqual(feedback, [{ base: 1, arrived: [true, true, true, false, true] }]);
  assert.equal(take().length, 1);
  assert.deepEqual(nacks, []);
});

test('[MED-120] an RTX stream is no track of its own, whatever it sends, nor are many more than there are streams', () => {
  const on = stagePublisher([camera('0', { ssrcs: [100, 200] }), camera('1')]);
  on.give(rtpPacket(picture(1)));
  on.give(rtpPacket(picture(1, { ssrc: 200, extensions: [mid('0')] })));
  on.give(rtpPacket(picture(1, { ssrc: 200, payload: Uint8Array.of(0, 2, 1) })));
  on.give(rtpPacket(picture(2)));
  const got = on.take();
  assert.deepEqual(
    got.map(({ bytes }) => bytes),
    [got[0]?.bytes, got[0]?.bytes],
    'the stream was not replaced by what repeats it',
  );
  on.give(rtpPacket(picture(1, { ssrc: 101, extensions: [mid('1')] })));
  for (let ssrc = 1000; ssrc < 2000; ssrc += 1)
    for (const extensions of [[], [mid('0')], [mid('1')], [mid('nowhere')]])
      on.give(rtxPacket(picture(2), rtx(1, { ssrc, extensions })));
  on.give(rtpPacket(picture(3, { ssrc: 1999, extensions: [mid('1')] })));
  assert.deepEqual(numbers(on.take('1')).length, 2);
  on.give(rtpPacket(picture(4)));
  on.give(rtxPacket(picture(3), rtx(2)));
  assert.equal(on.take().length, 2, 'what the description says holds');
  assert.equal(on.publisher.publications.size, 2);
  assert.equal(on.publisher.uplink.totals().length, 2);
});

test('[MED-120] with what came already a path is only probed: it is neither counted nor taken for a restart', () => {
  const { publisher, give, pass, take, nacks } = stagePublisher([camera('0', { ssrcs: [100, 200] })]);
  for (let sequence = 1; sequence <= 600; sequence += 1) {
    pass(20);
    give(rtpPacket(picture(sequence)));
  }
  take();
  const [publication] = publisher.publications.values();
  const rate = publication?.layers[0]?.upstream?.rate;
  const before = [rate?.bytes, rate?.lastMediaAt];
  pass(20);
  for (const from of [400, 590])
    for (let sequence = from; sequence < from + 10; sequence += 1) give(rtxPacket(picture(sequence), rtx(sequence)));
  assert.deepEqual([rate?.bytes, rate?.lastMediaAt], before);
  assert.deepEqual(take(), []);
  give(rtpPacket(picture(601)));
  assert.equal(take().length, 1);
  assert.deepEqual(nacks, []);
});
