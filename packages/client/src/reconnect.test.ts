import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CloseCode, closeCodes } from '@parley/contract';
import fc from 'fast-check';
import { backoffMs, classify, SCHEDULE_MS } from './reconnect.ts';

const half = (): number => 0.5;
const fresh = { attempt: 0, hasRenewed: false, canRenew: true };

test('[SDK-3] every close code of the contract is answered as its row says', () => {
  const codes = Object.keys(closeCodes).map(Number) as CloseCode[];
  assert.ok(codes.length >= 14);
  for (const code of codes) {
    const verdict = classify({ code, reason: '' }, fresh, half);
    assert.equal(verdict.go, closeCodes[code].client === 'stop' ? 'stop' : 'retry', `close ${code}`);
  }
  assert.equal(classify({ code: 1006, reason: '' }, fresh, half).go, 'retry');
});

test('[SDK-3] a refused token is renewed once, and not at all when it is fixed or revoked', () => {
  const expired = { code: 4401, reason: 'TOKEN_EXPIRED' };
  assert.deepEqual(classify(expired, fresh, half), {
    go: 'retry',
    reason: 'token_expired',
    afterMs: 0,
    renewToken: true,
  });
  assert.equal(classify(expired, { ...fresh, hasRenewed: true }, half).go, 'stop');
  assert.equal(classify(expired, { ...fresh, canRenew: false }, half).go, 'stop');
  assert.deepEqual(classify({ code: 4401, reason: 'TOKEN_REVOKED' }, fresh, half), {
    go: 'stop',
    reason: 'token_revoked',
  });
});

test('[SDK-3] a limit is waited out, with up to ten seconds more', () => {
  const close = { code: 4429, reason: 'RATE_LIMITED; retryAfter=41' };
  const waits = [0, 0.999].map((value) => classify(close, fresh, () => value));
  assert.deepEqual(
    waits.map((verdict) => verdict.go === 'retry' && verdict.afterMs),
    [41_000, 50_990],
  );
});

test('[SDK-3] what ends a stay for good is named', () => {
  const reasons = [
    [4409, '', 'duplicate_identity'],
    [4410, 'TOKEN_REVOKED', 'token_revoked'],
    [4410, 'ROOM_CLOSED', 'room_closed'],
    [4410, 'STREAM_ENDED', 'room_closed'],
    [4410, 'PARTICIPANT_REMOVED', 'removed'],
    [4422, 'ROOM_FULL', 'room_full'],
  ] as const;
  for (const [code, reason, name] of reasons)
    assert.deepEqual(classify({ code, reason }, fresh, half), { go: 'stop', reason: name });
});

test('[SDK-2] waits follow the schedule within 20 %, and no minute sees more than six attempts', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 0.999999, noNaN: true }), { minLength: 12, maxLength: 12 }),
      (dice) => {
        let at = 0;
        const attempts = dice.map((roll, attempt) => {
          const wait = backoffMs(attempt, () => roll);
          const planned = SCHEDULE_MS[Math.min(attempt, SCHEDULE_MS.length - 1)] ?? 0;
          assert.ok(wait >= planned * 0.8 - 1 && wait <= planned * 1.2 + 1);
          at += wait;
          return at;
        });
        for (const from of attempts)
          assert.ok(attempts.filter((time) => time >= from && time < from + 60_000).length <= 6);
      },
    ),
  );
});
