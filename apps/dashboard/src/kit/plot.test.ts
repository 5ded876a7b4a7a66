import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barSpan, lineX, needsSeconds, plotWidth, pointAt, roundTop, tickIndexes, tickPlace } from './plot.ts';

test('[DASH-60] every place in a bar shows that bar, and of a line the nearest point', () => {
  for (const total of [1, 2, 7, 24, 60]) {
    for (let index = 0; index < total; index++) {
      const { x, width } = barSpan(index, total);
      for (const part of [0.01, 0.25, 0.5, 0.75, 0.99])
        assert.equal(pointAt('bars', (x + width * part) / plotWidth, total), index, `bar ${index} of ${total}`);
      assert.equal(pointAt('line', lineX(index, total) / plotWidth, total), index);
      assert.equal(tickPlace('line', index, total), lineX(index, total) / plotWidth);
      assert.ok(Math.abs(tickPlace('bars', index, total) * plotWidth - (x + width / 2)) < 1e-9);
    }
    assert.deepEqual([pointAt('bars', -1, total), pointAt('bars', 2, total)], [0, total - 1]);
  }
});

test('[DASH-60] a scale ends at a round number of which half is one too, and a single event is no tower', () => {
  assert.deepEqual([0, 1, 4, 5, 21, 100, 301].map(roundTop), [4, 4, 4, 6, 24, 100, 400]);
  for (let value = 0; value < 5_000; value += 7) {
    const top = roundTop(value);
    assert.ok(top >= value && top % 2 === 0 && (value < 4 || top < value * 2), `${top} for ${value}`);
  }
});

test('[DASH-60] at most six points in time are named, evenly apart and with the last one', () => {
  for (const total of [1, 2, 5, 12, 24, 30, 60, 365]) {
    const ticks = tickIndexes(total);
    assert.ok(ticks.length <= 6 && ticks.at(-1) === total - 1, String(ticks));
    assert.ok(tickIndexes(total, 'long').length <= 4, 'longer names need more room');
    assert.ok(new Set(ticks.slice(1).map((index, before) => index - (ticks[before] ?? 0))).size <= 1);
  }
});

test('[DASH-93] points of less than a minute each are named with seconds, and others without', () => {
  const every = (seconds: number, total: number): string[] =>
    Array.from({ length: total }, (_, index) => new Date(index * seconds * 1000).toISOString());
  for (const total of [2, 4, 60]) {
    assert.equal(needsSeconds(every(5, total)), true);
    for (const seconds of [60, 3600, 86_400]) assert.equal(needsSeconds(every(seconds, total)), false);
  }
  for (const total of [0, 1]) assert.equal(needsSeconds(every(5, total)), false);
});
