import assert from 'node:assert/strict';
import { once } from 'node:events';
import { getTestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where an error would be thrown, or a test declared. */
const places: Record<string, (callback: () => void) => void> = {
  'a timer': (callback) => void setTimeout(callback, 1),
  'an immediate': (callback) => void setImmediate(callback),
  'a tick': (callback) => process.nextTick(callback),
  'a microtask': (callback) => queueMicrotask(callback),
  'a promise': (callback) => void sleep(1).then(callback),
  'an event': (callback) => void once(AbortSignal.timeout(1), 'abort').then(callback),
};

for (const [place, enter] of Object.entries(places))
  test(`what happens in ${place} belongs to the test that began it`, async (t) => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    enter(() => resolve(getTestContext()?.fullName));
    assert.equal(await promise, t.fullName);
  });

test('a test that is declared in another one is part of it', async (t) => {
  await sleep(1);
  await test('inner', (inner) => assert.equal(inner.fullName, `${t.fullName} > inner`));
});
