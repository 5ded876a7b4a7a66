import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { createGroupCommit } from './group-commit.ts';

interface Item {
  room: string;
  key?: string;
  file?: string;
  isBad?: boolean;
}

/** A store whose batches end when the test says so. */
function slowStore({ hasLine = true } = {}) {
  const batches: { items: readonly Item[]; isInLine: boolean; end: () => void }[] = [];
  const told: (readonly Item[])[] = [];
  const clock = createFakeClock();
  const keysOf = ({ key, file }: Item) => [key, file].filter((each) => each !== undefined);
  const queue = createGroupCommit<Item, string>({
    clock,
    keysOf,
    foundKeys: (item, outcome) => {
      if (outcome === 'refused') return [];
      return outcome === 'repeated' ? keysOf(item).slice(0, 1) : keysOf(item);
    },
    lockOf: ({ room }) => room,
    hasLine,
    store: (items, { isInLine }) =>
      new Promise((resolve, reject) => {
        const end = () =>
          items.some(({ isBad }) => isBad) ? reject(new Error('bad')) : resolve(items.map(({ room }) => room));
        batches.push({ items, isInLine, end });
      }),
    tell: (items) => told.push(items),
  });
  const settle = async () => {
    for (let turn = 0; turn < 4; turn++) await nextTurn();
  };
  return { batches, told, queue, clock, settle };
}

test('[MSG-16] who asks together is stored together; behind a batch that takes long only the same conversation waits', async () => {
  const { batches, queue, clock, settle } = slowStore();
  const first = [queue.add({ room: 'a' }), queue.add({ room: 'b' }), queue.add({ room: 'a' })];
  await settle();
  assert.deepEqual(
    batches.map(({ items }) => items.map(({ room }) => room)),
    [['a', 'b', 'a']],
  );
  const later = [queue.add({ room: 'a' }), queue.add({ room: 'c' }), queue.add({ room: 'b' })];
  await settle();
  assert.equal(batches.length, 1, 'they are gathered for one large batch');
  await clock.advance(20);
  await settle();
  assert.deepEqual(batches[1]?.items, [{ room: 'c' }], 'a and b are locked by the batch under way');
  queue.add({ room: 'd' });
  await clock.advance(20);
  await settle();
  assert.deepEqual(batches[2]?.items, [{ room: 'd' }], 'the second is late too');
  queue.add({ room: 'e' });
  await clock.advance(20);
  await settle();
  assert.deepEqual(
    batches.map(({ isInLine }) => isInLine),
    [true, false, false],
    'three at a time, beside the first: in line behind it they would wait with it',
  );
  batches[0]?.end();
  assert.deepEqual(await Promise.all(first), ['a', 'b', 'a']);
  await settle();
  assert.deepEqual(batches[3]?.items, [{ room: 'a' }, { room: 'b' }, { room: 'e' }]);
  for (const { end } of batches.slice(1)) end();
  assert.deepEqual(await Promise.all(later), ['a', 'c', 'b']);
});

test('[MSG-16] twelve who wait get in line behind the batch under way, whatever it locks; then all wait', async () => {
  const { batches, queue, settle } = slowStore();
  const ask = (count: number) => Array.from({ length: count }, () => queue.add({ room: 'a' }));
  const answers = ask(1);
  await settle();
  answers.push(...ask(11));
  await settle();
  assert.equal(batches.length, 1, 'too few to be worth a batch');
  answers.push(...ask(1));
  await settle();
  answers.push(...ask(30));
  await settle();
  assert.deepEqual(
    batches.map(({ items, isInLine }) => [items.length, isInLine]),
    [
      [1, true],
      [12, true],
    ],
  );
  batches[0]?.end();
  await settle();
  assert.deepEqual([batches[2]?.items.length, batches[2]?.isInLine], [30, true]);
  batches[1]?.end();
  batches[2]?.end();
  assert.equal((await Promise.all(answers)).length, 43);
});

test('[MSG-16] whoever gets in line does not wait for a batch that runs beside it', async () => {
  const { batches, queue, clock, settle } = slowStore();
  const answers = [queue.add({ room: 'a' })];
  await settle();
  await clock.advance(20);
  answers.push(queue.add({ room: 'b' }));
  await settle();
  batches[0]?.end();
  await settle();
  answers.push(...Array.from({ length: 12 }, (_, at) => queue.add({ room: at === 0 ? 'b' : 'c' })));
  await settle();
  assert.deepEqual(
    batches.map(({ items, isInLine }) => [items.length, isInLine]),
    [
      [1, true],
      [1, false],
      [11, true],
    ],
    'b is locked by the batch beside',
  );
  batches[1]?.end();
  batches[2]?.end();
  await settle();
  batches[3]?.end();
  assert.equal((await Promise.all(answers)).length, 14);
});

test('[MSG-16] without a line the twelve run beside the batch under way, and what it locks waits', async () => {
  const { batches, queue, settle } = slowStore({ hasLine: false });
  const answers = [queue.add({ room: 'a' })];
  await settle();
  answers.push(...Array.from({ length: 12 }, (_, at) => queue.add({ room: at < 5 ? 'a' : 'b' })));
  await settle();
  assert.deepEqual(
    batches.map(({ items, isInLine }) => [items.length, isInLine]),
    [
      [1, false],
      [7, false],
    ],
  );
  for (const at of [0, 1, 2]) {
    batches[at]?.end();
    await settle();
  }
  assert.equal((await Promise.all(answers)).length, 13);
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

test('[MSG-16] many retries of what has been stored go together; of what was refused one by one', async () => {
  for (const [room, then] of [
    ['a', [3]],
    ['refused', [1, 1, 1]],
  ] as const) {
    const { batches, queue, settle } = slowStore();
    const answers = Array.from({ length: 4 }, () => queue.add({ room, key: 'k' }));
    for (let batch = 0; batch <= then.length; batch++) {
      await settle();
      batches[batch]?.end();
    }
    await Promise.all(answers);
    assert.deepEqual(
      batches.map(({ items }) => items.length),
      [1, ...then],
    );
  }
});

test('[MSG-16] a repeat is found by its own key; what else it names is still to be had by one alone', async () => {
  const { batches, queue, settle } = slowStore();
  const answers = [
    queue.add({ room: 'repeated', key: 'k0', file: 'f' }),
    queue.add({ room: 'a', key: 'k1', file: 'f' }),
    queue.add({ room: 'a', key: 'k2', file: 'f' }),
    queue.add({ room: 'repeated', key: 'k0' }),
    queue.add({ room: 'repeated', key: 'k0' }),
  ];
  for (let batch = 0; batch < 3; batch++) {
    await settle();
    batches[batch]?.end();
  }
  await Promise.all(answers);
  assert.deepEqual(
    batches.map(({ items }) => items.map(({ key }) => key)),
    [['k0'], ['k1', 'k0', 'k0'], ['k2']],
  );
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

test('[MSG-16] the next batch is under way before the answers of the last, which follow the telling', async () => {
  const { batches, told, queue, settle } = slowStore();
  const order: string[] = [];
  const first = queue.add({ room: 'a' }).then(() => order.push(`${batches.length} under way, ${told.length} told`));
  await settle();
  const second = queue.add({ room: 'a' });
  await settle();
  assert.equal(batches.length, 1);
  batches[0]?.end();
  await first;
  assert.deepEqual(order, ['2 under way, 1 told']);
  batches[1]?.end();
  await second;
  assert.deepEqual(told, [[{ room: 'a' }], [{ room: 'a' }]]);
});
