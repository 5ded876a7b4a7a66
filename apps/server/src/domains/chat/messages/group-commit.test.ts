import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { toServiceError } from '../../../core/faults.ts';
import { createGroupCommit } from './group-commit.ts';

interface Item {
  room: string;
  key?: string;
  file?: string;
  isBad?: boolean;
}

/** A store whose batches end when the test says so. */
function slowStore() {
  const batches: { items: readonly Item[]; end: () => void }[] = [];
  const published: (readonly Item[])[] = [];
  const clock = createFakeClock();
  const keysOf = ({ key, file }: Item) => [key, file].filter((each) => each !== undefined);
  const queue = createGroupCommit<Item, string>({
    clock,
    keysOf,
    takenKeys: (item, outcome) => {
      if (outcome === 'refused') return [];
      return outcome === 'repeated' ? keysOf(item).slice(0, 1) : keysOf(item);
    },
    lockOf: ({ room }) => room,
    store: (items) =>
      new Promise((resolve, reject) => {
        const end = () =>
          items.some(({ isBad }) => isBad) ? reject(new Error('bad')) : resolve(items.map(({ room }) => room));
        batches.push({ items, end });
      }),
    publish: (items) => published.push(items),
  });
  const settle = async () => {
    for (let turn = 0; turn < 4; turn++) await nextTurn();
  };
  return { batches, published, queue, clock, settle };
}

test('[SEA-9] it is crowded while as many wait as are worth a batch, and between two of them', async () => {
  const { batches, queue, clock, settle } = slowStore();
  const first = queue.add({ room: 'a' });
  await settle();
  const others = Array.from({ length: 11 }, () => queue.add({ room: 'a' }));
  assert.equal(queue.isCrowded(), false);
  others.push(queue.add({ room: 'a' }));
  // The batch under way is late after 20 ms and asks once more who waits: long after that too.
  await clock.advance(1_000);
  assert.equal(queue.isCrowded(), true, 'they wait, and no others came');
  batches[0]?.end();
  await settle();
  assert.equal(queue.isCrowded(), true, 'nobody waits for a moment');
  await clock.advance(100);
  assert.equal(queue.isCrowded(), false, 'they are stored, and no others came');
  batches[1]?.end();
  await Promise.all([first, ...others]);
});

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
  assert.equal(batches.length, 3, 'three at a time');
  batches[0]?.end();
  assert.deepEqual(await Promise.all(first), ['a', 'b', 'a']);
  await settle();
  assert.deepEqual(batches[3]?.items, [{ room: 'a' }, { room: 'b' }, { room: 'e' }]);
  for (const { end } of batches.slice(1)) end();
  assert.deepEqual(await Promise.all(later), ['a', 'c', 'b']);
});

test('[MSG-16] twelve that wait run beside the batch under way, and what it locks waits', async () => {
  const { batches, queue, settle } = slowStore();
  const answers = [queue.add({ room: 'a' })];
  await settle();
  answers.push(...Array.from({ length: 11 }, (_, at) => queue.add({ room: at < 5 ? 'a' : 'b' })));
  await settle();
  assert.equal(batches.length, 1, 'too few to be worth a batch');
  answers.push(queue.add({ room: 'b' }));
  await settle();
  assert.deepEqual(
    batches.map(({ items }) => items.length),
    [1, 7],
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

test('[MSG-16] the next batch is under way before the answers of the last, which follow the announcements', async () => {
  const { batches, published, queue, settle } = slowStore();
  const order: string[] = [];
  const first = queue
    .add({ room: 'a' })
    .then(() => order.push(`${batches.length} under way, ${published.length} published`));
  await settle();
  const second = queue.add({ room: 'a' });
  await settle();
  assert.equal(batches.length, 1);
  batches[0]?.end();
  await first;
  assert.deepEqual(order, ['2 under way, 1 published']);
  batches[1]?.end();
  await second;
  assert.deepEqual(published, [[{ room: 'a' }], [{ room: 'a' }]]);
});

test('[REQ-11] a send that is one too many has the same answer as every other fault of the service', async () => {
  const { batches, queue, settle } = slowStore();
  const first = queue.add({ room: 'a' });
  await settle();
  const others = Array.from({ length: 5_000 }, () => queue.add({ room: 'a' }));
  const { code, fields } = await queue.add({ room: 'a' }).then(() => assert.fail('stored'), toServiceError);
  assert.deepEqual({ code, ...fields }, { code: 'SVC_SERVICE_UNAVAILABLE', retryAfterSeconds: 2 });
  for (let at = 0; at < 26; at++) {
    batches[at]?.end();
    await settle();
  }
  await Promise.all([first, ...others]);
});
