import type { MediaEvents } from '@parley/contract/media-control';
import type { Codec, Description, Extensions } from '@parley/media-description';
import type { Publication } from './publication.ts';
import type { Subscription } from './subscription.ts';

export type StreamState = Omit<MediaEvents['stream.state'], 'room' | 'participant'>;

/** One m-line toward the subscriber. It is reused for another track once its track ended. */
export interface Slot {
  mid: string;
  readonly kind: 'audio' | 'video';
  use: SlotUse | undefined;
  /** The client accepted the line for this track: media may be sent. */
  isActive: boolean;
  /** The state announced last for this track. */
  announced: StreamState | undefined;
}

export interface SlotUse {
  publication: Publication;
  subscription: Subscription;
  /** The publishing participant. */
  streamId: string;
}

/** Where the slots of a subscriber come from: `NodeOffers`, or `ClientLines` for a client that made the offer. */
export interface Negotiation {
  readonly slots: readonly Slot[];
  /** Whether a track may be sent only after the client answered an offer with it. */
  readonly needsAnswer: boolean;
  /** The subscriber has no transport yet and wants one. */
  open(): void;
  /** The slot that carries the track from now on; undefined when none can. */
  assign(publication: Publication, streamId: string): Slot | undefined;
  /** Another encoding of the track on the same line, as far as the client accepted it. */
  renew(slot: Slot, publication: Publication): Subscription;
  /** The track of the slot ended: its `use` is gone. */
  release(slot: Slot): void;
  /** The slots that the client accepted; STALE when it answers another offer than the latest. */
  answer(revision: number, answer: Description): Slot[];
  /** Sends the next offer unless one awaits its answer. */
  flush(): void;
  /** Repeats the offer that awaits an answer, for a signaling socket that may have lost it. */
  repeat(): void;
  /** Every 20 ms. */
  tick(): void;
  /** About twice a second. */
  expire(now: number): void;
  /** Another transport for the tracks there are now; STALE when the client would have to offer it. */
  restart(): void;
  close(): void;
}

/** What a negotiation needs of its subscriber. */
export interface NegotiationHost {
  /** An SSRC of this subscriber; the next number is free too, for retransmission. */
  takeSsrc(): number;
  /** `extensions`: where the client has header extension ids of its own. */
  newSubscription(
    publication: Publication,
    codecs: readonly Codec[],
    ssrc: number,
    extensions?: Extensions,
  ): Subscription;
}
