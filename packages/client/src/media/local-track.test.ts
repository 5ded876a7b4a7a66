import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LocalTrack } from './local-track.ts';

/** Media with what a track uses of it. */
function fakeMedia(): MediaStreamTrack {
  const media = { kind: 'audio', enabled: true, readyState: 'live', stop() {}, getSettings: () => ({}) };
  return Object.assign(new EventTarget(), media) as unknown as MediaStreamTrack;
}

function microphone(): { track: LocalTrack; told: boolean[] } {
  const told: boolean[] = [];
  const track = new LocalTrack({
    media: fakeMedia(),
    source: 'MICROPHONE',
    port: {
      setMuted: async (_track, isMuted) => void told.push(isMuted),
      replace: async () => {},
      unpublish: async () => {},
      getStats: async () => null,
      ended() {},
    },
  });
  return { track, told };
}

test('[SDK-51] what the server muted is muted here too, and only the server unmutes it', async () => {
  const { track, told } = microphone();
  track.mutedByServer(true);
  assert.deepEqual([track.isMuted, track.isMutedByServer, track.mediaStreamTrack.enabled], [true, true, false]);
  await assert.rejects(track.unmute(), { code: 'muted_by_server' });
  assert.deepEqual([track.isMuted, told], [true, []]);
  track.mutedByServer(false);
  assert.deepEqual([track.isMuted, track.mediaStreamTrack.enabled], [false, true]);
});

test('[SDK-51] a server that unmutes turns nothing on that the user turned off', async () => {
  const { track, told } = microphone();
  await track.mute();
  track.mutedByServer(true);
  track.mutedByServer(false);
  assert.deepEqual([track.isMuted, track.mediaStreamTrack.enabled], [true, false]);
  await track.unmute();
  assert.deepEqual([track.isMuted, track.mediaStreamTrack.enabled, told], [false, true, [true, false]]);
});
