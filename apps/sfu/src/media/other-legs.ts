import type { DataChannelName, DataFlowState, DataHead } from '@parley/media-description';
import type { FallbackBudget } from './data-budget.ts';
import type { Publication } from './publication.ts';

/** Somebody whose tracks can be subscribed to: a participant here, or one of another process. */
export interface TrackOwner {
  readonly id: string;
  readonly identity: string;
  readonly publications: ReadonlyMap<string, Publication>;
}

/** Who a data message is from. */
export interface DataSender {
  readonly id: string;
  readonly identity: string;
  readonly fallbackSent: FallbackBudget;
}

export interface SentElsewhere {
  sent: number;
  refused: number;
}

/** The other processes that this room is in: what they publish here, and what they are told of ours. */
export interface OtherLegs {
  owners(): Iterable<TrackOwner>;
  /** Those of them who have tracks. */
  publishers(): Iterable<TrackOwner>;
  /** A participant is new here, or its permissions are. */
  joined(participant: TrackOwner): void;
  left(participant: TrackOwner): void;
  published(owner: TrackOwner, publication: Publication): void;
  /** It was muted, or has another transport. */
  changed(publication: Publication): void;
  unpublished(publication: Publication): void;
  /** A track of our own has a backup from now on, or `lost` it. */
  backupChanged(lost?: Publication): void;
  /** False for a track of our own, whose publisher is here. */
  demandChanged(publication: Publication, now: number): boolean;
  /** How many of those in other processes it is on its way to, and how many it cannot be sent to. */
  sendData(sender: DataSender, channel: DataChannelName, head: DataHead, payload: Uint8Array): SentElsewhere;
  /** To a sender of reliable data in another process. */
  announceDataFlow(sender: string, state: DataFlowState): void;
  /** Which tracks are chosen for all processes by one that leads; undefined: the choice is made here. */
  leadingChoice(now: number): readonly string[] | undefined;
  /** What was chosen here, for those that follow. */
  announceChoice(tracks: readonly string[], now: number): void;
  /** Every 20 ms. */
  tick(now: number): void;
  /** Twice a second. */
  report(now: number): void;
  close(): void;
}
