import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stoppable } from './stoppable.ts';

test('what a start that fails has begun is ended, last first', async () => {
  const ended: number[] = [];
  const start = (isGood: boolean) =>
    stoppable(async (onStop) => {
      for (const at of [1, 2]) onStop(async () => void ended.push(at));
      if (!isGood) throw new Error('no third');
      return { name: 'both' };
    });
  await assert.rejects(start(false), /no third/);
  assert.deepEqual(ended, [2, 1]);
  const { name, stop } = await start(true);
  assert.deepEqual([name, ended.length], ['both', 2]);
  await stop();
  await stop();
  assert.deepEqual(ended, [2, 1, 2, 1]);
});
