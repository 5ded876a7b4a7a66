import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderTimeline } from './timeline.ts';

const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
const step = (name: string, source: 'SERVER' | 'CLIENT', timestampMs: number, receivedMs: number) => ({
  name,
  source,
  timestamp: at(timestampMs),
  receivedAt: at(receivedMs),
});

test('[OBS-18] a report that arrives late stands where it happened', () => {
  const ordered = orderTimeline([
    step('join.requested', 'SERVER', 91, 91),
    step('join.succeeded', 'SERVER', 180, 180),
    step('signaling.connecting', 'CLIENT', 0, 2_000),
    step('ice.connected', 'CLIENT', 400, 2_001),
  ]);
  assert.deepEqual(
    ordered.map(({ name, happenedAt }) => [name, happenedAt]),
    [
      ['signaling.connecting', at(0)],
      ['join.requested', at(91)],
      ['join.succeeded', at(180)],
      ['ice.connected', at(400)],
    ],
  );
});

test('[OBS-18] a wrong clock of a client is put right by its quickest report, whichever way it is wrong', () => {
  for (const offMs of [-3_600_000, 600_000]) {
    const ordered = orderTimeline([
      step('join.requested', 'SERVER', 91, 91),
      step('signaling.connecting', 'CLIENT', offMs, 1_500),
      step('ice.connected', 'CLIENT', 1_900 + offMs, 1_900),
      step('left', 'SERVER', 9_000, 9_000),
    ]);
    assert.deepEqual(
      ordered.map(({ name, happenedAt, timestamp }) => [name, happenedAt, timestamp]),
      [
        ['signaling.connecting', at(0), at(offMs)],
        ['join.requested', at(91), at(91)],
        ['ice.connected', at(1_900), at(1_900 + offMs)],
        ['left', at(9_000), at(9_000)],
      ],
    );
  }
});

test('[OBS-18] nothing of a client leaves the order to our clock', () => {
  assert.deepEqual(orderTimeline([]), []);
  assert.equal(orderTimeline([step('left', 'SERVER', 5, 5)])[0]?.happenedAt, at(5));
});
