import type { LocalTrack } from './media/local-track.ts';
import type { RemoteTrack } from './media/remote-participant.ts';
import type { Participant, ParticipantState, TrackState } from './room-types.ts';
import type { TrackRecord } from './signal/records.ts';

/** The earlier object while every field is the same: what renders it can tell by `===` that nothing changed. */
export function keep<T extends object>(before: T | null | undefined, now: T): T {
  const keys = Object.keys({ ...before, ...now }) as (keyof T)[];
  return before && keys.every((key) => Object.is(before[key], now[key])) ? before : now;
}

export const keepList = <T>(before: readonly T[] | undefined, now: readonly T[]): readonly T[] =>
  before?.length === now.length && now.every((one, at) => one === before[at]) ? before : now;

const known = new WeakMap<Participant, ParticipantState>();
/** Those that are as they were read last. */
const current = new WeakSet<Participant>();

/** Something about the participant changed. */
export const outdate = (participant: Participant): void => void current.delete(participant);

/** A participant as it is now, read again only if it is outdated: a room of many changes one at a time. */
export const stateOf = (participant: Participant): ParticipantState =>
  (current.has(participant) && known.get(participant)) || readState(participant);

export function readState(participant: Participant): ParticipantState {
  const before = known.get(participant);
  const { identity, sessionId, isLocal, metadata, permissions, isSpeaking, audioLevel, quality } = participant;
  const now = keep<ParticipantState>(before, {
    identity,
    sessionId,
    isLocal,
    // Levels change many times a second, metadata hardly ever: it is read again only then.
    name: before?.metadata === metadata && before.identity === identity ? before.name : nameOf(participant),
    metadata,
    permissions: permissions && keep(before?.permissions, permissions),
    isSpeaking,
    audioLevel,
    quality,
    tracks: keepList(
      before?.tracks,
      tracksOf(participant).map((track) => keep(find(before, track.trackId), track)),
    ),
    participant,
  });
  known.set(participant, now);
  current.add(participant);
  return now;
}

/** One track of a participant as it is now; undefined when it is not there (any more). */
export const trackOf = (participant: Participant, id: string): TrackState | undefined =>
  find(readState(participant), id);

const find = (state: ParticipantState | undefined, id: string): TrackState | undefined =>
  state?.tracks.find(({ trackId }) => trackId === id);

const tracksOf = (participant: Participant): TrackState[] =>
  participant.isLocal
    ? [...participant.tracks].map(localState)
    : [...participant.publications.values()].map((record) =>
        remoteState(record, participant.tracks.get(record.id) ?? null),
      );

function localState(track: LocalTrack): TrackState {
  const { id, kind, source, name = null, metadata = null, isMuted, isMutedByServer } = track;
  return {
    trackId: id ?? track.mediaStreamTrack.id,
    kind,
    source,
    name,
    metadata,
    isMuted,
    isMutedByServer,
    streamState: 'active',
    pauseReason: null,
    isSubscribed: true,
    track,
  };
}

function remoteState(record: TrackRecord, track: RemoteTrack | null): TrackState {
  const { id, kind, source, name, metadata = null, muted, mutedByServer = false } = record;
  return {
    trackId: id,
    kind: kind === 'AUDIO' ? 'audio' : 'video',
    source,
    name,
    metadata,
    isMuted: muted,
    isMutedByServer: mutedByServer,
    streamState: track?.streamState ?? 'active',
    pauseReason: track?.pauseReason ?? null,
    isSubscribed: track !== null,
    track,
  };
}

/** The metadata is `{"name":"Ada Lovelace"}`, or whatever else the backend likes. */
function nameOf({ metadata, identity }: Participant): string {
  try {
    const { name } = metadata?.[0] === '{' ? JSON.parse(metadata) : {};
    return typeof name === 'string' && name ? name : identity;
  } catch {
    return identity;
  }
}
