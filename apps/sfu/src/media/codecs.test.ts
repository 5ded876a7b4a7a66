import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptedCodecs, acceptedExtensions } from './codecs.ts';

test('[MED-83] a voice may fall silent and is mono; the sound of a screen, and what is offered as stereo, is not cut', () => {
  const answer = (source: 'MICROPHONE' | 'SCREEN_SHARE_AUDIO', fmtp?: string) =>
    acceptedCodecs({ codec: { name: 'opus', pt: 111, ...(fmtp && { fmtp }) }, red: undefined }, source)[0]?.fmtp;
  const fec = 'minptime=10;useinbandfec=1';
  assert.equal(answer('MICROPHONE', fec), `${fec};usedtx=1`);
  assert.equal(answer('MICROPHONE', 'usedtx=0'), fec);
  assert.equal(answer('MICROPHONE', 'stereo=1;sprop-stereo=1'), `${fec};stereo=1;sprop-stereo=1`);
  assert.equal(answer('SCREEN_SHARE_AUDIO', fec), `${fec};stereo=1;sprop-stereo=1`);
});

test('[MED-85] the descriptor is taken of VP9 and AV1 in one stream', () => {
  const extensions = { mid: 4, dependencyDescriptor: 13 };
  const taken = (name: 'VP8' | 'VP9' | 'AV1', rids?: string[]) =>
    acceptedExtensions(
      { mid: '0', kind: 'video', direction: 'sendonly', extensions, ...(rids && { rids }) },
      { codec: { name, pt: 98 }, red: undefined },
    );
  assert.deepEqual(taken('VP9'), extensions);
  assert.deepEqual(taken('AV1'), extensions);
  assert.deepEqual(taken('VP8'), { mid: 4 });
  assert.deepEqual(taken('VP9', ['q', 'h']), { mid: 4 });
});
