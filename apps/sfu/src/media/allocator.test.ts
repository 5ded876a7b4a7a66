import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allocate, type Demand, layerForSize } from './allocator.ts';

const camera = (over: Partial<Demand> = {}): Demand => ({
  bitrates: [150_000, 500_000, 1_700_000],
  ceiling: 2,
  current: -1,
  priority: 100,
  ...over,
});

test('[MED-17] with enough bandwidth all get the best layer', () => {
  assert.deepEqual(allocate([camera(), camera({ ceiling: 1 })], 10_000_000), { layers: [2, 1], wantedBps: 0 });
});

test('[MED-17] when it is short all keep a picture before any gets a better one', () => {
  assert.deepEqual(allocate([camera(), camera(), camera()], 900_000).layers, [1, 0, 0]);
  assert.deepEqual(allocate([camera(), camera()], 200_000).layers, [0, -1]);
  assert.deepEqual(allocate([camera(), camera({ priority: 200 })], 200_000).layers, [-1, 0], 'a screen share first');
  assert.deepEqual(allocate([camera(), camera()], 50_000).layers, [0, -1], 'the most wanted picture never stops');
});

test('[MED-17] a layer that is being sent is kept where going up to it would not be tried', () => {
  assert.deepEqual(allocate([camera()], 1_720_000).layers, [1]);
  assert.deepEqual(allocate([camera({ current: 2 })], 1_720_000).layers, [2]);
});

test('[MED-17] what is given out never exceeds the budget, and more budget never gives less', () => {
  const demand = fc.record({
    bitrates: fc
      .array(fc.integer({ min: 10_000, max: 1_000_000 }), { minLength: 3, maxLength: 3 })
      .map((steps) => steps.map((_, index) => steps.slice(0, index + 1).reduce((sum, step) => sum + step, 0))),
    ceiling: fc.integer({ min: -1, max: 2 }),
    current: fc.constant(-1),
    priority: fc.nat(255),
  });
  const cost = (demands: Demand[], layers: number[]) =>
    demands.reduce((sum, { bitrates }, index) => sum + (bitrates[layers[index] ?? -1] ?? 0), 0);
  fc.assert(
    fc.property(fc.array(demand, { maxLength: 8 }), fc.nat(8_000_000), (demands, budget) => {
      const { layers, wantedBps } = allocate(demands, budget);
      const least = Math.max(0, ...demands.map(({ bitrates, ceiling }) => (ceiling < 0 ? 0 : (bitrates[0] ?? 0))));
      assert.ok(cost(demands, layers) <= Math.max(budget, least));
      layers.forEach((layer, index) => {
        assert.ok(layer <= (demands[index]?.ceiling ?? -1));
      });
      assert.equal(
        wantedBps === 0,
        demands.every(({ ceiling }, index) => layers[index] === ceiling),
      );
    }),
  );
});

test('[MED-17] the layer fits the element it is shown in', () => {
  const heights = [180, 360, 720];
  assert.equal(layerForSize(heights, undefined), 2);
  assert.equal(layerForSize(heights, 150), 0);
  assert.equal(layerForSize(heights, 400), 1);
  assert.equal(layerForSize(heights, 1080), 2);
  assert.equal(layerForSize([null, null, null], 200), 0, 'undeclared heights halve downward from 720');
});
