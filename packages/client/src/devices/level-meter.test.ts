import assert from 'node:assert/strict';
import { test } from 'node:test';
import { levelOf } from './level-meter.ts';

const tone = (amplitude: number): Float32Array =>
  Float32Array.from({ length: 2048 }, (_, at) => amplitude * Math.sin(at / 4));

test('[SDK-67] a level is 0 for silence, 1 for the loudest, and rises as the ear hears it', () => {
  assert.equal(levelOf(tone(0)), 0);
  assert.equal(levelOf(tone(0.0005)), 0);
  assert.equal(levelOf(new Float32Array(64).fill(1)), 1);
  const levels = [0.01, 0.1, 1].map((amplitude) => levelOf(tone(amplitude)));
  assert.deepEqual(levels, [0.28, 0.62, 0.95]);
});
