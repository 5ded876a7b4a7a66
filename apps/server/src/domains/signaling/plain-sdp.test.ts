import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOffer, writeAnswer } from './plain-sdp.ts';

const transport = [
  'a=ice-ufrag:offr',
  `a=ice-pwd:${'p'.repeat(24)}`,
  `a=fingerprint:sha-256 ${'AB:'.repeat(31)}AB`,
  'a=setup:actpass',
];
const offerOf = (...lines: string[]): string => ['v=0', ...transport, ...lines, ''].join('\r\n');
const video = ['m=video 9 UDP/TLS/RTP/SAVPF 96', 'a=mid:v', 'a=sendonly', 'a=rtpmap:96 VP8/90000'];
const audio = ['m=audio 9 UDP/TLS/RTP/SAVPF 111', 'a=mid:a', 'a=sendonly', 'a=rtpmap:111 opus/48000/2'];

test('[RTC-95] layers are ordered by their restrictions, lowest first, and as listed without them', () => {
  const ridsOf = (...lines: string[]) => readOffer(offerOf(...video, ...lines)).media[0]?.rids;
  const large = 'a=rid:0 send max-width=1280;max-height=720';
  const small = 'a=rid:1 send pt=96;max-width=320;max-height=180';
  assert.deepEqual(ridsOf(large, small, 'a=simulcast:send 0;1'), ['1', '0']);
  assert.deepEqual(ridsOf('a=rid:h send max-br=900', 'a=rid:l send max-br=90', 'a=simulcast:send h;l'), ['l', 'h']);
  assert.deepEqual(ridsOf('a=rid:q send', 'a=rid:f send', 'a=simulcast:send q;f'), ['q', 'f']);
  assert.deepEqual(ridsOf(large, 'a=rid:1 send', 'a=simulcast:send 0;1'), ['0', '1'], 'not all say it');
});

test('[RTC-95] an id that names two extensions stays with the first', () => {
  const offer = readOffer(
    offerOf(
      ...audio,
      'a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid',
      'a=extmap:2 urn:ietf:params:rtp-hdrext:ssrc-audio-level',
      ...video,
      'a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid',
      'a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time',
    ),
  );
  assert.deepEqual(
    offer.media.map(({ extensions }) => extensions),
    [{ mid: 1, audioLevel: 2 }, { mid: 1 }],
  );
});

test('[RTC-95] an answer has no feedback and no attribute that was not offered', () => {
  const answer = (...lines: string[]) => {
    const sdp = offerOf(...video, ...lines);
    const offer = readOffer(sdp);
    const media = offer.media.map((entry) => ({ ...entry, direction: 'recvonly' as const }));
    const text = writeAnswer({ ...offer, media }, sdp);
    return text.split('\r\n').filter((line) => /^a=(rtcp-fb|rtcp-rsize|extmap-allow-mixed)/.test(line));
  };
  assert.deepEqual(answer(), []);
  assert.deepEqual(answer('a=rtcp-fb:96 nack pli', 'a=rtcp-fb:* nack', 'a=rtcp-rsize'), [
    'a=rtcp-rsize',
    'a=rtcp-fb:96 nack',
    'a=rtcp-fb:96 nack pli',
  ]);
});
