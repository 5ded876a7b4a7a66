import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadlines, type Timed } from './deadlines.ts';

test('[SOCK-18] a connection whose deadlines cannot be checked is reported, and keeps no other from its own', () => {
  const errors: unknown[] = [];
  const deadlines = new Deadlines<Timed>((error) => errors.push(error));
  const fault = new Error('a bug');
  const checkedAt: [string, number][] = [];
  const timed = (name: string, dueMs: number, isBroken = false): Timed => ({
    tick({ elapsed }) {
      checkedAt.push([name, elapsed]);
      if (isBroken) throw fault;
      return elapsed + dueMs;
    },
  });
  deadlines.add(timed('broken', 0, true));
  deadlines.add(timed('sound', 2_000));
  for (let elapsed = 0; elapsed <= 3_000; elapsed += 1_000) deadlines.tick({ now: 50_000 + elapsed, elapsed });
  assert.deepEqual(
    checkedAt.filter(([name]) => name === 'sound').map(([, at]) => at),
    [0, 2_000],
  );
  assert.deepEqual(
    checkedAt.filter(([name]) => name === 'broken').map(([, at]) => at),
    [0, 1_000, 2_000, 3_000],
  );
  assert.deepEqual(errors, [fault, fault, fault, fault]);
});
