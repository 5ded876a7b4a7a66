import type { ParticipantRecord, TrackRecord } from './records.ts';

/** What changed about the others. */
export type RosterEvent =
  | { is: 'joined'; participant: ParticipantRecord }
  | { is: 'updated'; participant: ParticipantRecord }
  | { is: 'left'; identity: string; reason: string }
  | { is: 'published'; identity: string; track: TrackRecord }
  | { is: 'unpublished'; identity: string; trackId: string }
  | { is: 'muted'; identity: string; trackId: string; muted: boolean; by: MutedBy };

/** The room events about other participants, with the fields the roster reads. */
export type RosterFrame =
  | { type: 'participant.joined' | 'participant.updated'; participant: ParticipantRecord }
  | { type: 'participant.left'; identity: string; reason: string }
  | { type: 'track.published'; identity: string; track: TrackRecord }
  | { type: 'track.unpublished'; identity: string; trackId: string }
  | { type: 'track.muted'; identity: string; trackId: string; muted: boolean; by: MutedBy };

type MutedBy = 'PUBLISHER' | 'SERVER';

/**
 * Who is in the room, without this participant. Events may come twice or be missed: only real changes are emitted,
 * and a whole list is compared with what was known.
 */
export class Roster {
  readonly #others = new Map<string, ParticipantRecord>();
  readonly #emit: (event: RosterEvent) => void;

  constructor(emit: (event: RosterEvent) => void) {
    this.#emit = emit;
  }

  get others(): ReadonlyMap<string, ParticipantRecord> {
    return this.#others;
  }

  /** The room as it is now, after a join that could not resume. */
  replace(participants: readonly ParticipantRecord[]): void {
    const now = new Map(mergeTracks(participants).map((participant) => [participant.identity, participant]));
    for (const identity of [...this.#others.keys()]) if (!now.has(identity)) this.#leave(identity, 'UNKNOWN');
    for (const participant of now.values()) this.#put(participant);
  }

  take(frame: RosterFrame): void {
    switch (frame.type) {
      case 'participant.joined':
        this.#put(frame.participant);
        break;
      case 'participant.updated': {
        // It carries no tracks.
        const tracks = this.#others.get(frame.participant.identity)?.tracks ?? [];
        this.#update({ ...frame.participant, tracks });
        break;
      }
      case 'participant.left':
        this.#leave(frame.identity, frame.reason);
        break;
      case 'track.published':
        this.#publish(frame.identity, frame.track);
        break;
      case 'track.unpublished':
        this.#unpublish(frame.identity, frame.trackId);
        break;
      case 'track.muted':
        this.#mute(frame.identity, frame.trackId, frame.muted, frame.by);
        break;
    }
  }

  clear(reason: string): void {
    for (const identity of [...this.#others.keys()]) this.#leave(identity, reason);
  }

  #put(participant: ParticipantRecord): void {
    const known = this.#others.get(participant.identity);
    if (known && known.sessionId !== participant.sessionId) this.#leave(participant.identity, 'UNKNOWN');
    if (this.#others.has(participant.identity)) this.#update({ ...participant, tracks: known?.tracks ?? [] });
    else {
      this.#others.set(participant.identity, { ...participant, tracks: [] });
      this.#emit({ is: 'joined', participant });
    }
    const { identity, tracks } = participant;
    const there = new Set(tracks.map(({ id }) => id));
    for (const { id } of [...(this.#others.get(identity)?.tracks ?? [])])
      if (!there.has(id)) this.#unpublish(identity, id);
    for (const track of tracks) {
      this.#publish(identity, track);
      this.#mute(identity, track.id, track.muted);
    }
  }

  #update(participant: ParticipantRecord): void {
    const known = this.#others.get(participant.identity);
    // Of an earlier stay: the participant who is here now is another one.
    if (known?.sessionId !== participant.sessionId) return;
    this.#others.set(participant.identity, participant);
    const isSame =
      known.metadata === participant.metadata &&
      JSON.stringify(known.permissions) === JSON.stringify(participant.permissions);
    if (!isSame) this.#emit({ is: 'updated', participant });
  }

  #leave(identity: string, reason: string): void {
    const known = this.#others.get(identity);
    if (!known) return;
    for (const { id } of [...known.tracks]) this.#unpublish(identity, id);
    this.#others.delete(identity);
    this.#emit({ is: 'left', identity, reason });
  }

  #publish(identity: string, track: TrackRecord): void {
    const known = this.#others.get(identity);
    if (!known || known.tracks.some(({ id }) => id === track.id)) return;
    known.tracks = [...known.tracks, track];
    this.#emit({ is: 'published', identity, track });
  }

  #unpublish(identity: string, trackId: string): void {
    const known = this.#others.get(identity);
    if (!known?.tracks.some(({ id }) => id === trackId)) return;
    known.tracks = known.tracks.filter(({ id }) => id !== trackId);
    this.#emit({ is: 'unpublished', identity, trackId });
  }

  #mute(identity: string, trackId: string, muted: boolean, by: MutedBy = 'PUBLISHER'): void {
    const known = this.#others.get(identity);
    const track = known?.tracks.find(({ id }) => id === trackId);
    if (!known || !track || track.muted === muted) return;
    known.tracks = known.tracks.map((one) => (one === track ? { ...one, muted } : one));
    this.#emit({ is: 'muted', identity, trackId, muted, by });
  }
}

/** A participant with very many tracks comes in pieces, each with other tracks. */
function mergeTracks(participants: readonly ParticipantRecord[]): ParticipantRecord[] {
  const byIdentity = new Map<string, ParticipantRecord>();
  for (const participant of participants) {
    const known = byIdentity.get(participant.identity);
    const tracks = [...(known?.tracks ?? []), ...participant.tracks];
    byIdentity.set(participant.identity, { ...participant, tracks });
  }
  return [...byIdentity.values()];
}
