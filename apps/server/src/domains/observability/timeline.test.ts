import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
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

test('[OBS-18] a wrong clock of a client is put right by the quickest that two reports agree on, whichever way it is wrong', () => {
  for (const offMs of [-3_600_000, 600_000]) {
    const ordered = orderTimeline([
      step('join.requested', 'SERVER', 91, 91),
      step('signaling.connecting', 'CLIENT', offMs, 800),
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

const dayMs = 86_400_000;
const timesOf = (steps: ReturnType<typeof step>[]): Record<string, string> =>
  Object.fromEntries(orderTimeline(steps).map(({ name, happenedAt }) => [name, happenedAt]));

test('[OBS-18] a late report, also a burst of them after an outage, is not taken for a wrong clock', () => {
  const late = [step('first', 'CLIENT', 0, 60_000), step('second', 'CLIENT', 400, 60_200)];
  assert.deepEqual(timesOf(late.slice(0, 1)), { first: at(0) });
  assert.deepEqual(timesOf(late), { first: at(0), second: at(400) });
  const later = [...late, step('third', 'CLIENT', 1_500, 61_500), step('quick', 'CLIENT', 70_000, 70_100)];
  assert.equal(timesOf(later).third, at(1_500), 'one quick report shows that the clock is right');
});

test('[OBS-18] one step stamped a day ahead drags no other, and stands no later than we heard of it', () => {
  const honest = [step('a', 'CLIENT', 1_000, 1_100), step('b', 'CLIENT', 5_000, 5_200)];
  const times = timesOf([...honest, step('wrong', 'CLIENT', 3_000 + dayMs, 3_100)]);
  assert.deepEqual(times, { a: at(1_000), wrong: at(3_100), b: at(5_000) });
});

test('[OBS-18] whatever is late or stamped wrongly, prompt reports stand within 5 s of when they happened', () => {
  const prompt = fc.array(fc.record({ gapMs: fc.integer({ min: 3_000, max: 60_000 }), onTheWayMs: fc.nat(2_000) }), {
    minLength: 2,
    maxLength: 8,
  });
  const late = fc.array(fc.record({ atMs: fc.nat(100_000), lateMs: fc.nat(3_600_000) }), { maxLength: 8 });
  const offMs = fc.oneof(fc.constant(0), fc.integer({ min: -7_200_000, max: 7_200_000 }));
  fc.assert(
    fc.property(prompt, late, offMs, fc.boolean(), (quick, slow, off, hasWrongStep) => {
      let now = 0;
      const happened = quick.map(({ gapMs, onTheWayMs }) => {
        now += gapMs;
        return { atMs: now, onTheWayMs };
      });
      const steps = [
        ...happened.map(({ atMs, onTheWayMs }, index) =>
          step(`quick-${index}`, 'CLIENT', atMs - off, atMs + onTheWayMs),
        ),
        ...slow.map(({ atMs, lateMs }, index) => step(`late-${index}`, 'CLIENT', atMs - off, atMs + lateMs)),
        ...(hasWrongStep ? [step('wrong', 'CLIENT', dayMs - off, 1_000)] : []),
      ];
      const times = timesOf(steps);
      for (const [index, { atMs }] of happened.entries())
        assert.ok(Math.abs(Date.parse(times[`quick-${index}`] ?? '') - Date.parse(at(atMs))) <= 5_000);
      for (const { happenedAt, receivedAt } of orderTimeline(steps)) assert.ok(happenedAt <= receivedAt);
    }),
  );
});
