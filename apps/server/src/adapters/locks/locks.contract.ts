import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createFakeClock, type FakeClock } from '../../../testkit/kit/fake-clock.ts';
import type { Clock } from '../../core/clock.ts';
import type { Locks } from '../../core/ports.ts';

export function locksContract(
  name: string,
  open: (clock: Clock) => Promise<{ first: Locks; second: Locks; close(): Promise<void> }>,
): void {
  let clock: FakeClock;
  let opened: Awaited<ReturnType<typeof open>>;
  before(async () => {
    clock = createFakeClock();
    opened = await open(clock);
  });
  after(() => opened.close());

  test(`[STA-4] ${name}: of many who ask at once one gets the lease, and another name is free`, async () => {
    const { first, second } = opened;
    const asked = Array.from({ length: 20 }, (_, i) => (i % 2 ? first : second).acquire('a', 10_000));
    assert.equal((await Promise.all(asked)).filter(Boolean).length, 1);
    assert.equal(await first.acquire('other', 10_000), true);
  });

  test(`[STA-4] ${name}: a lease expires by itself, and not before`, async () => {
    const { first, second } = opened;
    assert.equal(await first.acquire('b', 10_000), true);
    clock.jump(9_999);
    assert.deepEqual([await first.acquire('b', 10_000), await second.acquire('b', 10_000)], [false, false]);
    clock.jump(1);
    assert.equal(await second.acquire('b', 10_000), true);
    assert.equal(await first.acquire('b', 10_000), false);
  });
}
