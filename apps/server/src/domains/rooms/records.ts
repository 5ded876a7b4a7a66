import type { Participant, Room, RoomSession, Track } from '@parley/contract';
import type { MediaParticipantSnapshot, MediaTrack } from '@parley/contract/media-control';
import { ceilingOf, type ParticipantsMax } from './ceiling.ts';
import type { StoredRoom } from './room-store.ts';
import type { StoredSession } from './session-store.ts';

/** The record. Counts are null when the node that knows them cannot be reached. */
export function toRoom(room: StoredRoom, participantsMax: ParticipantsMax, isReachable: boolean): Room {
  const isKnown = room.serverName === null || isReachable;
  // What is only ours stays here: this record also travels in frames, which are not stripped.
  const {
    participantsMax: ownMax,
    preferredRegion,
    serverInstance,
    eventSeq,
    joinedCount,
    publisherCount,
    ...shown
  } = room;
  return {
    ...shown,
    publicId: room.id,
    maxParticipants: ceilingOf(ownMax, participantsMax),
    participantCount: isKnown ? joinedCount : null,
    publisherCount: isKnown ? publisherCount : null,
  };
}

export const toTrack = (track: MediaTrack): Track => ({
  ...track,
  metadata: track.metadata ?? null,
  codec: track.codec || null,
});

/** The record; what only the node knows is unknown without its word. */
export function toParticipant(session: StoredSession, media?: MediaParticipantSnapshot): Participant {
  return {
    identity: session.identity,
    sessionId: session.id,
    kind: session.kind,
    state: media?.state ?? 'JOINED',
    metadata: session.metadata,
    permissions: session.permissions,
    joinedAt: session.joinedAt ?? session.createdAt,
    connectionId: session.connectionId,
    quality: session.signalLostAt === null ? (media?.quality ?? null) : 'LOST',
    region: session.region,
    isPublisher: media ? media.tracks.length > 0 : session.isPublisher,
    tracks: media?.tracks.map(toTrack) ?? [],
  };
}

export function toRoomSession(session: StoredSession): RoomSession {
  const joinedAt = session.joinedAt ?? session.createdAt;
  return {
    ...session,
    sessionId: session.id,
    participantIdentity: session.identity,
    joinedAt,
    durationMs: session.leftAt === null ? null : Date.parse(session.leftAt) - Date.parse(joinedAt),
    disconnectReason: session.leftReason,
  };
}
