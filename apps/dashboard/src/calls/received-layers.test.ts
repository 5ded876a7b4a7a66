import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallPoint, CallTrack } from '@parley/contract';
import { receivedLayersOf, timeByHeight } from './received-layers.ts';

const start = 1_700_000_000_000;
const point = (second: number, height: number | null): CallPoint => ({
  at: new Date(start + second * 1_000).toISOString(),
  height,
  ...{ kbps: null, lossPercent: null, rttMs: null, jitterMs: null, fps: null, freezeMs: null },
});
const track = (id: string, points: CallPoint[], more: Partial<CallTrack> = {}): CallTrack => ({
  id,
  direction: 'in',
  kind: 'video',
  measuredBy: 'client',
  publisher: 'ada',
  source: 'CAMERA',
  points,
  ...more,
});
const seconds = (tracks: CallTrack[]) =>
  receivedLayersOf({ tracks }).map(({ track: { id }, spans }) => [
    id,
    ...spans.map(({ from, until, height }) => [(from - start) / 1_000, (until - start) / 1_000, height]),
  ]);

test('[DASH-90] what was received of a picture is in spans of one height, with gaps where nothing came', () => {
  const points = [point(0, 720), point(5, 720), point(10, 180), point(15, null), point(20, 720), point(60, 720)];
  assert.deepEqual(seconds([track('a', points)]), [['a', [0, 10, 720], [10, 15, 180], [20, 25, 720], [60, 65, 720]]]);
  const [{ spans = [] } = {}] = receivedLayersOf({ tracks: [track('a', points)] });
  assert.deepEqual(timeByHeight(spans), [
    [720, 20_000],
    [180, 5_000],
  ]);
});

test('[DASH-90] only pictures that were received have a lane, at most four, those that changed most first', () => {
  const steady = Array.from({ length: 5 }, (_, at) => track(`steady-${at}`, [point(0, 360), point(5, 360)]));
  const others = [
    track('sent', [point(0, 360)], { direction: 'out' }),
    track('sound', [point(0, null)], { kind: 'audio' }),
    track('never', [point(0, null)]),
  ];
  const changing = track('changing', [point(0, 360), point(5, 180)]);
  const shown = seconds([...others, ...steady, changing]).map(([id]) => id);
  assert.deepEqual(shown, ['changing', 'steady-0', 'steady-1', 'steady-2']);
});
