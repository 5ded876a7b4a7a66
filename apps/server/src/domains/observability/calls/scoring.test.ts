import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBatch } from './samples.ts';
import { mosOf, noScore, pictureOf, scoreOf, sumsOf } from './scoring.ts';

test('[OBS-26] sound is scored by the E-model, a picture by its height, its freezes and its frames', () => {
  const sounds: readonly [rttMs: number, jitterMs: number, lossPercent: number, mos: number][] = [
    [0, 0, 0, 4.4],
    [100, 10, 0, 4.4],
    [100, 10, 2, 4.2],
    [100, 10, 10, 3.4],
    [600, 30, 0, 3.5],
    [100, 10, 30, 1.2],
    [2_000, 200, 100, 1],
  ];
  for (const [rttMs, jitterMs, lossPercent, mos] of sounds)
    assert.equal(
      Math.round(mosOf({ rttMs, jitterMs, lossPercent }) * 10) / 10,
      mos,
      `${rttMs} ${jitterMs} ${lossPercent}`,
    );
  const pictures: readonly [height: number, freezeMs: number, fps: number | null, score: number][] = [
    [720, 0, 30, 5],
    [360, 0, null, 4.5],
    [180, 0, 20, 4],
    [90, 0, 20, 3],
    [720, 0, 10, 4.5],
    [720, 0, 3, 3.5],
    [720, 2_500, 30, 3],
    [720, 5_000, 30, 1],
    [90, 9_000, 0, 1],
  ];
  for (const [height, freezeMs, fps, score] of pictures)
    assert.equal(pictureOf({ height, freezeMs, fps, everyMs: 5_000 }), score, `${height} ${freezeMs} ${fps}`);
});

test('[OBS-26] a score is of what was heard and seen; what is worse counts double, and what is silent not at all', () => {
  const batch = (tracks: object[]) => readBatch({ everyMs: 5_000, count: 2, tracks }) ?? assert.fail();
  const sound = { id: 'a', way: 'in', kind: 'audio', kbps: [30, 30], loss: [0, 0], rtt: [0, 0], jitter: [0, 0] };
  const still = { id: 'v', way: 'in', kind: 'video', kbps: [300, 300], freeze: [5_000, 5_000], height: [720, 720] };
  const none = sumsOf(
    batch([
      { ...sound, kbps: [0, 0] },
      { ...still, way: 'out' },
    ]),
  );
  assert.deepEqual([none, scoreOf(none)], [noScore, null]);
  const both = sumsOf(batch([sound, still]));
  assert.deepEqual([both.soundCount, both.pictureCount, both.pictureSum], [2, 2, 2]);
  assert.equal(Math.round((scoreOf(both) ?? 0) * 10) / 10, 2.1);
  assert.equal(scoreOf(sumsOf(batch([still]))), 1);
});
