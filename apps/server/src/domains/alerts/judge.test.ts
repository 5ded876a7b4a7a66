import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evaluationsToFire, evaluationsToResolve, judge, type Standing } from './judge.ts';

const start: Standing = { state: 'OK', silencedUntil: null, isBreached: false, isTold: false, streak: 0 };
const found = (holds: boolean | null) => ({ holds, value: null, detail: null });
const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

/** What is told, minute by minute. */
function run(readings: readonly (boolean | null)[], from: Standing = start): (string | null)[] {
  let standing = from;
  return readings.map((holds, minute) => {
    const verdict = judge(standing, found(holds), at(minute));
    standing = verdict;
    return verdict.tells;
  });
}

test('[OBS-37] an alert begins after two evaluations in a row and ends after five: what comes and goes is not told', () => {
  const [yes, no] = [true, false];
  assert.deepEqual(run([yes, no, yes, no, yes, no]).filter(Boolean), []);
  assert.deepEqual(run([yes, yes, no, no, no, no, yes, no, no, no, no, no]), [
    null,
    'firing',
    ...Array(9).fill(null),
    'resolved',
  ]);
  // Where nothing is known nothing changes, and what was counted starts anew.
  assert.deepEqual(run([yes, null, yes, null]).filter(Boolean), []);
  assert.deepEqual(run([yes, yes, null, null, null, null, null, null]).filter(Boolean), ['firing']);
});

test('[OBS-39] what is silenced is told when it ends and still holds, and never what began and ended within', () => {
  const silent = { ...start, state: 'SILENCED', silencedUntil: at(10) } as const;
  const holding = run(Array(12).fill(true), silent);
  assert.deepEqual([holding.indexOf('firing'), holding.filter(Boolean).length], [10, 1]);
  assert.deepEqual(run([true, true, true, ...Array(9).fill(false)], silent).filter(Boolean), []);
  const told = { ...silent, isBreached: true, isTold: true };
  assert.deepEqual(run(Array(12).fill(true), told).filter(Boolean), []);
  const ended = run(Array(12).fill(false), told);
  assert.deepEqual([ended.indexOf('resolved'), ended.filter(Boolean).length], [10, 1]);
});

test('[OBS-37] whatever is found, an alert is told to begin and to end in turn, and never while it is silenced', () => {
  const step = fc.record({
    holds: fc.constantFrom(true, false, null),
    silence: fc.option(fc.integer({ min: 0, max: 8 })),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      let standing: Standing = start;
      let told: string = 'resolved';
      let since = 0;
      for (const [minute, { holds, silence }] of steps.entries()) {
        if (silence !== null) standing = { ...standing, silencedUntil: silence === 0 ? null : at(minute + silence) };
        const before = standing;
        const verdict = judge(standing, found(holds), at(minute));
        standing = verdict;
        since = before.isBreached === verdict.isBreached ? since + 1 : 0;
        assert.equal(verdict.state === 'SILENCED', verdict.silencedUntil !== null);
        assert.equal(verdict.state === 'FIRING', verdict.silencedUntil === null && verdict.isBreached);
        if (verdict.silencedUntil === null) assert.equal(verdict.isTold, verdict.isBreached);
        if (verdict.tells === null) continue;
        assert.notEqual(verdict.tells, told);
        assert.equal(verdict.silencedUntil, null);
        told = verdict.tells;
      }
      assert.ok(standing.streak < Math.max(evaluationsToFire, evaluationsToResolve));
    }),
  );
});
