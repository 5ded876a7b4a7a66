import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTrackSampler, type StatsReport } from './track-samples.ts';

/** Two layers that are sent and one picture that is received, after so many seconds. */
function statsAt(second: number): { pub: StatsReport[]; sub: StatsReport[] } {
  const timestamp = second * 1000;
  return {
    pub: [
      {
        id: 'o1',
        type: 'outbound-rtp',
        kind: 'video',
        mid: '0',
        timestamp,
        bytesSent: 12_500 * second,
        frameHeight: 180,
        framesPerSecond: 15,
      },
      {
        id: 'o2',
        type: 'outbound-rtp',
        kind: 'video',
        mid: '0',
        timestamp,
        bytesSent: 50_000 * second,
        frameHeight: 720,
        framesPerSecond: 30,
      },
      { id: 'r1', type: 'remote-inbound-rtp', localId: 'o1', fractionLost: 0.02, roundTripTime: 0.08, jitter: 0.004 },
      { id: 'r2', type: 'remote-inbound-rtp', localId: 'o2', fractionLost: 0.14, roundTripTime: 0.09, jitter: 0.01 },
      { id: 'p', type: 'candidate-pair', state: 'succeeded', nominated: true, availableOutgoingBitrate: 800_000 },
      { id: 'o3', type: 'outbound-rtp', kind: 'audio', mid: 'unknown', timestamp, bytesSent: 1 },
    ],
    sub: [
      {
        id: 'i1',
        type: 'inbound-rtp',
        kind: 'video',
        mid: '3',
        timestamp,
        bytesReceived: 25_000 * second,
        packetsReceived: 90 * second,
        packetsLost: 10 * second,
        jitter: 0.02,
        framesPerSecond: 24,
        frameHeight: 360,
        totalFreezesDuration: 0.3 * second,
      },
      { id: 'p', type: 'candidate-pair', state: 'succeeded', nominated: true, currentRoundTripTime: 0.1 },
    ],
  };
}

test('[OBS-24] samples hold each track both ways: what is a total in the browser is a difference here', () => {
  const side = { trackAt: (mid: string) => ({ 0: 'tr_out', 3: 'tr_in' })[mid] ?? null };
  const sampler = createTrackSampler({ sides: { pub: side, sub: side }, everyMs: 5_000 });
  assert.equal(sampler.flush(), null);
  for (const second of [5, 10, 15]) sampler.take(statsAt(second));
  assert.equal(sampler.count, 3);
  assert.deepEqual(sampler.flush(), {
    everyMs: 5_000,
    count: 3,
    bandwidth: [800, 800, 800],
    tracks: [
      {
        id: 'tr_out',
        way: 'out',
        kind: 'video',
        kbps: [null, 500, 500],
        loss: [14, 14, 14],
        rtt: [90, 90, 90],
        jitter: [10, 10, 10],
        fps: [30, 30, 30],
        height: [720, 720, 720],
      },
      {
        id: 'tr_in',
        way: 'in',
        kind: 'video',
        kbps: [null, 200, 200],
        loss: [null, 10, 10],
        rtt: [100, 100, 100],
        jitter: [20, 20, 20],
        fps: [24, 24, 24],
        freeze: [null, 1500, 1500],
        height: [360, 360, 360],
      },
    ],
  });
  assert.deepEqual([sampler.count, sampler.flush()], [0, null]);
});
