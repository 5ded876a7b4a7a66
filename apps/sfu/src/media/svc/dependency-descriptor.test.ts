import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { descriptorOf, type Shape, SvcSource, toBytes } from '../../../testkit/svc.ts';
import { writeActiveTargets } from './active-targets.ts';
import { DependencyReader } from './dependency-descriptor.ts';

const L3T3: Shape = { mode: 'key', spatial: 3, temporal: 3, hasSizes: true };
const first = { spatial: 0, temporal: 0, isKey: true, frameNumber: 7, isStart: true, isEnd: false };
const read = (reader: DependencyReader, bytes: number[]) => reader.read(Uint8Array.from(bytes), 0, bytes.length);

test('[MED-85] a key frame announces the layers: their targets, chains and sizes', () => {
  const reader = new DependencyReader();
  const key = descriptorOf(L3T3, { ...first, fdiffs: [], chains: [0, 0, 0], hasStructure: true });
  const frame = read(reader, key);
  assert.ok(frame);
  const { structure, ...rest } = frame;
  assert.deepEqual([structure.targetCount, structure.chainCount, structure.spatialLayers], [9, 3, 3]);
  assert.deepEqual(structure.sizes.at(-1), { width: 1280, height: 720 });
  assert.deepEqual([...structure.protectedBy], [0, 0, 0, 1, 1, 1, 2, 2, 2]);
  assert.deepEqual([...rest.dtis], Array(9).fill(2));
  assert.deepEqual([rest.spatial, rest.temporal, rest.frameNumber, rest.active], [0, 0, 7, 511]);
  assert.equal(structure.targetFor(1, 7, 511), 5);
  assert.equal(structure.targetFor(2, 0, 511), 6);
  assert.equal(structure.targetFor(2, 7, 0b000111111), 5, 'what the publisher sends');
  assert.equal(structure.targetFor(0, 7, 0b111000000), 6, 'the lowest there is');
});

test('[MED-85] later packets refer to it, some with dependencies of their own', () => {
  const reader = new DependencyReader();
  assert.equal(read(reader, [0xc4, 0, 8]), undefined, 'nothing was announced yet');
  read(reader, descriptorOf(L3T3, { ...first, fdiffs: [], chains: [0, 0, 0], hasStructure: true, idOffset: 60 }));
  // Template 60 + 5 (the key frame of the second layer, after 4 of the first) wraps to 0 at 64.
  const short = read(reader, [0xc0, 0, 8]);
  assert.deepEqual([short?.spatial, short?.temporal, short?.isStart, short?.isEnd], [1, 0, true, true]);
  const own = { ...first, spatial: 2, temporal: 2, isKey: false, frameNumber: 9, idOffset: 60 };
  const long = read(reader, descriptorOf(L3T3, { ...own, fdiffs: [3, 14], chains: [200, 1, 2] }));
  assert.deepEqual(long?.fdiffs, [3, 14]);
  assert.deepEqual([...(long?.chains ?? [])], [200, 1, 2]);
  assert.deepEqual([...(long?.dtis ?? [])], [0, 0, 0, 0, 0, 0, 0, 0, 1]);
});

test('[MED-85] which targets are active holds until it is said anew; a late key frame brings nothing back', () => {
  const reader = new DependencyReader();
  const key = descriptorOf(L3T3, { ...first, fdiffs: [], chains: [0, 0, 0], hasStructure: true });
  const delta = { ...first, isKey: false, fdiffs: [1], chains: [1, 1, 1] };
  read(reader, key);
  assert.equal(read(reader, descriptorOf(L3T3, { ...delta, frameNumber: 10, active: 7 }))?.active, 7);
  assert.equal(read(reader, descriptorOf(L3T3, { ...delta, frameNumber: 11 }))?.active, 7);
  read(reader, key);
  assert.equal(read(reader, descriptorOf(L3T3, { ...delta, frameNumber: 12 }))?.active, 7);
});

test('[MED-85] what no descriptor can say is refused', () => {
  const reader = new DependencyReader();
  assert.equal(read(reader, [0x80, 0]), undefined, 'too short');
  assert.equal(read(reader, [0x80, 0, 1, 0x80, 0x00]), undefined, 'cut off');
  // Every step goes one temporal layer up, for ever.
  assert.equal(read(reader, [0x80, 0, 1, ...toBytes(`10000${'000000'}00000${'01'.repeat(200)}`)]), undefined);
  const key = descriptorOf(L3T3, { ...first, fdiffs: [], chains: [0, 0, 0], hasStructure: true });
  for (let length = 0; length < key.length - 2; length += 1)
    assert.equal(read(reader, key.slice(0, length)), undefined);
  assert.ok(read(reader, key));
  assert.equal(read(reader, [0xbf, 0, 8]), undefined, 'a template that there is not');
});

test('[MED-11] no descriptor makes its reader throw or hang', () => {
  const source = new SvcSource(L3T3);
  const key = descriptorOf(source.shape, { ...first, fdiffs: [], chains: [0, 0, 0], hasStructure: true });
  const damaged = fc
    .tuple(fc.array(fc.tuple(fc.nat(key.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }))
    .map(([changes]) => {
      const bytes = [...key];
      for (const [at, value] of changes) bytes[at] = value;
      return bytes;
    });
  const random = fc.uint8Array({ maxLength: 60 }).map((bytes) => [...bytes]);
  const reader = new DependencyReader();
  fc.assert(
    fc.property(fc.oneof(random, damaged), (bytes) => {
      const frame = read(reader, bytes);
      frame?.structure.targetFor(frame.spatial, frame.temporal, frame.active);
      frame?.structure.maskOf(0, frame.active);
    }),
    { numRuns: 3000 },
  );
});

test('[MED-86] other active targets are written into any descriptor, and nothing else is changed', () => {
  const key = descriptorOf(L3T3, { ...first, fdiffs: [], chains: [0, 0, 0], hasStructure: true });
  const delta = { ...first, isKey: false, frameNumber: 8, fdiffs: [1, 3], chains: [1, 2, 250] };
  for (const bytes of [key, descriptorOf(L3T3, delta), descriptorOf(L3T3, { ...delta, active: 7 }), [0xc1, 0, 8]]) {
    const [reader, theirs] = [new DependencyReader(), new DependencyReader()];
    for (const one of [reader, theirs]) read(one, key);
    const before = read(reader, bytes);
    assert.ok(before);
    const to = new Uint8Array(200).fill(0xff);
    const length = writeActiveTargets(Uint8Array.from([9, ...bytes]), 1, before, 0b111, to, 5);
    const after = theirs.read(to, 5, length);
    assert.equal(after?.active, 0b111);
    const { spatial, temporal, dtis, fdiffs, chains, isStart, isEnd, frameNumber } = before;
    assert.deepEqual(
      [after.spatial, after.temporal, after.dtis, after.fdiffs, after.chains, after.isStart, after.isEnd],
      [spatial, temporal, dtis, fdiffs, chains, isStart, isEnd],
    );
    assert.equal(after.frameNumber, frameNumber);
  }
});
