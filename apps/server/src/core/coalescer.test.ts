import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCoalescer } from './coalescer.ts';

function openCoalescer() {
  const published: string[] = [];
  let [failures, rested] = [0, (): void => {}];
  const coalescer = createCoalescer<string, string[]>({
    newPending: () => [],
    publish(key, pending) {
      if (failures-- > 0) throw new Error('not published');
      published.push(`${key}: ${pending.join()}`);
    },
    rest: () => new Promise<void>((resolve) => (rested = resolve)),
    first: 'now',
  });
  return {
    published,
    note: (what: string) => coalescer.note('a', (pending) => pending.push(what)),
    fail: (times: number) => (failures = times),
    async rest() {
      rested();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('the first of a key is published at once, what follows together after its rest', async () => {
  const { published, note, rest } = openCoalescer();
  for (const what of ['1', '2', '3']) note(what);
  assert.deepEqual(published, ['a: 1']);
  await rest();
  assert.deepEqual(published, ['a: 1', 'a: 2,3']);
  await rest();
  note('4');
  assert.deepEqual(published, ['a: 1', 'a: 2,3', 'a: 4']);
});

test('a key whose publish failed is published again after its rest', async () => {
  const { published, note, fail, rest } = openCoalescer();
  fail(1);
  assert.throws(() => note('1'), /not published/);
  note('2');
  assert.deepEqual(published, []);
  await rest();
  assert.deepEqual(published, ['a: 2']);
});
