import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CodecName } from '@parley/media-description';
import fc from 'fast-check';
import { vp8Payload } from '../../testkit/packets.ts';
import { newVp8Descriptor, readVp8, redPrimary, startsKeyFrame } from './payload.ts';

const starts = (codec: CodecName, bytes: number[] | Buffer) =>
  startsKeyFrame(codec, Buffer.from(bytes), 0, bytes.length);

test('[MED-13] key frames are recognised in VP8, VP9, H264 and AV1', () => {
  assert.ok(starts('VP8', vp8Payload(1, 1, true)));
  assert.ok(!starts('VP8', vp8Payload(1, 1, false)));
  assert.ok(!starts('VP8', [0x80, 0x80, 0x01, 0x00]), 'not the start of a frame');

  assert.ok(starts('VP9', [0x8b, 0x81, 0x23]), 'not predicted, begins a frame');
  assert.ok(!starts('VP9', [0xcb, 0x81, 0x23]), 'predicted');
  assert.ok(!starts('VP9', [0x83, 0x81, 0x23]), 'not the start');
  assert.ok(!starts('VP9', [0xaa, 0x01, 0x02, 0x00]), 'a higher spatial layer');

  assert.ok(starts('H264', [0x67, 0x42]), 'SPS');
  assert.ok(starts('H264', [0x65, 0x88]), 'IDR');
  assert.ok(starts('H264', [0x7c, 0x85, 0x88]), 'first fragment of an IDR');
  assert.ok(!starts('H264', [0x7c, 0x05, 0x88]), 'a later fragment');
  assert.ok(starts('H264', [0x78, 0, 2, 0x68, 0xce, 0, 2, 0x67, 0x42]), 'SPS inside an aggregate');
  assert.ok(!starts('H264', [0x41, 0x9a]), 'not IDR');

  assert.ok(starts('AV1', [0x18, 0x0a]));
  assert.ok(!starts('AV1', [0x10, 0x0a]));
  assert.ok(!starts('AV1', [0x98, 0x0a]), 'goes on from another packet');
});

test('[MED-13] a VP8 descriptor gives picture id, TL0PICIDX and where they are', () => {
  const descriptor = newVp8Descriptor();
  assert.ok(readVp8(vp8Payload(0x7abc, 0xee, true), 0, 10, descriptor));
  assert.deepEqual([descriptor.pictureId, descriptor.pictureIdBits, descriptor.pictureIdAt], [0x7abc, 15, 2]);
  assert.deepEqual([descriptor.tl0PicIdx, descriptor.tl0PicIdxAt, descriptor.payloadStart], [0xee, 4, 6]);
});

test('[MED-13] the newest block of RED is found', () => {
  const red = Buffer.from([0xef, 0, 0, 2, 0x6f, 1, 2, 7, 8, 9]);
  assert.deepEqual(redPrimary(red, 0, red.length), { start: 7, end: 10 });
  assert.equal(redPrimary(Buffer.from([0xef, 0, 3, 0xff, 0x6f, 1]), 0, 6), undefined);
});

test('[MED-11] no payload makes a reader throw', () => {
  const codecs: CodecName[] = ['VP8', 'VP9', 'H264', 'AV1', 'opus'];
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const buffer = Buffer.from(bytes);
      for (const codec of codecs) startsKeyFrame(codec, buffer, 0, buffer.length);
      redPrimary(buffer, 0, buffer.length);
    }),
    { numRuns: 2000 },
  );
});
