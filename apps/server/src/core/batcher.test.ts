import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatcherFull, type BatcherOptions, createBatcher } from './batcher.ts';

/** A batcher whose batches end when the test says so. */
function slowBatcher(options: Partial<BatcherOptions<number, string>> = {}) {
  const batches: { items: readonly number[]; end: (error?: Error) => void }[] = [];
  const batcher = createBatcher<number, string>({
    batchMax: 3,
    waitingMax: 4,
    write: (items) =>
      new Promise((resolve, reject) => {
        batches.push({ items, end: (error) => (error ? reject(error) : resolve(items.map((item) => `r${item}`))) });
      }),
    ...options,
  });
  const started = () => batches.map(({ items }) => items);
  return { batcher, batches, started };
}

test('[STO-16] what arrives together is written together, what arrives meanwhile goes with the next batch', async () => {
  const { batcher, batches, started } = slowBatcher();
  const results = [batcher.add(1), batcher.add(2)];
  await nextTurn();
  results.push(batcher.add(3), batcher.add(4), batcher.add(5), batcher.add(6));
  await nextTurn();
  assert.deepEqual(started(), [[1, 2]]);
  batches[0]?.end();
  assert.deepEqual(await Promise.all(results.slice(0, 2)), ['r1', 'r2']);
  assert.deepEqual(
    started(),
    [
      [1, 2],
      [3, 4, 5],
    ],
    'as many as fit',
  );
  batches[1]?.end();
  await results[4];
  batches[2]?.end();
  await batcher.flush();
  assert.equal(await results[5], 'r6');
});

test('[STO-16] what waits is bounded: one more is refused, those before it are not', async () => {
  const { batcher, batches } = slowBatcher();
  const kept = [1, 2, 3, 4].map((item) => batcher.add(item));
  await assert.rejects(batcher.add(5), BatcherFull);
  await nextTurn();
  batches[0]?.end();
  await kept[0];
  batches[1]?.end();
  assert.deepEqual(await Promise.all(kept), ['r1', 'r2', 'r3', 'r4']);
});

test('[STO-16] batches side by side are answered in the order in which they ended', async () => {
  const written: number[] = [];
  const { batcher, batches } = slowBatcher({
    batchMax: 1,
    mayStart: ({ running }) => running < 2,
    onWritten: (items) => written.push(...items),
  });
  const results = [batcher.add(1), batcher.add(2)];
  await nextTurn();
  await nextTurn();
  batches[0]?.end();
  batches[1]?.end();
  assert.deepEqual(await Promise.all(results), ['r1', 'r2']);
  assert.deepEqual(written, [1, 2]);
});

test('[STO-16] a batch that fails fails for its own items alone', async () => {
  const { batcher, batches } = slowBatcher();
  const lost = batcher.add(1);
  await nextTurn();
  const stored = batcher.add(2);
  batches[0]?.end(new Error('down'));
  await assert.rejects(lost, /down/);
  batches[1]?.end();
  assert.equal(await stored, 'r2');
});

test('[STO-16] what arrives while a batch is written gathers too, unless it fills a batch', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { batcher, batches, started } = slowBatcher({ gatherMs: 50 });
  const first = batcher.add(1);
  t.mock.timers.tick(50);
  const second = batcher.add(2);
  batches[0]?.end();
  await first;
  assert.deepEqual(started(), [[1]], 'the second waits for company');
  t.mock.timers.tick(50);
  const full = [3, 4, 5].map((item) => batcher.add(item));
  batches[1]?.end();
  await second;
  assert.deepEqual(started(), [[1], [2], [3, 4, 5]], 'a full batch waits for nothing');
  batches[2]?.end();
  await Promise.all(full);
});

test('[STO-16] flush does not wait for company, and resolves when everything is written', async () => {
  const { batcher, batches, started } = slowBatcher({ gatherMs: 60_000 });
  const result = batcher.add(1);
  const flushed = batcher.flush();
  assert.deepEqual(started(), [[1]]);
  batches[0]?.end();
  await flushed;
  assert.equal(await result, 'r1');
});
