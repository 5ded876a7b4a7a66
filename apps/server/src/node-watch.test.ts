import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warnWithoutNodes } from './node-watch.ts';

/** What is logged of a fleet that answers so, look by look; the last answer stays. */
async function warnings(
  answers: boolean[],
  { patienceMs = 60_000, isStopping = (): boolean => false } = {},
): Promise<string[]> {
  const said: string[] = [];
  const log = { warn: (_fields: object, text: string) => void said.push(text) };
  const takesRooms = async () => (answers.length > 1 ? answers.shift() : answers[0]) === true;
  await warnWithoutNodes({ takesRooms, log, isStopping, patienceMs, everyMs: 1 });
  return said;
}

test('[RUN-28] a server without a media node beside it warns when none comes, and not of one that comes after it', async () => {
  assert.deepEqual(await warnings([true]), []);
  assert.deepEqual(await warnings([false, true]), []);
  const [warning = '', ...more] = await warnings([false], { patienceMs: 20 });
  assert.match(warning, /^No media node takes rooms/);
  assert.deepEqual(more, []);
  assert.deepEqual(await warnings([false], { isStopping: () => true }), []);
});
