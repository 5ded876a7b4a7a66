import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RoomEvents, TrackState } from '../room-types.ts';
import type { ParticipantRecord, TrackRecord } from '../signal/records.ts';
import { createRemoteParticipants, type RemoteParticipants } from './remote-participants.ts';

const permissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: false,
  publishVideo: false,
  publishData: false,
  updateMetadata: false,
};
const track = (id: string, muted: boolean): TrackRecord => ({
  id,
  kind: 'AUDIO',
  source: 'MICROPHONE',
  name: null,
  muted,
});

const someTracks = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 })
  .chain((ids) => fc.tuple(...ids.map((id) => fc.boolean().map((muted) => track(id, muted)))));
const someParticipant = fc.record({
  identity: fc.constantFrom('ada', 'bob', 'cleo', 'dan'),
  sessionId: fc.constantFrom('ps_1', 'ps_2'),
  metadata: fc.constantFrom(null, 'x'),
  permissions: fc.constant(permissions),
  quality: fc.constant(null),
  tracks: someTracks,
});
const someRoom = fc.uniqueArray(someParticipant, { selector: ({ identity }) => identity });

/** What an application has that only hears the events, and those that sent them. */
function rig() {
  const seen = new Map<string, { sessionId: string; metadata: string | null; tracks: Map<string, boolean> }>();
  const names: (keyof RoomEvents)[] = [];
  const ignore = (): void => {};
  const others = createRemoteParticipants({
    emit({ identity, sessionId, metadata }, name, ...args) {
      names.push(name);
      const known = seen.get(identity);
      if (name === 'participantJoined') {
        assert.ok(!known, `${identity} joined twice`);
        seen.set(identity, { sessionId, metadata, tracks: new Map() });
        return;
      }
      assert.ok(known, `${name} of ${identity}, who is not here`);
      const { trackId, isMuted } = args[0] as TrackState;
      if (name === 'participantUpdated') known.metadata = metadata;
      else if (name === 'participantLeft') {
        assert.equal(known.tracks.size, 0, 'tracks end before their owner leaves');
        seen.delete(identity);
      } else if (name === 'trackPublished') {
        assert.ok(!known.tracks.has(trackId), 'published twice');
        known.tracks.set(trackId, isMuted);
      } else if (name === 'trackUnpublished') assert.ok(known.tracks.delete(trackId), 'unpublished twice');
      else {
        assert.notEqual(known.tracks.get(trackId), isMuted, 'emitted without a change');
        assert.equal(name, isMuted ? 'trackMuted' : 'trackUnmuted');
        known.tracks.set(trackId, isMuted);
      }
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
  return { seen, names, others };
}

type Shown = Pick<ParticipantRecord, 'identity' | 'sessionId' | 'metadata' | 'tracks'>;
const shown = (participants: Iterable<Shown>) =>
  [...participants]
    .map(({ identity, sessionId, metadata, tracks }) => ({
      identity,
      sessionId,
      metadata,
      tracks: tracks.map(({ id, muted }) => `${id} ${muted}`).sort(),
    }))
    .sort((a, b) => a.identity.localeCompare(b.identity));

const received = (seen: ReturnType<typeof rig>['seen']) =>
  [...seen]
    .map(([identity, { sessionId, metadata, tracks }]) => ({
      identity,
      sessionId,
      metadata,
      tracks: [...tracks].map(([id, muted]) => `${id} ${muted}`).sort(),
    }))
    .sort((a, b) => a.identity.localeCompare(b.identity));

test('[SDK-20] after a fresh join the difference is emitted: no ghost stays, nobody joins twice', () => {
  fc.assert(
    fc.property(fc.array(someRoom, { minLength: 1, maxLength: 6 }), (rooms) => {
      const { seen, names, others } = rig();
      for (const room of rooms) {
        others.replace(room);
        assert.deepEqual(received(seen), shown(room));
      }
      const before = names.length;
      others.replace(rooms.at(-1) ?? []);
      assert.equal(names.length, before, 'the same room is no news');
      others.clear('CLIENT_INITIATED');
      assert.equal(seen.size, 0);
    }),
  );
});

test('[SDK-20] room events that come twice or for an unknown participant change nothing', () => {
  const identity = fc.constantFrom('ada', 'bob', 'cleo', 'dan');
  const trackId = fc.constantFrom('a', 'b', 'c');
  type Take = (others: RemoteParticipants) => void;
  const someEvent: fc.Arbitrary<Take> = fc.oneof(
    someParticipant.map(
      (one): Take =>
        (others) =>
          others.joined(one),
    ),
    someParticipant.map(
      (one): Take =>
        (others) =>
          others.updated(one),
    ),
    identity.map(
      (one): Take =>
        (others) =>
          others.left({ identity: one, reason: 'CLIENT_INITIATED' }),
    ),
    fc.record({ identity, trackId }).map(
      (one): Take =>
        (others) =>
          others.unpublished(one),
    ),
    fc.record({ identity, trackId, muted: fc.boolean(), by: fc.constantFrom('PUBLISHER', 'SERVER') }).map(
      (one): Take =>
        (others) =>
          others.muted(one),
    ),
    fc.record({ identity, trackId }).map(
      (one): Take =>
        (others) =>
          others.published({ ...one, track: track(one.trackId, false) }),
    ),
  );
  fc.assert(
    fc.property(fc.array(someEvent, { maxLength: 60 }), (takes) => {
      const { seen, names, others } = rig();
      for (const take of takes) {
        take(others);
        const before = names.length;
        take(others);
        assert.equal(names.length, before, 'the same event is no news');
        const now = [...others.participants.values()].map((one) => ({
          ...one,
          tracks: [...one.publications.values()],
        }));
        assert.deepEqual(received(seen), shown(now));
      }
    }),
  );
});

test('[SDK-20] a participant with very many tracks comes in pieces', () => {
  const { seen, others } = rig();
  const base = { identity: 'ada', sessionId: 'ps_1', metadata: null, permissions, quality: null };
  others.replace([
    { ...base, tracks: [track('a', false)] },
    { ...base, tracks: [track('b', true)] },
  ]);
  assert.deepEqual(
    [...(seen.get('ada')?.tracks ?? [])],
    [
      ['a', false],
      ['b', true],
    ],
  );
});
