import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { runBilling } from './billing.ts';
import { checkBilling, type Kill, type Stay } from './billing-checker.ts';

/** The full size is tools/proof/billing.ts. */
test('[USE-4] server and media node are killed: every session is metered once, with the time it really had', async () => {
  const redisUrl = process.env['PARLEY_TEST_REDIS_URL'];
  const database = process.env['PARLEY_TEST_DATABASE_URL'] && redisUrl ? await openTestDatabase() : null;
  try {
    const bill = await runBilling({
      sessions: 10,
      serverKills: 1,
      nodeKills: 1,
      seconds: 6,
      processes: database === null ? 1 : 2,
      nodes: 1,
      secret: randomUUID() + randomUUID(),
      random: seeded(7),
      env: {
        SECRET_KEY: randomUUID() + randomUUID(),
        ...(database?.url && redisUrl
          ? { DATABASE_URL: database.url, REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `billing-${randomUUID()}:` }
          : {}),
      },
    });
    assert.deepEqual(bill.faults, []);
    assert.partialDeepStrictEqual(bill, { missing: 0, twice: 0, negative: 0, wrong: 0, isWholeDaily: true, stays: 10 });
    assert.equal(bill.kills.length, 2);
  } finally {
    await database?.close();
  }
});

test('[USE-4] the checker sees a session that is missing, twice, negative or too long', () => {
  const stay: Stay = { sessionId: 'a', node: 'n', joinedMs: 0, leftMs: 10_000, by: 'leave', servers: ['s'] };
  const session = (id: string, seconds: number) => ({ id, seconds, minutes: seconds / 60 });
  const verdict = (seconds: number[], kills: Kill[] = []) => {
    const sessions = seconds.map((each) => session('a', each));
    const minutes = seconds.reduce((sum, each) => sum + each, 0) / 60;
    const daily = [{ date: '2026-01-01', minutes, sessions: seconds.length }];
    const { missing, twice, negative, wrong } = checkBilling([stay], [{ sessions, daily } as never], kills);
    return { missing, twice, negative, wrong };
  };
  const fine = { missing: 0, twice: 0, negative: 0, wrong: 0 };
  assert.deepEqual(verdict([10]), fine);
  assert.deepEqual(verdict([]), { ...fine, missing: 1 });
  assert.deepEqual(verdict([10, 10]), { ...fine, twice: 1 });
  assert.deepEqual(verdict([16]), { ...fine, wrong: 1 });
  assert.deepEqual(verdict([16], [{ what: 'server', name: 's', atMs: 5_000 }]), fine, 'one heartbeat for a kill');
  assert.deepEqual(verdict([16], [{ what: 'server', name: 'other', atMs: 5_000 }]), { ...fine, wrong: 1 });
  assert.partialDeepStrictEqual(verdict([-1]), { negative: 1 });
});

/** Mulberry32: the same script every time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
