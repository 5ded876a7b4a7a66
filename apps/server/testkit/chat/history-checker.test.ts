import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHistory, type LogEntry } from './history-checker.ts';

const sent = (key: string, seq: number): LogEntry[] => [
  { is: 'invoke', key },
  { is: 'ok', key, seq, change: seq },
];
const good = [...sent('a', 1), ...sent('b', 2), ...sent('c', 3)];
const history = [
  { key: 'a', seq: 1 },
  { key: 'b', seq: 2 },
  { key: 'c', seq: 3 },
];
const rulesOf = (...args: Parameters<typeof checkHistory>) => [
  ...new Set(checkHistory(...args).map(({ rule }) => rule)),
];

test('[CHECK-1] a true history passes, with sends whose outcome nobody knows', () => {
  const log: LogEntry[] = [...good, { is: 'invoke', key: 'd' }, { is: 'info', key: 'd' }];
  assert.deepEqual(checkHistory(log, history, [{ by: 'reader', keys: history }]), []);
  assert.deepEqual(checkHistory(log, [...history, { key: 'd', seq: 4 }]), []);
});

test('[CHECK-2] each kind of fault is found', () => {
  assert.ok(rulesOf(good, history.slice(0, 2)).includes('lost'));
  assert.ok(rulesOf(good, [...history, { key: 'a', seq: 4 }]).includes('duplicated'));
  assert.ok(rulesOf(good, [...history, { key: 'x', seq: 4 }]).includes('unexpected'));
  assert.ok(
    rulesOf(
      [...good, { is: 'invoke', key: 'd' }, { is: 'fail', key: 'd' }],
      [...history, { key: 'd', seq: 4 }],
    ).includes('unexpected'),
  );
  assert.ok(
    rulesOf(good, [
      { key: 'a', seq: 1 },
      { key: 'b', seq: 3 },
      { key: 'c', seq: 2 },
    ]).includes('order'),
  );
  assert.ok(rulesOf(sent('a', 1), [{ key: 'a', seq: 2 }]).includes('gap'));
  const saw = (...places: number[]) => [{ by: 'reader', keys: places.flatMap((at) => history[at] ?? []) }];
  assert.deepEqual(rulesOf(good, history, saw(0, 2)), ['gap', 'lost']);
  assert.deepEqual(rulesOf(good, history, saw(0, 1, 1, 2)), ['duplicated', 'order']);
  assert.deepEqual(rulesOf(good, history, [{ by: 'r', keys: [...history.slice(0, 2), { key: 'z', seq: 3 }] }]), [
    'live-differs',
    'lost',
  ]);
});
