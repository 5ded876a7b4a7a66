import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallPoint, CallTrack } from '@parley/contract';
import { diagnose, stretchesOf } from './diagnosis.ts';

const at = (sample: number): string => new Date(Date.parse('2026-11-17T10:02:00Z') + sample * 5_000).toISOString();
const fine: Omit<CallPoint, 'at'> = {
  kbps: 400,
  lossPercent: 0,
  rttMs: 50,
  jitterMs: 5,
  fps: 24,
  freezeMs: 0,
  height: 360,
};
const points = (bad: readonly Partial<CallPoint>[]): CallPoint[] =>
  [{}, ...bad, {}].map((one, sample) => ({ at: at(sample), ...fine, ...one }));
const track = (way: 'out' | 'in', kind: 'audio' | 'video', bad: readonly Partial<CallPoint>[]): CallTrack => ({
  id: `${way}-${kind}`,
  direction: way,
  kind,
  measuredBy: 'client',
  publisher: way === 'in' ? 'Ada' : 'Grace',
  source: kind === 'audio' ? 'MICROPHONE' : 'CAMERA',
  points: points(bad),
});
const ofGrace = (tracks: CallTrack[], more: object = {}) =>
  diagnose([{ name: 'Grace', tracks, bandwidth: [], steps: [], ...more }], []).map(({ rule, sentence }) => [
    rule,
    sentence,
  ]);

test('[OBS-27] a sentence says what was wrong, of whom and when, with the rule it comes from', () => {
  const cases: readonly [CallTrack[], string, string][] = [
    [
      [track('out', 'audio', [{ lossPercent: 9 }, { lossPercent: 14 }])],
      'UPLINK_LOSS',
      'The uplink of Grace lost up to 14 % from 10:02:05 to 10:02:10.',
    ],
    [
      [track('in', 'video', [{ lossPercent: 6 }, { lossPercent: null }, { lossPercent: 5 }])],
      'DOWNLINK_LOSS',
      'The downlink of Grace lost up to 6 % from 10:02:05 to 10:02:15.',
    ],
    [
      [track('out', 'video', [{ rttMs: 450 }, { rttMs: 510 }])],
      'HIGH_ROUND_TRIP',
      'The round trip of Grace was up to 510 ms from 10:02:05 to 10:02:10.',
    ],
    [
      [track('in', 'audio', [{ jitterMs: 80 }, { jitterMs: 61 }])],
      'JITTER',
      'Sound reached Grace with up to 80 ms of jitter from 10:02:05 to 10:02:10.',
    ],
    [
      [track('in', 'video', [{ freezeMs: 3_000 }])],
      'FREEZE',
      "Grace saw Ada's camera stand still for 3 s at 10:02:05.",
    ],
    [
      [track('in', 'video', [{ fps: 4 }, { fps: 5 }])],
      'LOW_FRAME_RATE',
      "Grace saw Ada's camera with fewer than 8 frames a second from 10:02:05 to 10:02:10.",
    ],
  ];
  for (const [tracks, rule, sentence] of cases) assert.deepEqual(ofGrace(tracks), [[rule, sentence]]);
});

test('[OBS-27] one bad sample is no finding, a path is named once, and what is fine is not named', () => {
  assert.deepEqual(ofGrace([track('out', 'audio', [{ lossPercent: 40 }]), track('in', 'video', [])]), []);
  const lost = [{ lossPercent: 20 }, { lossPercent: 20 }];
  const both = ofGrace([track('out', 'audio', lost), track('out', 'video', [...lost, { lossPercent: 8 }])]);
  assert.deepEqual(both, [['UPLINK_LOSS', 'The uplink of Grace lost up to 20 % from 10:02:05 to 10:02:15.']]);
  const samples = [1, null, null, 1, 0, 1].map((value, sample) => ({ at: at(sample), value }));
  assert.equal(stretchesOf(samples, (value) => value === 1, 1).length, 3);
});

test('[OBS-27] the node, the bandwidth and the steps have rules of their own', () => {
  const nodes = [
    { name: 'node-1', points: [60, 96, 91].map((cpuPercent, sample) => ({ at: at(sample), cpuPercent })) },
  ];
  const [cpu] = diagnose([], nodes);
  assert.deepEqual(
    [cpu?.rule, cpu?.participant, cpu?.sentence],
    ['NODE_CPU', null, 'The media node node-1 was at up to 96 % CPU from 10:02:05 to 10:02:10.'],
  );
  const step = { at: at(0), type: 'signaling.reconnected', source: 'SERVER', trackId: null, detail: null };
  const bandwidth = [90, 80].map((kbps, sample) => ({ at: at(sample + 1), kbps }));
  assert.deepEqual(ofGrace([], { bandwidth, steps: [step] }), [
    ['RECONNECTED', 'Grace was cut off and came back at 10:02:00.'],
    ['LOW_BANDWIDTH', 'Grace could send at most 90 kbit/s from 10:02:05 to 10:02:10.'],
  ]);
});

test('[OBS-27] of one kind the longest are named, also of very many samples', () => {
  // Every other sample stands still, of four pictures.
  const points = Array.from({ length: 2_000 }, (_, sample) => ({
    at: at(sample),
    ...fine,
    freezeMs: sample % 2 === 0 ? 2_000 : 0,
    lossPercent: sample % 4 < 2 ? 9 : 0,
  }));
  const tracks = ['a', 'b', 'c', 'd'].map((id) => ({ ...track('in', 'video', []), id, points }));
  const named = diagnose([{ name: 'Grace', tracks, bandwidth: [], steps: [] }], []);
  assert.deepEqual(
    ['FREEZE', 'DOWNLINK_LOSS'].map((rule) => named.filter((one) => one.rule === rule).length),
    [20, 20],
  );
  const always = Array.from({ length: 130_000 }, (_, sample) => ({ at: at(sample), kbps: 90 }));
  assert.equal(ofGrace([], { bandwidth: always }).length, 1);
});
