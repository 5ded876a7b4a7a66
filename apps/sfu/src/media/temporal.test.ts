import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CodecName } from '@parley/media-description';
import fc from 'fast-check';
import { SkippedNumbers } from './skipped-numbers.ts';
import { FrameRates, newTemporalPlace, readTemporal } from './temporal.ts';

const place = (codec: CodecName, bytes: number[], before = newTemporalPlace()) => {
  const { layer, startsLayer, opensHigher } = before;
  const found = { layer, startsLayer, opensHigher };
  readTemporal(codec, undefined, Buffer.from(bytes), 0, bytes.length, found);
  return found;
};

test('[MED-52] VP9 carries the temporal layer and where higher ones may start', () => {
  assert.deepEqual(place('VP9', [0xa0, 0x81, 0x02, 0x50]), { layer: 2, startsLayer: false, opensHigher: true });
  assert.equal(place('VP9', [0xa0, 0x05, 0x20]).layer, 1, 'after a short picture id');
  assert.equal(place('VP9', [0x80, 0x05, 0xff]).layer, 0, 'without layers');
});

test('[MED-52] H264 marks which slices nothing refers to', () => {
  assert.equal(place('H264', [0x01, 1]).layer, 1);
  assert.equal(place('H264', [0x61, 1]).layer, 0);
  assert.equal(place('H264', [0x1c, 0x81, 1]).layer, 1, 'in fragments');
  assert.equal(place('H264', [0x7c, 0x81, 1]).layer, 0);
  assert.equal(place('H264', [0x06, 1]).layer, 0, 'what is no slice belongs to its frame');
});

test('[MED-52] AV1 carries it in the first header of a frame; packets that go on have the layer of their frame', () => {
  assert.equal(place('AV1', [0x10, 0x34, 0x40, 9]).layer, 2, 'one element without a length');
  assert.equal(place('AV1', [0x00, 0x03, 0x34, 0x20, 9]).layer, 1, 'elements with lengths');
  assert.equal(place('AV1', [0x20, 0x01, 0x12, 0x34, 0x40, 9]).layer, 2, 'after a delimiter');
  assert.equal(place('AV1', [0x10, 0x30, 0x40, 9]).layer, 0, 'without an extension');
  const before = { layer: 2, startsLayer: false, opensHigher: false };
  assert.deepEqual(place('AV1', [0x90, 0x30, 9], before), before);
});

test('[MED-11] no payload makes the reader of temporal layers throw or hang', () => {
  fc.assert(
    fc.property(fc.constantFrom('VP9', 'H264', 'AV1' as const), fc.uint8Array({ maxLength: 20 }), (codec, bytes) => {
      place(codec as CodecName, [...bytes]);
    }),
    { numRuns: 2000 },
  );
});

test('[MED-52] a wished rate chooses the highest layer within it', () => {
  const rates = new FrameRates();
  assert.equal(rates.layerFor(1), 7, 'nothing is left out before the rates are known');
  // 30 frames a second: every fourth in the base, every second below the top; three packets each.
  for (let frame = 0; frame < 70; frame += 1)
    for (let packet = 0; packet < 3; packet += 1)
      rates.packet([0, 2, 1, 2][frame % 4] ?? 0, frame * 3000, frame * 33.3);
  assert.deepEqual(
    [0, 5, 8, 14, 16, 29, 60].map((fps) => rates.layerFor(fps)),
    [0, 0, 0, 1, 1, 7, 7],
  );
});

test('[MED-52] numbers after those left out move up, across every wrap-around', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(7, 15, 16),
      fc.nat(127),
      fc.array(fc.boolean(), { minLength: 300, maxLength: 600 }),
      (bits, start, kept) => {
        const skipped = new SkippedNumbers(bits);
        const mask = 2 ** bits - 1;
        let out = 0;
        kept.forEach((isKept, index) => {
          const number = (start + index) & mask;
          if (isKept) {
            assert.equal(index - skipped.before(number), out);
            out += 1;
          } else skipped.add(number);
        });
      },
    ),
  );
});
