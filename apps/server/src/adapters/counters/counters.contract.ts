import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createFakeClock, type FakeClock } from '../../../testkit/kit/fake-clock.ts';
import type { Clock } from '../../core/clock.ts';
import type { Counters } from '../../core/ports.ts';

/** What counters promise. `open` gives what two processes have; `close` ends both. */
export function countersContract(
  name: string,
  open: (clock: Clock) => Promise<{ first: Counters; second: Counters; close(): Promise<void> }>,
): void {
  let clock: FakeClock;
  let opened: Awaited<ReturnType<typeof open>>;
  before(async () => {
    clock = createFakeClock();
    opened = await open(clock);
  });
  after(() => opened.close());

  test(`[STA-1] ${name}: a window starts with the first hit, counts over processes and starts over after its end`, async () => {
    const { first, second } = opened;
    assert.deepEqual(await first.hit('a', 10_000), { count: 1, remainingMs: 10_000 });
    clock.jump(4_000);
    assert.deepEqual(await second.hit('a', 10_000, 5), { count: 6, remainingMs: 6_000 });
    clock.jump(5_999);
    assert.deepEqual(await first.hit('a', 10_000), { count: 7, remainingMs: 1 });
    clock.jump(1);
    assert.deepEqual(await first.hit('a', 10_000), { count: 1, remainingMs: 10_000 });
  });

  test(`[STA-1] ${name}: take adds nothing beyond the limit`, async () => {
    const { first } = opened;
    assert.deepEqual(await first.take('b', 1_000, 5, 4), { taken: true, count: 4, remainingMs: 1_000 });
    assert.deepEqual(await first.take('b', 1_000, 5, 2), { taken: false, count: 4, remainingMs: 1_000 });
    assert.deepEqual(await first.take('b', 1_000, 5), { taken: true, count: 5, remainingMs: 1_000 });
    assert.equal((await first.take('b', 1_000, 5)).taken, false);
    assert.equal((await first.take('other', 1_000, 5)).taken, true);
  });

  test(`[STA-1] ${name}: of 300 takes at once from two processes exactly as many as allowed succeed`, async () => {
    const { first, second } = opened;
    const takes = await Promise.all(
      Array.from({ length: 300 }, (_, i) => (i % 2 ? first : second).take('race', 60_000, 120)),
    );
    assert.equal(takes.filter(({ taken }) => taken).length, 120);
  });

  test(`[STA-1] ${name}: reset forgets`, async () => {
    const { first, second } = opened;
    await first.hit('c', 60_000, 9);
    await second.reset('c');
    assert.equal((await first.hit('c', 60_000)).count, 1);
  });
}
