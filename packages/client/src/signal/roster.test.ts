import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ParticipantRecord, TrackRecord } from './records.ts';
import { Roster, type RosterEvent, type RosterFrame } from './roster.ts';

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

/** What an application has that only hears the events. */
function createListener() {
  const seen = new Map<string, { sessionId: string; metadata: string | null; tracks: Map<string, boolean> }>();
  const listener = (event: RosterEvent): void => {
    const identity = 'identity' in event ? event.identity : event.participant.identity;
    const known = seen.get(identity);
    if (event.is === 'joined') {
      assert.ok(!known, `${identity} joined twice`);
      const { sessionId, metadata } = event.participant;
      seen.set(identity, { sessionId, metadata, tracks: new Map() });
      return;
    }
    assert.ok(known, `${event.is} of ${identity}, who is not here`);
    if (event.is === 'updated') known.metadata = event.participant.metadata;
    else if (event.is === 'left') {
      assert.equal(known.tracks.size, 0, 'tracks end before their owner leaves');
      seen.delete(identity);
    } else if (event.is === 'published') {
      assert.ok(!known.tracks.has(event.track.id), 'published twice');
      known.tracks.set(event.track.id, event.track.muted);
    } else if (event.is === 'unpublished') assert.ok(known.tracks.delete(event.trackId), 'unpublished twice');
    else {
      assert.notEqual(known.tracks.get(event.trackId), event.muted, 'emitted without a change');
      known.tracks.set(event.trackId, event.muted);
    }
  };
  return { seen, listener };
}

const shown = (participants: Iterable<ParticipantRecord>) =>
  [...participants]
    .map(({ identity, sessionId, metadata, tracks }) => ({
      identity,
      sessionId,
      metadata,
      tracks: tracks.map(({ id, muted }) => `${id} ${muted}`).sort(),
    }))
    .sort((a, b) => a.identity.localeCompare(b.identity));

const received = (seen: ReturnType<typeof createListener>['seen']) =>
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
      const { seen, listener } = createListener();
      const roster = new Roster(listener);
      for (const room of rooms) {
        roster.replace(room);
        assert.deepEqual(received(seen), shown(room));
      }
      let emitted = 0;
      const again = new Roster(() => emitted++);
      again.replace(rooms.at(-1) ?? []);
      emitted = 0;
      again.replace(rooms.at(-1) ?? []);
      assert.equal(emitted, 0, 'the same room is no news');
      roster.clear('CLIENT_INITIATED');
      assert.equal(seen.size, 0);
    }),
  );
});

test('[SDK-20] room events that come twice or for an unknown participant change nothing', () => {
  const identity = fc.constantFrom('ada', 'bob', 'cleo', 'dan');
  const trackId = fc.constantFrom('a', 'b', 'c');
  const someFrame: fc.Arbitrary<RosterFrame> = fc.oneof(
    someParticipant.map((participant) => ({ type: 'participant.joined' as const, participant })),
    someParticipant.map((participant) => ({ type: 'participant.updated' as const, participant })),
    identity.map((one) => ({ type: 'participant.left' as const, identity: one, reason: 'CLIENT_INITIATED' })),
    fc.record({ identity, trackId }).map((one) => ({ type: 'track.unpublished' as const, ...one })),
    fc
      .record({ identity, trackId, muted: fc.boolean(), by: fc.constantFrom('PUBLISHER', 'SERVER') })
      .map((one) => ({ type: 'track.muted' as const, ...one })),
    fc.record({ identity, trackId }).map((one) => ({
      type: 'track.published' as const,
      identity: one.identity,
      track: track(one.trackId, false),
    })),
  );
  fc.assert(
    fc.property(fc.array(someFrame, { maxLength: 60 }), (frames) => {
      const { seen, listener } = createListener();
      const roster = new Roster(listener);
      for (const frame of frames) {
        roster.take(frame);
        roster.take(frame);
        assert.deepEqual(received(seen), shown(roster.others.values()));
      }
    }),
  );
});

test('[SDK-20] a participant with very many tracks comes in pieces', () => {
  const { seen, listener } = createListener();
  const roster = new Roster(listener);
  const base = { identity: 'ada', sessionId: 'ps_1', metadata: null, permissions, quality: null };
  roster.replace([
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
