import type { MediaParticipantSnapshot } from '@parley/contract/media-control';
import { Groups } from '../groups.ts';
import type { Participant } from './participant.ts';

export interface SnapshotOptions {
  /** Without subscriptions. */
  brief?: boolean | undefined;
  withoutViewers?: boolean | undefined;
}

/** The participants of a room in this process, by id. Who joins a crowd is compared with nobody in it. */
export class Crowd extends Map<string, Participant> {
  readonly #byIdentity = new Groups<string, Participant>();
  /** All but viewers. */
  readonly #members = new Set<Participant>();
  /** Those with tracks. */
  readonly publishers = new Set<Participant>();

  ofIdentity(identity: string): Participant[] {
    return this.#byIdentity.of(identity);
  }

  add(participant: Participant): void {
    this.set(participant.id, participant);
    this.#byIdentity.add(participant.identity, participant);
    if (!participant.isViewer) this.#members.add(participant);
  }

  override delete(id: string): boolean {
    const participant = this.get(id);
    if (!participant) return false;
    this.#byIdentity.delete(participant.identity, participant);
    this.#members.delete(participant);
    this.publishers.delete(participant);
    return super.delete(id);
  }

  snapshots(now: number, { brief = false, withoutViewers = false }: SnapshotOptions): MediaParticipantSnapshot[] {
    const shown = withoutViewers ? this.#members : this.values();
    return [...shown].map((participant) => participant.snapshot(now, brief));
  }
}
