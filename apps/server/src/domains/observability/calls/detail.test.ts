import assert from 'node:assert/strict';
import { test } from 'node:test';
import { iso } from '../../../core/clock.ts';
import { type CallRecords, detailOf } from './detail.ts';
import { pack } from './samples.ts';
import { noScore } from './scoring.ts';

const start = Date.parse('2026-11-17T10:00:00Z');
const call = {
  id: 'call',
  roomId: 'room',
  roomName: 'room',
  startedAt: iso(start),
  lastSampleAt: iso(start),
  participantCount: 2,
  score: null,
  worstScore: null,
};
const stay = (identity: string) => ({
  ...noScore,
  id: `row-${identity}`,
  connectionId: `connection-of-${identity}`,
  identity,
  state: 'CONNECTED',
  transport: 'udp',
  serverName: null,
  startedAt: iso(start),
  endedAt: null,
});
const published = (by: string, source: 'SERVER' | 'CLIENT', data: Record<string, unknown>) => ({
  connection: `row-${by}`,
  type: 'track.published',
  source,
  timestamp: iso(start),
  receivedAt: iso(start),
  data,
});
const none = [null, null, null, null];
const packed = pack({
  measuredBy: 'client',
  everyMs: 5_000,
  count: 4,
  bandwidth: [100, 100, 900, 900],
  tracks: [
    {
      ...{ id: 'tr_a', way: 'in', kind: 'video', kbps: [9, 9, 9, 9], freeze: [0, 2_000, 0, 0] },
      ...{ loss: none, rtt: none, jitter: none, fps: none, height: none },
    },
  ],
});
const records = (batches: number, more: Partial<CallRecords> = {}): CallRecords => ({
  call,
  stays: ['ada', 'mallory'].map(stay),
  steps: [],
  nodes: [],
  readSamples: async ([connection = '']) =>
    Array.from({ length: batches }, (_, at) => ({ connection, at: iso(start + at * 20_000), packed })),
  ...more,
});

test('[OBS-27] a long call is read in parts, and as much of it is shown as is drawn', async () => {
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  const { participants, findings } = await detailOf(records(1_000), { withoutNames: false });
  clearInterval(counting);
  assert.ok(turns > 1, 'nobody else had a turn');
  for (const { tracks, bandwidth } of participants) {
    assert.ok(bandwidth.length <= 120 && (tracks[0]?.points.length ?? 999) <= 120);
    assert.deepEqual([bandwidth[0]?.kbps, tracks[0]?.points[0]?.freezeMs], [100, 2_000]);
  }
  // Two rules of two people, from the samples as they were before.
  assert.equal(findings.length, 2 * 2 * 20);
});

test('[OBS-27] who published a track is what the server saw, with a source that there is', async () => {
  const steps = [
    published('ada', 'SERVER', { trackId: 'tr_a', source: 'CAMERA' }),
    published('mallory', 'CLIENT', { trackId: 'tr_a', source: 'SCREEN_SHARE' }),
  ];
  const trackIn = async (own: CallRecords['steps']) =>
    (await detailOf(records(1, { steps: own }), { withoutNames: false })).participants[0]?.tracks[0];
  const seen = await trackIn(steps);
  assert.deepEqual([seen?.publisher, seen?.source], ['ada', 'CAMERA']);
  const odd = await trackIn([published('ada', 'SERVER', { trackId: 'tr_a', source: 'a word of its own' })]);
  assert.deepEqual([odd?.publisher, odd?.source], ['ada', null]);
});
