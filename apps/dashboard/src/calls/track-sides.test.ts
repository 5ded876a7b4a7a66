import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallParticipant, CallPoint } from '@parley/contract';
import { sidesOf } from './track-sides.ts';

const point = (ms: number, kbps: number): CallPoint => ({
  at: new Date(1_700_000_000_000 + ms).toISOString(),
  kbps,
  lossPercent: null,
  rttMs: null,
  jitterMs: null,
  fps: null,
  freezeMs: null,
  height: null,
});
const track = { id: 'tr', kind: 'audio', publisher: 'ada', source: null } as const;
const participant = (
  name: string,
  direction: 'out' | 'in',
  points: CallPoint[],
  ofNode: CallPoint[] = [],
): CallParticipant => ({
  name,
  score: null,
  audioMos: null,
  videoScore: null,
  stays: [],
  steps: [],
  bandwidth: [],
  tracks: [
    { ...track, direction, measuredBy: 'node' as const, points: ofNode },
    { ...track, direction, measuredBy: 'client' as const, points },
  ].filter((one) => one.points.length > 0),
});

test('[DASH-72] both sides of a track are over one time, who sent it first', () => {
  const participants = [
    participant('grace', 'in', [point(1_200, 28), point(6_200, 29)]),
    participant('ada', 'out', [point(0, 30), point(5_000, 31), point(10_000, 32)]),
  ];
  const { series, rows } = sidesOf({ participants }, 'tr');
  assert.deepEqual(series, [
    { name: 'ada', direction: 'out', measuredBy: 'client' },
    { name: 'grace', direction: 'in', measuredBy: 'client' },
  ]);
  assert.deepEqual(
    rows.map(({ points }) => points.map((one) => one?.kbps ?? null)),
    [
      [30, 28],
      [31, 29],
      [32, null],
    ],
  );
  assert.deepEqual(sidesOf({ participants }, 'other'), { series: [], rows: [] });
});

test('[DASH-91] what the media node counted stands beside what the SDKs measured, in the order of the way', () => {
  const participants = [
    participant('grace', 'in', [point(1_200, 28)], [point(2_000, 29)]),
    participant('ada', 'out', [point(0, 30)], [point(900, 27)]),
  ];
  const { series, rows } = sidesOf({ participants }, 'tr');
  assert.deepEqual(
    series.map(({ name, measuredBy }) => [name, measuredBy]),
    [
      ['ada', 'client'],
      ['ada', 'node'],
      ['grace', 'client'],
      ['grace', 'node'],
    ],
  );
  assert.deepEqual(
    rows.map(({ points }) => points.map((one) => one?.kbps)),
    [[30, 27, 28, 29]],
  );
});
