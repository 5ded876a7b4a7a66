import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallParticipantsDeps, createCallParticipants } from './call-participants.ts';
import type { ParticipantRecord, TrackRecord } from './signal/records.ts';

const ignore = (): void => {};

test('[SDK-65] the chosen speaker is for every element of a sound, also for one that is muted when it is attached', (t) => {
  const heard: HTMLMediaElement[] = [];
  // What a track uses of them.
  const others = createCallParticipants({
    events: { emit: ignore },
    onChange: ignore,
    adaptive: { show: ignore, hide: ignore, forget: ignore },
    autoplay: { forget: ignore },
    devices: { attached: (element: HTMLMediaElement) => void heard.push(element), detached: ignore },
    telemetry: { note: ignore },
    reporter: { awaitFirstFrame: ignore },
    signal: {},
    subscriber: {},
  } as unknown as CallParticipantsDeps);
  const publish = (id: string, kind: TrackRecord['kind']) => {
    const source = kind === 'AUDIO' ? 'MICROPHONE' : 'CAMERA';
    others.published({ identity: 'bob', track: { id, kind, source, name: null, muted: false } });
    others.arrived(id, {} as MediaStreamTrack);
    return others.participants.get('bob')?.tracks.get(id) ?? assert.fail('no track');
  };
  const participant = { identity: 'bob', sessionId: 'ps_2', metadata: null, quality: null, tracks: [] };
  others.joined(participant as unknown as ParticipantRecord);
  /** An element that the page keeps muted, or not, whatever it is told. */
  const element = (muted: boolean): HTMLMediaElement =>
    Object.defineProperty({ setAttribute: ignore, play: async () => {} }, 'muted', {
      get: () => muted,
      set: ignore,
    }) as unknown as HTMLMediaElement;

  Object.assign(globalThis, { MediaStream: class {} });
  t.after(() => Reflect.deleteProperty(globalThis, 'MediaStream'));
  const [sound, picture] = [element(true), element(false)];
  publish('trk_1', 'AUDIO').attach(sound);
  publish('trk_2', 'VIDEO').attach(picture);
  assert.deepEqual(heard, [sound]);
});
