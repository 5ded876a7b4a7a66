import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopDelay } from './loop-delay.ts';

test('[MED-124] the delay of the event loop is how late its ticks come, the worst of a hundred left out', () => {
  const delay = new LoopDelay();
  assert.equal(delay.takeSeconds(), 0);
  let now = 1000;
  delay.tick(now, 20);
  for (const late of [0, 5, 50, ...Array<number>(97).fill(1)]) {
    now += 20 + late;
    delay.tick(now, 20);
  }
  assert.equal(delay.takeSeconds(), 0.005);
  assert.equal(delay.takeSeconds(), 0, 'it was asked for already');
  delay.tick(now + 320, 20);
  assert.equal(delay.takeSeconds(), 0.3);
});

test('[MED-124] the first tick of another pace is not late', () => {
  const delay = new LoopDelay();
  delay.tick(1000, 20);
  delay.restart();
  delay.tick(1200, 200);
  assert.equal(delay.takeSeconds(), 0);
});
