import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGroupCommit } from './group-commit.ts';

interface Item {
  room: string;
  key?: string;
  isBad?: boolean;
}

/** A store whose batches end when the test says so. */
function slowStore() {
  const batches: { items: readonly Item[]; end: () => void }[] = [];
  const queue = createGroupCommit<Item, string>({
    keysOf: ({ key }) => (key === undefined ? [] : [key]),
    lockOf: ({ room }) => room,
    store: (items) =>
      new Promise((resolve, reject) => {
        const end = () =>
          items.some(({ isBad }) => isBad) ? reject(new Error('bad')) : resolve(items.map(({ room }) => room));
        batches.push({ items, end });
      }),
  });
  const settle = async () => {
    for (let turn = 0; turn < 4; turn++) await nextTurn();
  };
  return { batches, queue, settle };
}

test('[MSG-16] who asks together is stored together; who asks meanwhile waits for the same conversation only', async () => {
  const { batches, queue, settle } = slowStore();
  const first = [queue.add({ room: 'a' }), queue.add({ room: 'b' }), queue.add({ room: 'a' })];
  await settle();
  assert.deepEqual(
    batches.map(({ items }) => items.map(({ room }) => room)),
    [['a', 'b', 'a']],
  );
  const later = [queue.add({ room: 'a' }), queue.add({ room: 'c' }), queue.add({ room: 'b' })];
  await settle();
  assert.deepEqual(batches[1]?.items, [{ room: 'c' }], 'a and b are locked by the batch under way');
  queue.add({ room: 'd' });
  await settle();
  assert.equal(batches.length, 2, 'two at a time');
  batches[0]?.end();
  assert.deepEqual(await Promise.all(first), ['a', 'b', 'a']);
  await settle();
  assert.deepEqual(batches[2]?.items, [{ room: 'a' }, { room: 'b' }, { room: 'd' }]);
  batches[1]?.end();
  batches[2]?.end();
  assert.deepEqual(await Promise.all(later), ['a', 'c', 'b']);
});

test('[MSG-16] items with one key never share a batch', async () => {
  const { batches, queue, settle } = slowStore();
  const answers = [queue.add({ room: 'a', key: 'k' }), queue.add({ room: 'a', key: 'k' }), queue.add({ room: 'b' })];
  await settle();
  assert.deepEqual(batches[0]?.items, [{ room: 'a', key: 'k' }, { room: 'b' }]);
  batches[0]?.end();
  await settle();
  assert.deepEqual(batches[1]?.items, [{ room: 'a', key: 'k' }]);
  batches[1]?.end();
  assert.deepEqual(await Promise.all(answers), ['a', 'a', 'b']);
});

test('[MSG-16] one item that cannot be stored fails alone', async () => {
  const { batches, queue, settle } = slowStore();
  const answers = [queue.add({ room: 'a' }), queue.add({ room: 'b', isBad: true }), queue.add({ room: 'c' })];
  const outcomes = Promise.allSettled(answers);
  for (let batch = 0; batch < 4; batch++) {
    await settle();
    batches[batch]?.end();
  }
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
});
