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

  test(`[STA-4] ${name}: of many who ask at once one holds the lock, and others get it when it is released`, async () => {
    const { first, second } = opened;
    const leases = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? first : second).acquire('a', 10_000)),
    );
    const held = leases.filter((lease) => lease !== null);
    assert.equal(held.length, 1);
    assert.notEqual(await first.acquire('other', 10_000), null);
    await held[0]?.release();
    assert.notEqual(await second.acquire('a', 10_000), null);
  });

  test(`[STA-4] ${name}: a lease ends by itself unless it is renewed`, async () => {
    const { first, second } = opened;
    const lease = await first.acquire('b', 10_000);
    clock.jump(9_000);
    assert.equal(await lease?.renew(), true);
    clock.jump(9_999);
    assert.equal(await second.acquire('b', 10_000), null);
    clock.jump(1);
    assert.notEqual(await second.acquire('b', 10_000), null);
  });

  test(`[STA-4] ${name}: who lost the lease cannot renew it, nor release the next holder's`, async () => {
    const { first, second } = opened;
    const lost = await first.acquire('c', 1_000);
    clock.jump(1_000);
    assert.equal(await lost?.renew(), false);
    const next = await second.acquire('c', 10_000);
    assert.equal(await lost?.renew(), false);
    await lost?.release();
    assert.equal(await first.acquire('c', 10_000), null);
    assert.equal(await next?.renew(), true);
  });
}
