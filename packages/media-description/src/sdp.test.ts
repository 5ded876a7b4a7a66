import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { answerDelta, apply, delta, expectedAnswer } from './delta.ts';
import type { Description } from './description.ts';
import { parseDescription } from './parse.ts';
import { fromSdp, toSdp } from './sdp.ts';

const folder = new URL('../fixtures/', import.meta.url);
const fixture = (name: string) => readFileSync(new URL(`${name}.sdp`, folder), 'utf8');
const names = readdirSync(folder).map((file) => file.replace('.sdp', ''));

test('[MED-1] a browser SDP survives the way to a description, over JSON, to SDP and back', () => {
  assert.ok(names.length >= 3);
  for (const name of names) {
    const description = fromSdp(fixture(name));
    const travelled = parseDescription(JSON.parse(JSON.stringify(description)));
    assert.deepEqual(travelled, description, name);
    assert.deepEqual(fromSdp(toSdp(description)), description, name);
  }
});

test('[MED-1] a simulcast offer keeps what the node needs and nothing else', () => {
  const { ice, dtls, media } = fromSdp(fixture('publish-simulcast-offer'));
  assert.ok(ice && ice.pwd.length >= 22);
  assert.equal(dtls?.role, 'actpass');
  const [audio, video] = media;
  assert.deepEqual(
    audio?.codecs?.map((codec) => codec.name),
    ['opus', 'red'],
  );
  assert.equal(audio?.ssrcs?.length, 1);
  assert.deepEqual(video?.rids, ['q', 'h', 'f']);
  assert.equal(video?.ssrcs, undefined);
  assert.equal(video?.extensions?.rid, 10);
  assert.deepEqual([...new Set(video?.codecs?.map((codec) => codec.name))], ['VP8', 'H264', 'AV1', 'VP9']);
});

test('[MED-1] a description is a fraction of its SDP', () => {
  const sdp = fixture('publish-simulcast-offer');
  assert.ok(JSON.stringify(fromSdp(sdp)).length * 3 < sdp.length);
});

const track = (mid: string): Description['media'][number] => ({
  mid,
  kind: 'video',
  direction: 'sendonly',
  trackId: 'trk_abcdefghijklmnopqrstuvwx',
  streamId: 'ps_abcdefghijklmnopqrstuvwx',
  codecs: [{ name: 'VP8', pt: 96, rtx: 97 }],
  ssrcs: [1_000_000_001, 1_000_000_002],
});

test('[MED-2] after the first exchange only changed entries travel, and applying them gives the whole', () => {
  const before = fromSdp(fixture('publish-plain-offer-gathered'));
  const after: Description = {
    ...before,
    media: [
      ...before.media.map((entry, index) => (index === 1 ? { ...entry, direction: 'inactive' as const } : entry)),
      track('9'),
    ],
  };
  const change = delta(before, after);
  assert.deepEqual(
    change.media.map((entry) => entry.mid),
    ['1', '9'],
  );
  assert.equal(change.ice, undefined);
  assert.deepEqual(apply(before, change), after);
  assert.deepEqual(delta(after, after), { media: [] });
});

test('[MED-2] a subscriber that takes what it is offered answers with its transport only', () => {
  const offer: Description = { ...fromSdp(fixture('publish-plain-offer-gathered')), media: [track('0'), track('1')] };
  const answer: Description = { ...fromSdp(fixture('subscribe-answer')), media: expectedAnswer(offer) };
  assert.deepEqual(answerDelta(offer, answer, true), { ice: answer.ice, dtls: answer.dtls, media: [] });
  const refused = { ...answer, media: answer.media.map((entry) => ({ ...entry, codecs: [] })) };
  assert.deepEqual(
    answerDelta(offer, refused, false).media.map(({ mid, codecs }) => [mid, codecs]),
    [
      ['0', []],
      ['1', []],
    ],
  );
});

test('[MED-3] an offer of 98 tracks fits three signaling frames', () => {
  const offer = Array.from({ length: 98 }, (_, index) => track(String(index)));
  assert.ok(JSON.stringify(offer).length < 3 * 14_000);
});

test('[MED-4] a description that could break an SDP line, or is not one, is refused', () => {
  const good = { ...fromSdp(fixture('publish-plain-offer-gathered')) };
  assert.ok(parseDescription(good));
  const entry = good.media[0];
  const bad: unknown[] = [
    null,
    [],
    { media: 'x' },
    { media: [entry, entry] },
    { media: [{ ...entry, mid: '0\r\na=candidate:1' }] },
    { media: [{ ...entry, trackId: 'a\nb' }] },
    { media: [{ ...entry, codecs: [{ name: 'VP8', pt: 96, fmtp: 'x\r\na=y' }] }] },
    { media: [{ ...entry, codecs: [{ name: '__proto__', pt: 96 }] }] },
    { media: [{ ...entry, codecs: [{ name: 'VP8', pt: 128 }] }] },
    { media: [{ ...entry, extensions: { mid: 0 } }] },
    { media: [{ ...entry, ssrcs: [1.5] }] },
    { media: [{ ...entry, rids: ['a', 'a'] }] },
    { media: [], ice: { ufrag: 'abcd', pwd: 'short' } },
    { media: [], dtls: { role: 'active', fingerprint: 'sha-256 zz' } },
    { media: [], candidates: ['udp 1 host\r\n 1 host'] },
    { media: Array.from({ length: 257 }, (_, index) => ({ ...entry, mid: String(index) })) },
  ];
  for (const value of bad) assert.equal(parseDescription(value), undefined, JSON.stringify(value)?.slice(0, 120));
});

test("[MED-1] GStreamer's way of writing is read: lines that live only in the bundle, codec names in capitals", () => {
  const sdp = [
    'v=0',
    'a=group:BUNDLE video0 audio1',
    'm=video 9 UDP/TLS/RTP/SAVPF 96',
    'a=mid:video0',
    'a=sendonly',
    'a=rtpmap:96 VP8/90000',
    'm=audio 0 UDP/TLS/RTP/SAVPF 111',
    'a=bundle-only',
    'a=mid:audio1',
    'a=sendonly',
    'a=rtpmap:111 OPUS/48000/2',
    'm=audio 0 UDP/TLS/RTP/SAVPF 111',
    'a=mid:off',
    'a=sendonly',
    'a=rtpmap:111 opus/48000/2',
    '',
  ].join('\r\n');
  assert.deepEqual(
    fromSdp(sdp).media.map(({ mid, direction, codecs }) => [mid, direction, codecs?.map(({ name }) => name)]),
    [
      ['video0', 'sendonly', ['VP8']],
      ['audio1', 'sendonly', ['opus']],
      ['off', 'inactive', []],
    ],
  );
});

test('[MED-1] transport-wide numbers are taken only where feedback about them is wanted too', () => {
  const sdp = fixture('publish-simulcast-offer');
  const isNumbered = (text: string) =>
    fromSdp(text).media.map(({ extensions }) => extensions?.transportCc !== undefined);
  assert.deepEqual(isNumbered(sdp), [true, true]);
  assert.deepEqual(isNumbered(sdp.replaceAll(/a=rtcp-fb:\d+ transport-cc\r?\n/g, '')), [false, false]);
  const written = toSdp({ ...fromSdp(sdp), media: [track('0')] });
  assert.match(written, /a=rtcp-fb:96 transport-cc\r\n/, 'what the node offers by default');
});

const videoLine = (...lines: string[]): string =>
  ['v=0', 'm=video 9 UDP/TLS/RTP/SAVPF 96 97 98', 'a=mid:0', 'a=sendonly', ...lines, ''].join('\r\n');

test('[MED-80] H264 of every usual profile is taken; of several the one that every browser decodes', () => {
  const h264 = (pt: number, profile: string) => [
    `a=rtpmap:${pt} H264/90000`,
    `a=fmtp:${pt} packetization-mode=1;profile-level-id=${profile}`,
  ];
  const typesOf = (...lines: string[]) => fromSdp(videoLine(...lines)).media[0]?.codecs?.map(({ pt }) => pt);
  for (const profile of ['42c01f', '42001f', '42E01F', '4d001f', '64001f', '640c1f'])
    assert.deepEqual(typesOf(...h264(96, profile)), [96], profile);
  assert.deepEqual(typesOf(...h264(96, '64001f'), ...h264(97, '42e01f'), ...h264(98, '42001f')), [97]);
  assert.deepEqual(typesOf(...h264(96, 'f4001f')), [], '4:4:4 is decoded by few');
});

test('[MED-119] what repeats a stream is read from its group and its codec, however that is written', () => {
  const [, aiortc] = fromSdp(fixture('publish-aiortc-offer')).media;
  assert.deepEqual(aiortc?.ssrcs, [3582061443, 3235040663]);
  assert.deepEqual(
    aiortc?.codecs?.map(({ name, pt, rtx }) => [name, pt, rtx]),
    [
      ['VP8', 97, 98],
      ['H264', 101, 102],
    ],
  );
  assert.equal(fromSdp(fixture('publish-simulcast-offer')).media[1]?.extensions?.repairedRid, 11);
  const rtxOf = (...lines: string[]) =>
    fromSdp(videoLine('a=rtpmap:96 VP8/90000', ...lines)).media[0]?.codecs?.find(({ pt }) => pt === 96)?.rtx;
  assert.equal(rtxOf('a=rtpmap:97 RTX/90000', 'a=fmtp:97 apt=96;rtx-time=3000'), 97);
  assert.equal(rtxOf('a=rtpmap:97 rtx/90000', 'a=fmtp:97 rtx-time=3000; apt=96'), 97);
  assert.equal(rtxOf('a=rtpmap:97 rtx/90000', 'a=fmtp:97 apt=961'), undefined);
  const ssrcsOf = (...lines: string[]) => fromSdp(videoLine(...lines)).media[0]?.ssrcs;
  assert.deepEqual(
    ssrcsOf('a=ssrc-group:FEC-FR 1 3', 'a=ssrc-group:FID 1  2 ', 'a=ssrc:1 a', 'a=ssrc:3 a', 'a=ssrc:2 a'),
    [1, 2],
  );
  assert.deepEqual(ssrcsOf('a=ssrc-group:FEC-FR 1 3', 'a=ssrc:1 cname:a', 'a=ssrc:3 cname:a'), [1]);
});

test('[MED-81] layers are those that the offer sends, whatever else it lists, and up to four', () => {
  const ridsOf = (line: string) => fromSdp(videoLine(`a=simulcast:${line}`)).media[0]?.rids;
  assert.deepEqual(ridsOf('recv x;y send a;b'), ['a', 'b']);
  assert.deepEqual(ridsOf('send a,b;~c recv x'), ['a', 'c']);
  const entry = { mid: '0', kind: 'video', direction: 'sendonly', rids: ['a', 'b', 'c', 'd'] };
  assert.ok(parseDescription({ media: [entry] }));
  assert.equal(parseDescription({ media: [{ ...entry, rids: [...entry.rids, 'e'] }] }), undefined);
});
