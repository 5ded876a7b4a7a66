import { trackOf } from '../participant-state.ts';
import { reasonFrom } from '../reconnect.ts';
import type { RoomEvents, TrackState } from '../room-types.ts';
import type { ParticipantRecord, StreamRecord, TrackRecord } from '../signal/records.ts';
import {
  RemoteParticipant,
  type RemoteParticipantPort,
  RemoteTrack,
  type RemoteTrackPort,
} from './remote-participant.ts';

export interface RemoteParticipantsDeps {
  /** After the change that it is about. */
  emit<K extends keyof RoomEvents>(participant: RemoteParticipant, name: K, ...args: RoomEvents[K]): void;
  /** Media arrives from now on, or no more. */
  started(track: RemoteTrack, media: MediaStreamTrack): void;
  ended(track: RemoteTrack): void;
  participant: RemoteParticipantPort;
  track: Omit<RemoteTrackPort, 'stream'>;
}

/** The others; `joined` and the like take what the room's events of that name say, which may come twice or be missed. */
export interface RemoteParticipants {
  readonly participants: ReadonlyMap<string, RemoteParticipant>;
  joined(record: ParticipantRecord): void;
  updated(record: ParticipantRecord): void;
  left(event: { identity: string; reason: string }): void;
  published(event: { identity: string; track: TrackRecord }): void;
  unpublished(event: { identity: string; trackId: string }): void;
  muted(event: { identity: string; trackId: string; muted: boolean; by: 'PUBLISHER' | 'SERVER' }): void;
  /** The room as it is now, after a join that could not resume. */
  replace(records: readonly ParticipantRecord[]): void;
  clear(reason: string): void;
  /** Media of a track arrived; its publication may be known before or after. */
  arrived(trackId: string, media: MediaStreamTrack): void;
  gone(trackId: string): void;
  /** The server pauses or resumes what it sends of a track, or sends another layer. */
  streamChanged(stream: StreamRecord): void;
}

/** Emits real changes only, and matches publications that signaling announces with the media that arrives. */
export function createRemoteParticipants(deps: RemoteParticipantsDeps): RemoteParticipants {
  const { emit } = deps;
  const participants = new Map<string, RemoteParticipant>();
  /** Media whose publication is not known yet, and media in use. */
  const arrivals = new Map<string, MediaStreamTrack>();

  /** Kept by id: the first may come before the media does. */
  const streams = new Map<string, StreamRecord>();
  const trackPort: RemoteTrackPort = { ...deps.track, stream: (trackId) => streams.get(trackId) };

  function join(trackId: string): void {
    const media = arrivals.get(trackId);
    const owner = [...participants.values()].find(({ publications }) => publications.has(trackId));
    const record = owner?.publications.get(trackId);
    if (!media || !owner || !record || owner.tracks.has(trackId)) return;
    const track = new RemoteTrack(record, media, owner, trackPort);
    owner.tracks.set(trackId, track);
    deps.started(track, media);
    emit(owner, 'trackSubscribed', track, owner);
  }

  function part(trackId: string): void {
    for (const participant of participants.values()) {
      const track = participant.tracks.get(trackId);
      if (!track || !participant.tracks.delete(trackId)) continue;
      deps.ended(track);
      emit(participant, 'trackUnsubscribed', track, participant);
      track.detach();
    }
  }

  type TrackEvent = 'trackPublished' | 'trackUnpublished' | 'trackMuted' | 'trackUnmuted';
  function emitTrack(participant: RemoteParticipant, name: TrackEvent, track: TrackState | undefined): void {
    if (track) emit(participant, name, track, participant);
  }

  function joined(record: ParticipantRecord): void {
    const { identity, sessionId, tracks } = record;
    const known = participants.get(identity);
    if (known?.sessionId === sessionId) updated(record);
    else {
      left({ identity, reason: 'UNKNOWN' });
      const participant = new RemoteParticipant(record, deps.participant);
      participants.set(identity, participant);
      emit(participant, 'participantJoined', participant);
    }
    for (const trackId of known?.publications.keys() ?? [])
      if (!tracks.some(({ id }) => id === trackId)) unpublished({ identity, trackId });
    for (const track of tracks) {
      published({ identity, track });
      muted({ identity, trackId: track.id, muted: track.muted, by: 'PUBLISHER' });
    }
  }

  function updated({ identity, sessionId, metadata, permissions }: ParticipantRecord): void {
    const participant = participants.get(identity);
    // Of an earlier stay: the participant who is here now is another one.
    if (participant?.sessionId !== sessionId) return;
    const isSame =
      participant.metadata === metadata && JSON.stringify(participant.permissions) === JSON.stringify(permissions);
    if (isSame) return;
    Object.assign(participant, { metadata, permissions });
    emit(participant, 'participantUpdated', participant);
  }

  function left({ identity, reason }: { identity: string; reason: string }): void {
    const participant = participants.get(identity);
    if (!participant) return;
    for (const trackId of participant.publications.keys()) unpublished({ identity, trackId });
    participants.delete(identity);
    emit(participant, 'participantLeft', participant, reasonFrom(reason) ?? 'network');
  }

  function published({ identity, track }: { identity: string; track: TrackRecord }): void {
    const participant = participants.get(identity);
    if (!participant || participant.publications.has(track.id)) return;
    participant.publications.set(track.id, track);
    emitTrack(participant, 'trackPublished', trackOf(participant, track.id));
    join(track.id);
  }

  function unpublished({ identity, trackId }: { identity: string; trackId: string }): void {
    const participant = participants.get(identity);
    if (!participant?.publications.has(trackId)) return;
    part(trackId);
    const track = trackOf(participant, trackId);
    participant.publications.delete(trackId);
    emitTrack(participant, 'trackUnpublished', track);
  }

  function muted({ identity, trackId, muted, by }: Parameters<RemoteParticipants['muted']>[0]): void {
    const participant = participants.get(identity);
    const record = participant?.publications.get(trackId);
    if (!record || record.muted === muted) return;
    participant?.publications.set(trackId, { ...record, muted, mutedByServer: muted && by === 'SERVER' });
    if (participant) emitTrack(participant, muted ? 'trackMuted' : 'trackUnmuted', trackOf(participant, trackId));
  }

  return {
    participants,
    joined,
    updated,
    left,
    published,
    unpublished,
    muted,
    replace(records) {
      const now = mergeTracks(records);
      for (const identity of participants.keys()) if (!now.has(identity)) left({ identity, reason: 'UNKNOWN' });
      for (const record of now.values()) joined(record);
    },
    clear(reason) {
      for (const identity of participants.keys()) left({ identity, reason });
    },
    arrived(trackId, media) {
      part(trackId);
      arrivals.set(trackId, media);
      join(trackId);
    },
    gone(trackId) {
      arrivals.delete(trackId);
      part(trackId);
      streams.delete(trackId);
    },
    streamChanged(stream) {
      const { trackId } = stream;
      const owner = [...participants.values()].find(({ tracks }) => tracks.has(trackId));
      const track = owner?.tracks.get(trackId);
      const before = shownOf(track);
      streams.set(trackId, stream);
      if (owner && track && before !== shownOf(track)) emit(owner, 'trackStreamStateChanged', track, owner);
    },
  };
}

const shownOf = (track?: RemoteTrack): string => `${track?.streamState} ${track?.pauseReason}`;

/** By identity: a participant with very many tracks comes in pieces, each with other tracks. */
function mergeTracks(records: readonly ParticipantRecord[]): Map<string, ParticipantRecord> {
  const whole = new Map<string, ParticipantRecord>();
  for (const record of records) {
    const tracks = [...(whole.get(record.identity)?.tracks ?? []), ...record.tracks];
    whole.set(record.identity, { ...record, tracks });
  }
  return whole;
}
