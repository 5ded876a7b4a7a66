import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LocalTrack } from './local-track.ts';

/** Media with what a track uses of it. */
function fakeMedia(kind = 'audio'): MediaStreamTrack {
  const media = { kind, enabled: true, readyState: 'live', stop() {}, getSettings: () => ({}) };
  return Object.assign(new EventTarget(), media) as unknown as MediaStreamTrack;
}

const port = {
  setMuted: async () => {},
  replace: async () => {},
  unpublish: async () => {},
  getStats: async () => null,
  ended() {},
};

function microphone(): { track: LocalTrack; told: boolean[] } {
  const told: boolean[] = [];
  const track = new LocalTrack({
    media: fakeMedia(),
    source: 'MICROPHONE',
    port: { ...port, setMuted: async (_track, isMuted) => void told.push(isMuted) },
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

test('[SDK-76] other media takes its place: the application’s own, which no mute gives back to a device', async () => {
  const sent: (MediaStreamTrack | null)[] = [];
  const stopped: string[] = [];
  const fake = (name: string, kind = 'video') => {
    const media = fakeMedia(kind);
    Object.assign(media, { stop: () => void stopped.push(name) });
    return media;
  };
  const track = new LocalTrack({
    media: fake('camera'),
    source: 'CAMERA',
    recapture: async () => assert.fail('no device is opened again'),
    port: { ...port, replace: async (_track, media) => void sent.push(media) },
  });
  await assert.rejects(track.replace(fake('sound', 'audio')), TypeError);
  const card = fake('card');
  await track.replace(card);
  assert.deepEqual([track.mediaStreamTrack, sent, stopped], [card, [card], ['camera']]);
  await track.mute();
  await track.unmute();
  assert.deepEqual([card.enabled, sent.length], [true, 1]);
  await track.replace(fake('another card'));
  assert.deepEqual(stopped, ['camera'], 'what the application made is its own');
});
