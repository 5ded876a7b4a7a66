import type { DisconnectReason } from '../errors.ts';
import { trackOf } from '../participant-state.ts';
import { reasonFrom } from '../reconnect.ts';
import type { TrackState } from '../room-types.ts';
import type { ParticipantRecord, StreamRecord } from '../signal/records.ts';
import type { RosterEvent } from '../signal/roster.ts';
import {
  RemoteParticipant,
  type RemoteParticipantPort,
  RemoteTrack,
  type RemoteTrackPort,
} from './remote-participant.ts';

export interface RemoteParticipantEvents {
  participantJoined(participant: RemoteParticipant): void;
  participantLeft(participant: RemoteParticipant, why: DisconnectReason): void;
  participantUpdated(participant: RemoteParticipant): void;
  trackPublished(track: TrackState, participant: RemoteParticipant): void;
  trackUnpublished(track: TrackState, participant: RemoteParticipant): void;
  trackSubscribed(track: RemoteTrack, participant: RemoteParticipant, media: MediaStreamTrack): void;
  trackUnsubscribed(track: RemoteTrack, participant: RemoteParticipant): void;
  trackMuted(track: TrackState, participant: RemoteParticipant): void;
  trackStreamStateChanged(track: RemoteTrack, participant: RemoteParticipant): void;
}

export interface RemoteParticipants {
  readonly participants: ReadonlyMap<string, RemoteParticipant>;
  take(event: RosterEvent): void;
  /** Media of a track arrived; its publication may be known before or after. */
  arrived(trackId: string, media: MediaStreamTrack): void;
  gone(trackId: string): void;
  /** The server pauses or resumes what it sends of a track, or sends another layer. */
  streamChanged(stream: StreamRecord): void;
}

/** The others and their tracks: matches publications that signaling announces with the media that arrives. */
export function createRemoteParticipants(
  events: RemoteParticipantEvents,
  ports: { participant: RemoteParticipantPort; track: Omit<RemoteTrackPort, 'stream'> },
): RemoteParticipants {
  const participants = new Map<string, RemoteParticipant>();
  /** Media whose publication is not known yet, and media in use. */
  const arrivals = new Map<string, MediaStreamTrack>();

  /** Kept by id: the first may come before the media does. */
  const streams = new Map<string, StreamRecord>();
  const trackPort: RemoteTrackPort = { ...ports.track, stream: (trackId) => streams.get(trackId) };

  function join(trackId: string): void {
    const media = arrivals.get(trackId);
    const owner = [...participants.values()].find(({ publications }) => publications.has(trackId));
    const record = owner?.publications.get(trackId);
    if (!media || !owner || !record || owner.tracks.has(trackId)) return;
    const track = new RemoteTrack(record, media, owner, trackPort);
    owner.tracks.set(trackId, track);
    events.trackSubscribed(track, owner, media);
  }

  function part(trackId: string): void {
    for (const participant of participants.values()) {
      const track = participant.tracks.get(trackId);
      if (!track || !participant.tracks.delete(trackId)) continue;
      events.trackUnsubscribed(track, participant);
      track.detach();
    }
  }

  function welcome(record: ParticipantRecord): void {
    const participant = new RemoteParticipant(record, ports.participant);
    participants.set(record.identity, participant);
    events.participantJoined(participant);
  }

  /** An event of a present participant. */
  function update(participant: RemoteParticipant, event: Exclude<RosterEvent, { is: 'joined' }>): void {
    const { publications } = participant;
    const about = (id: string, emit: (track: TrackState, participant: RemoteParticipant) => void): void => {
      const track = trackOf(participant, id);
      if (track) emit(track, participant);
    };
    switch (event.is) {
      case 'updated':
        participant.metadata = event.participant.metadata;
        participant.permissions = event.participant.permissions;
        events.participantUpdated(participant);
        break;
      case 'left':
        participants.delete(participant.identity);
        events.participantLeft(participant, reasonFrom(event.reason) ?? 'network');
        break;
      case 'published':
        publications.set(event.track.id, event.track);
        about(event.track.id, events.trackPublished);
        join(event.track.id);
        break;
      case 'unpublished':
        part(event.trackId);
        about(event.trackId, (track) => {
          publications.delete(event.trackId);
          events.trackUnpublished(track, participant);
        });
        break;
      case 'muted': {
        const record = publications.get(event.trackId);
        const mutedByServer = event.muted && event.by === 'SERVER';
        if (record) publications.set(event.trackId, { ...record, muted: event.muted, mutedByServer });
        about(event.trackId, events.trackMuted);
      }
    }
  }

  return {
    participants,
    take(event) {
      const participant = participants.get('identity' in event ? event.identity : event.participant.identity);
      if (event.is === 'joined') welcome(event.participant);
      else if (participant) update(participant, event);
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
      const tracks = [...participants.values()].flatMap((participant) => participant.tracks.get(stream.trackId) ?? []);
      const before = tracks.map(({ streamState, pauseReason }) => `${streamState} ${pauseReason}`);
      streams.set(stream.trackId, stream);
      tracks.forEach((track, at) => {
        if (before[at] !== `${track.streamState} ${track.pauseReason}`)
          events.trackStreamStateChanged(track, track.participant);
      });
    },
  };
}
