import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamRecord } from '../signal/records.ts';
import { type AudienceEvents, createAudience } from './audience.ts';

const permissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: true,
  publishVideo: true,
  publishData: true,
};
const bob = { identity: 'bob', sessionId: 'ps_1', metadata: null, permissions, quality: null, tracks: [] };
const camera = { id: 'trk_1', kind: 'VIDEO', source: 'CAMERA', name: null, muted: false } as const;
// What an audience uses of the browser's track: nothing but its identity.
const media = {} as MediaStreamTrack;
const paused = (reason: StreamRecord['reason']): StreamRecord => ({
  trackId: 'trk_1',
  state: 'PAUSED',
  reason,
  layer: null,
});

/** An audience with bob's camera published, and the stream states that were emitted. */
function rig() {
  const received: string[] = [];
  const ignore = (): void => {};
  const events: AudienceEvents = {
    participantJoined: ignore,
    participantLeft: ignore,
    participantUpdated: ignore,
    trackPublished: ignore,
    trackUnpublished: ignore,
    trackSubscribed: ignore,
    trackUnsubscribed: ignore,
    trackMuted: ignore,
    trackStreamStateChanged: ({ streamState, pauseReason }, { identity }) =>
      received.push(`${identity} ${streamState} ${pauseReason}`),
  };
  const audience = createAudience(events, {
    participant: { subscribe: async () => {}, unsubscribe: async () => {} },
    track: { prefer: ignore, shown: ignore, hidden: ignore, blocked: ignore, getStats: async () => null },
  });
  audience.take({ is: 'joined', participant: bob });
  audience.take({ is: 'published', identity: 'bob', track: camera });
  const track = () => audience.participants.get('bob')?.tracks.get('trk_1') ?? assert.fail('nothing arrived');
  return { audience, received, track };
}

test('[SDK-46] a pause is shown on the track and emitted once, with its reason', () => {
  const { audience, received, track } = rig();
  audience.arrived('trk_1', media);
  assert.deepEqual([track().streamState, track().pauseReason], ['active', null]);
  audience.streamChanged(paused('BANDWIDTH'));
  audience.streamChanged(paused('BANDWIDTH'));
  audience.streamChanged(paused('MUTED'));
  audience.streamChanged({ trackId: 'trk_1', state: 'ACTIVE', reason: null, layer: 2 });
  audience.streamChanged({ trackId: 'trk_1', state: 'ACTIVE', reason: null, layer: 1 });
  assert.deepEqual(received, ['bob paused bandwidth', 'bob paused muted', 'bob active null']);
});

test('[SDK-46] a pause that comes before the media is there when the track arrives, and ends with it', () => {
  const { audience, received, track } = rig();
  audience.streamChanged(paused('SETTINGS'));
  audience.arrived('trk_1', media);
  assert.deepEqual([track().streamState, track().pauseReason], ['paused', 'settings']);
  audience.gone('trk_1');
  audience.arrived('trk_1', media);
  assert.equal(track().streamState, 'active');
  assert.deepEqual(received, []);
});
