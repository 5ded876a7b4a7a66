import { type Static, Type } from 'typebox';
import { Participant, RtcTokenPermissions, Track } from '../rooms/schemas.ts';

/** Room events: numbered, kept for a while, and replayed on resume. */
export const roomEventTypes = [
  'participant.joined',
  'participant.updated',
  'participant.left',
  'track.published',
  'track.unpublished',
  'track.muted',
  'room.updated',
] as const;
export type RoomEventType = (typeof roomEventTypes)[number];

/** What a client shows of a track of somebody else. */
const RosterTrack = Type.Pick(Track, ['id', 'kind', 'source', 'name', 'metadata', 'muted']);

/** A participant in a list: what is left out is as of the one before in the same frame; the first is whole. */
export const RosterEntry = Type.Object({
  identity: Type.String(),
  sessionId: Type.String(),
  metadata: Type.Optional(Participant.properties.metadata),
  permissions: Type.Optional(RtcTokenPermissions),
  quality: Type.Optional(Participant.properties.quality),
  tracks: Type.Optional(Type.Array(RosterTrack)),
});
export type RosterEntry = Static<typeof RosterEntry>;
