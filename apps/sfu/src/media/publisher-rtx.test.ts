import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { MediaTrackRequest } from '@parley/contract/media-control';
import { type Codec, type Description, fromSdp, type MediaEntry, toSdp } from '@parley/media-description';
import { everything } from '../../testkit/call.ts';
import { type PacketInit, paddingPacket, rtpPacket, rtxPacket, vp8Payload } from '../../testkit/packets.ts';
import { local } from '../../testkit/room-stage.ts';
import type { PeerTransport, PeerTransportListener } from './peer-transport.ts';
import { Publisher } from './publisher.ts';
import { readRtcp } from './rtcp.ts';
import { newRtpView, type RtpView, readRtp } from './rtp.ts';
import { Subscription } from './subscription.ts';

const VP8: Codec = { name: 'VP8', pt: 96, rtx: 97 };
const [MID, RID, REPAIRED_RID, NUMBER] = [1, 2, 3, 4] as const;
const IDS = { mid: MID, rid: RID, repairedRid: REPAIRED_RID, transportCc: NUMBER };

const camera = (mid: string, own: Partial<MediaEntry> = {}): MediaEntry => ({
  mid,
  kind: 'video',
  direction: 'sendonly',
  trackId: `cid-${mid}`,
  codecs: [VP8],
  extensions: IDS,
  ...own,
});

interface Got {
  sequence: number;
  bytes: number;
}

/** A publisher of cameras on a transport that is open at once, and of each camera who watches its top layer. */
function stage(entries: MediaEntry[]) {
  let now = 1000;
  let listener: PeerTransportListener | undefined;
  let tracks = 0;
  const nacks: [ssrc: number, sequences: number[]][] = [];
  const keyFrames: number[] = [];
  const feedback: { base: number; arrived: boolean[] }[] = [];
  const lost: number[] = [];
  const send = (packet: Buffer): void => {
    readRtcp(packet, {
      nack: (ssrc, sequences) => nacks.push([ssrc, sequences]),
      keyFrameRequest: (ssrc) => keyFrames.push(ssrc),
      receptionReport: ({ packetsLost }) => lost.push(packetsLost),
      transportFeedback: ({ base, count, arrivals }) =>
        feedback.push({ base, arrived: [...arrivals.subarray(0, count)].map((at) => !Number.isNaN(at)) }),
    });
  };
  const publisher = new Publisher({
    clock: { now: () => now, wall: () => 0 },
    isPlain: false,
    newTrackId: () => `trk_${++tracks}`,
    newTransport(_, own) {
      listener = own;
      return { acceptOffer: () => local, send, close() {} } as unknown as PeerTransport;
    },
    candidates: () => [],
    permissions: () => everything,
    events: {
      state() {},
      published() {},
      backedUp() {},
      backupLost() {},
      unpublished() {},
      started() {},
      audioLevel() {},
      rebound() {},
    },
  });
  const requests = entries.map(
    ({ trackId = '' }): MediaTrackRequest => ({ cid: trackId, kind: 'VIDEO', source: 'UNKNOWN', name: trackId }),
  );
  const { description } = publisher.offer(requests, { ...local, media: entries });
  const view = newRtpView();
  const got = new Map<string, Got[]>();
  for (const publication of publisher.publications.values()) {
    const list: Got[] = [];
    got.set(publication.mid, list);
    const rtp = (packet: Buffer) => {
      assert.ok(readRtp(packet, view));
      list.push({ sequence: view.sequence, bytes: view.payloadEnd - view.payloadStart });
    };
    const ids = { ssrc: 10, rtxSsrc: 11, payloadType: 96, redPayloadType: undefined, rtxPayloadType: 97 };
    const subscription = new Subscription(publication, ids, { rtp, rtcp() {} }, () => 0);
    publication.subscribe(subscription);
    subscription.setTarget(publication.layers.length - 1);
  }
  return {
    publisher,
    answer: description,
    nacks,
    keyFrames,
    feedback,
    lost,
    give: (packet: Buffer) => listener?.packet(packet),
    /** Milliseconds in steps of the clock. */
    pass(ms: number) {
      for (const end = now + ms; now < end; ) {
        now += 20;
        publisher.tick(now);
      }
    },
    report: () => publisher.uplink.report(now),
    take: (mid = '0') => got.get(mid)?.splice(0) ?? [],
  };
}

/** One packet a picture. */
const picture = (sequence: number, own: Partial<PacketInit> = {}): PacketInit => ({
  sequence,
  timestamp: sequence * 3000,
  ssrc: 100,
  marker: true,
  payload: vp8Payload(sequence, sequence & 0xff, sequence === 1),
  ...own,
});
const mid = (name: string): [number, number[]] => [MID, [...Buffer.from(name)]];
const rid = (name: string): [number, number[]] => [RID, [...Buffer.from(name)]];
const repairs = (name: string): [number, number[]] => [REPAIRED_RID, [...Buffer.from(name)]];
const rtx = (sequence: number, own: Partial<PacketInit> = {}) => ({ sequence, ssrc: 200, payloadType: 97, ...own });
const numbers = (got: readonly Got[]): number[] => got.map(({ sequence }) => sequence);

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
    const { answer, publisher } = stage(video);
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
  const answered = (own: Partial<MediaEntry>) => stage([camera('0', own)]).answer.media[0];
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
  const { publisher, give, pass, report, take, nacks, lost } = stage([camera('0', { ssrcs: [100, 200] })]);
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
  const { publisher, give, take } = stage([camera('0', { ssrcs: [100, 200] })]);
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
  const on = stage([camera('0', { rids }), camera('1'), camera('2')]);
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
    const { give, take, nacks } = stage([camera('0', { ...(ssrcs && { ssrcs }) })]);
    give(rtxPacket(picture(1), rtx(1)));
    assert.deepEqual([take(), nacks], [[], []]);
    for (const sequence of [1, 3]) give(rtpPacket(picture(sequence, { extensions: [mid('0')] })));
    give(rtxPacket(picture(2), rtx(2)));
    assert.equal(take().length, 3);
  }
});

test('[MED-120] padding and what is too short are dropped, and are in the feedback about the path', () => {
  const { give, take, pass, nacks, feedback } = stage([camera('0', { ssrcs: [100, 200] })]);
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
  const on = stage([camera('0', { ssrcs: [100, 200] }), camera('1')]);
  on.give(rtpPacket(picture(1)));
  on.give(rtpPacket(picture(1, { ssrc: 200, extensions: [mid('0')] })));
  on.give(rtpPacket(picture(2)));
  assert.deepEqual(on.take().length, 2, 'the stream was not replaced by what repeats it');
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
  const { publisher, give, pass, take, nacks } = stage([camera('0', { ssrcs: [100, 200] })]);
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

test('[MED-121] a path that is probed with padding costs no key frame, on a stream of its own or within the video', () => {
  for (const hasRtx of [true, false]) {
    const { give, pass, take, nacks, keyFrames } = stage([
      camera('0', { ssrcs: [100, 200], codecs: [hasRtx ? VP8 : { name: 'VP8', pt: 96 }] }),
    ]);
    pass(20);
    keyFrames.length = 0;
    let sequence = 0;
    let next = 1;
    let padded = 0;
    for (let frame = 1; frame <= 200; frame += 1) {
      const timestamp = frame * 3000;
      const payload = vp8Payload(frame, frame & 0xff, frame === 1);
      give(rtpPacket({ sequence: ++sequence, timestamp, ssrc: 100, marker: true, payload }));
      for (let probe = 0; probe < 6; probe += 1) {
        // Each third one is lost, but not the last: what is lost there could be of the next frame.
        const isLost = probe % 3 === 1;
        padded += 1;
        const own = hasRtx ? rtx(next++) : { sequence: ++sequence, ssrc: 100 };
        if (!isLost) give(paddingPacket({ ...own, timestamp }));
      }
      pass(40);
    }
    assert.ok(padded > 1000);
    assert.deepEqual(nacks, [], 'none is asked for, as nobody would repeat it');
    assert.deepEqual(keyFrames, []);
    assert.equal(take().filter(({ bytes }) => bytes > 0).length, 200);
  }
});

test('[MED-121] padding that came fills its number; what lies between it and a picture is asked for', () => {
  const { give, pass, nacks, keyFrames } = stage([camera('0', { ssrcs: [100], codecs: [{ name: 'VP8', pt: 96 }] })]);
  const padding = (sequence: number, timestamp: number) => give(paddingPacket({ sequence, timestamp, ssrc: 100 }));
  give(rtpPacket(picture(1)));
  give(rtpPacket(picture(5, { timestamp: 6000, marker: false })));
  padding(2, 3000);
  padding(4, 3000);
  assert.deepEqual(nacks, [[100, [2, 3, 4]]]);
  give(rtpPacket(picture(3, { timestamp: 3000 })));
  pass(400);
  assert.equal(nacks.length, 1);
  padding(7, 6000);
  assert.deepEqual(nacks.at(-1), [100, [6]], 'the picture was not over');
  padding(9, 9000);
  assert.deepEqual(nacks.at(-1), [100, [8]], 'nor is a picture between two paddings over');
  const before = keyFrames.length;
  give(rtpPacket(picture(6, { timestamp: 6000 })));
  give(rtpPacket(picture(8, { timestamp: 9000 })));
  pass(1000);
  assert.equal(keyFrames.length, before);
});
