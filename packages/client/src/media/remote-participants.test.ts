import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamRecord } from '../signal/records.ts';
import { createRemoteParticipants } from './remote-participants.ts';

const permissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: true,
  publishVideo: true,
  publishData: true,
  updateMetadata: false,
};
const bob = { identity: 'bob', sessionId: 'ps_1', metadata: null, permissions, quality: null, tracks: [] };
const camera = { id: 'trk_1', kind: 'VIDEO', source: 'CAMERA', name: null, muted: false } as const;
// What is used of the browser's track: nothing but its identity.
const media = {} as MediaStreamTrack;
const paused = (reason: StreamRecord['reason']): StreamRecord => ({
  trackId: 'trk_1',
  state: 'PAUSED',
  reason,
  layer: null,
});

/** Participants: bob, with the camera published, and the stream states that were emitted. */
function rig() {
  const received: string[] = [];
  const ignore = (): void => {};
  const others = createRemoteParticipants({
    emit({ identity, tracks }, name, ..._args) {
      const { streamState, pauseReason } = tracks.get('trk_1') ?? {};
      if (name === 'trackStreamStateChanged') received.push(`${identity} ${streamState} ${pauseReason}`);
    },
    started: ignore,
    ended: ignore,
    participant: { subscribe: async () => {}, unsubscribe: async () => {} },
    track: {
      prefer: ignore,
      taken: ignore,
      shown: ignore,
      hidden: ignore,
      blocked: ignore,
      getStats: async () => null,
    },
  });
  others.joined(bob);
  others.published({ identity: 'bob', track: camera });
  const track = () => others.participants.get('bob')?.tracks.get('trk_1') ?? assert.fail('nothing arrived');
  return { others, received, track };
}

test('[SDK-46] a pause is shown on the track and emitted once, with its reason', () => {
  const { others, received, track } = rig();
  others.arrived('trk_1', media);
  assert.deepEqual([track().streamState, track().pauseReason], ['active', null]);
  others.streamChanged(paused('BANDWIDTH'));
  others.streamChanged(paused('BANDWIDTH'));
  others.streamChanged(paused('MUTED'));
  others.streamChanged({ trackId: 'trk_1', state: 'ACTIVE', reason: null, layer: 2 });
  others.streamChanged({ trackId: 'trk_1', state: 'ACTIVE', reason: null, layer: 1 });
  assert.deepEqual(received, ['bob paused bandwidth', 'bob paused muted', 'bob active null']);
});

test('[SDK-46] a pause that comes before the media is there when the track arrives, and ends with it', () => {
  const { others, received, track } = rig();
  others.streamChanged(paused('SETTINGS'));
  others.arrived('trk_1', media);
  assert.deepEqual([track().streamState, track().pauseReason], ['paused', 'settings']);
  others.gone('trk_1');
  others.arrived('trk_1', media);
  assert.equal(track().streamState, 'active');
  assert.deepEqual(received, []);
});
