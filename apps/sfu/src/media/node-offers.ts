import { MEDIA_DESCRIPTION_BYTES_MAX } from '@parley/contract/media-control';
import {
  type Codec,
  DEFAULT_EXTENSIONS,
  DESCRIPTOR_ID,
  type Description,
  type Extensions,
  type MediaEntry,
} from '@parley/media-description';
import { offeredCodecs } from './codecs.ts';
import { MediaError } from './errors.ts';
import type { Publication } from './publication.ts';
import type { Negotiation, NegotiationHost, Slot, SlotUse } from './slot.ts';
import type { Subscription } from './subscription.ts';

const DATA_MID = 'data';
/** What a description holds beside its media entries. */
const HEAD_BYTES = 1000;
/** An offer without an answer for this long is made anew; the SDK itself gives up its answer after 10 s. */
const ANSWER_MS_MAX = 15_000;
/** In a large room, from one offer to the next: as often as its members are told of its events. */
export const GATHER_MS = 500;

interface NodeOffersDeps extends NegotiationHost {
  now(): number;
  /** Many come and go: what changes is offered together. */
  isLarge(): boolean;
  /** A new transport in place of any before: our side of it. */
  openTransport(): Omit<Description, 'media'>;
  /** The client's side of it, as a whole answer says. */
  acceptTransport(answer: Description): void;
  sendOffer(revision: number, isRestart: boolean, description: Description): void;
}

interface OfferedSlot extends Slot {
  entry: MediaEntry;
  /** The entry changed since it was last offered. */
  needsOffer: boolean;
  /** The client has answered the line, so it can take another track once it is free. */
  isReusable: boolean;
  /** What the client said of the line, where it is not what was expected. */
  answered: MediaEntry | undefined;
  /** Set when the client does not have all extensions that were offered. */
  ownExtensions: Extensions | undefined;
}

interface PendingOffer {
  slots: OfferedSlot[];
  /** With ICE and DTLS parameters: the first of a transport. */
  isWhole: boolean;
  description: Description;
  /** When it was first seen waiting. */
  since: number | undefined;
}

/** The node offers lines, one offer at a time; each later one carries the changed entries only. */
export class NodeOffers implements Negotiation {
  readonly needsAnswer = true;
  readonly #deps: NodeOffersDeps;
  #slots: OfferedSlot[] = [];
  /** Our side of the transport; undefined while there is none. */
  #local: Omit<Description, 'media'> | undefined;
  #revision = 0;
  #pending: PendingOffer | undefined;
  /** The next offer is the first of its transport, or the one before it was not answered. */
  #needsWhole = true;
  #isRestarting = false;
  #isFlushScheduled = false;
  /** What was there when the transport was made is still being offered. */
  #isCatchingUp = true;
  #offeredAt = Number.NEGATIVE_INFINITY;
  #isGathering = false;

  constructor(deps: NodeOffersDeps) {
    this.#deps = deps;
  }

  get slots(): readonly Slot[] {
    return this.#slots;
  }

  /** Offers go out from now on. */
  open(): void {
    this.#local = this.#deps.openTransport();
    this.#scheduleFlush();
  }

  assign(publication: Publication, streamId: string): Slot {
    const slot = this.#freeSlot(publication.kind);
    const subscription = this.#newSubscription(publication);
    slot.use = { publication, streamId, subscription };
    slot.announced = undefined;
    slot.isReusable = false;
    this.#refreshEntry(slot);
    this.#scheduleFlush();
    return slot;
  }

  #newSubscription(publication: Publication) {
    return this.#deps.newSubscription(publication, codecsFor(publication), this.#deps.takeSsrc());
  }

  renew(slot: Slot, publication: Publication): Subscription {
    const own = this.#slots.find((one) => one === slot);
    const before = slot.use?.subscription;
    const codecs = own?.answered?.codecs ?? own?.entry.codecs ?? codecsFor(publication);
    const ssrc = before?.ids.ssrc ?? this.#deps.takeSsrc();
    const subscription = this.#deps.newSubscription(publication, codecs, ssrc, own?.ownExtensions);
    if (before) subscription.follow(before);
    return subscription;
  }

  #freeSlot(kind: 'audio' | 'video'): OfferedSlot {
    const free = this.#slots.find((slot) => slot.kind === kind && !slot.use && slot.isReusable);
    if (free) return free;
    const mid = String(this.#slots.length);
    const slot: OfferedSlot = {
      mid,
      kind,
      use: undefined,
      isActive: false,
      announced: undefined,
      entry: { mid, kind, direction: 'inactive' },
      needsOffer: false,
      isReusable: false,
      answered: undefined,
      ownExtensions: undefined,
    };
    this.#slots.push(slot);
    return slot;
  }

  #refreshEntry(slot: OfferedSlot): void {
    const { mid, kind, use } = slot;
    slot.needsOffer = true;
    if (!use) {
      // The codecs stay: a line without any would be refused for good.
      const { codecs } = slot.entry;
      slot.entry = { mid, kind, direction: 'inactive', ...(codecs && { codecs }) };
      return;
    }
    const { ssrc, rtxSsrc, rtxPayloadType } = use.subscription.ids;
    slot.entry = {
      mid,
      kind,
      direction: 'sendonly',
      trackId: use.publication.id,
      streamId: use.streamId,
      codecs: codecsFor(use.publication),
      ...(use.publication.extensionIds.dependencyDescriptor && { descriptor: DESCRIPTOR_ID }),
      ssrcs: rtxPayloadType === undefined ? [ssrc] : [ssrc, rtxSsrc],
    };
  }

  release(released: Slot): void {
    const slot = this.#slots.find((one) => one === released);
    if (!slot) return;
    this.#refreshEntry(slot);
    this.#scheduleFlush();
  }

  /** Changes of one turn of the event loop go out as one offer. */
  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.flush();
    });
  }

  /** What does not fit a frame goes with the offer after it. */
  flush(): void {
    if (this.#pending || !this.#local || this.#gathers()) return;
    const isWhole = this.#needsWhole;
    if (isWhole) this.#isCatchingUp = true;
    const media: MediaEntry[] = isWhole ? [{ mid: DATA_MID, kind: 'data', direction: 'sendrecv' }] : [];
    const slots: OfferedSlot[] = [];
    const changed = this.#slots.filter(({ needsOffer }) => needsOffer);
    let bytes = HEAD_BYTES;
    for (const slot of changed) {
      bytes += JSON.stringify(slot.entry).length + 1;
      if (bytes > MEDIA_DESCRIPTION_BYTES_MAX) break;
      media.push(slot.entry);
      slots.push(slot);
    }
    if (slots.length === changed.length) this.#isCatchingUp = false;
    if (media.length === 0) return;
    for (const slot of slots) slot.needsOffer = false;
    this.#offeredAt = this.#deps.now();
    this.#revision += 1;
    const description: Description = isWhole ? { ...this.#local, media } : { media };
    this.#pending = { slots, isWhole, description, since: undefined };
    this.#deps.sendOffer(this.#revision, this.#isRestarting, description);
    this.#needsWhole = false;
    this.#isRestarting = false;
  }

  /** Whether the next offer is to wait. What a client finds when it comes, or comes back, never does. */
  #gathers(): boolean {
    const { now, isLarge } = this.#deps;
    const isSoon = !this.#needsWhole && !this.#isCatchingUp && now() - this.#offeredAt < GATHER_MS;
    this.#isGathering = isSoon && isLarge();
    return this.#isGathering;
  }

  /** Sends what was gathered. */
  tick(): void {
    if (this.#isGathering) this.flush();
  }

  /** An offer whose answer is lost or failed must not keep later tracks away. */
  expire(now: number): void {
    const pending = this.#pending;
    if (!pending) return;
    pending.since ??= now;
    if (now - pending.since < ANSWER_MS_MAX) return;
    this.#pending = undefined;
    this.#needsWhole = pending.isWhole;
    for (const slot of pending.slots) slot.needsOffer = true;
    this.flush();
  }

  repeat(): void {
    if (this.#pending) this.#deps.sendOffer(this.#revision, false, this.#pending.description);
  }

  answer(revision: number, answer: Description): Slot[] {
    const pending = this.#pending;
    if (!pending || revision !== this.#revision)
      throw new MediaError('STALE', `The latest offer is revision ${this.#revision}.`);
    if (pending.isWhole) this.#deps.acceptTransport(answer);
    this.#pending = undefined;
    const entries = new Map(answer.media.map((entry) => [entry.mid, entry]));
    return pending.slots.filter((slot) => this.#accepts(slot, entries.get(slot.mid)));
  }

  #accepts(slot: OfferedSlot, answered: MediaEntry | undefined): boolean {
    slot.answered = answered;
    slot.ownExtensions = undefined;
    const isAccepted = accepts(slot, answered);
    const { use } = slot;
    if (!isAccepted || !use) return isAccepted;
    // A client that does not say that it knows the descriptor gets packets without it.
    if (slot.entry.descriptor && answered?.extensions?.dependencyDescriptor === undefined)
      slot.ownExtensions = answered?.extensions ?? DEFAULT_EXTENSIONS[slot.kind];
    const { name } = use.publication.encoding.codec;
    const isUndecodable = answered?.codecs?.every((codec) => codec.name !== name) ?? false;
    if (slot.ownExtensions || isUndecodable) use.subscription = this.renew(slot, use.publication);
    return true;
  }

  /** Lines only for the tracks there are now, with new subscriptions. */
  restart(): void {
    this.#slots = this.#slots.filter(({ use }) => use);
    this.#slots.forEach((slot, index) => {
      if (slot.use) this.#subscribeAnew(slot.use);
      slot.mid = String(index);
      slot.isActive = false;
      slot.isReusable = false;
      slot.announced = undefined;
      this.#refreshEntry(slot);
    });
    this.#pending = undefined;
    this.#needsWhole = true;
    this.#isRestarting = true;
    this.open();
  }

  #subscribeAnew(use: SlotUse): void {
    use.publication.unsubscribe(use.subscription);
    use.subscription = this.#newSubscription(use.publication);
  }

  close(): void {
    this.#local = undefined;
    this.#pending = undefined;
    this.#slots = [];
  }
}

const codecsFor = ({ encoding, request }: Publication): Codec[] => offeredCodecs(encoding, request.backupCodec);

/** Applies the client's answer to a line. False when nothing is to be sent on it. */
function accepts(slot: OfferedSlot, answered: MediaEntry | undefined): boolean {
  slot.isReusable = true;
  // The track ended or changed since the offer: another offer is on its way.
  if (!slot.use || slot.needsOffer) return false;
  if (answered?.codecs?.length === 0 || answered?.direction === 'inactive') {
    slot.use = undefined;
    slot.entry = { mid: slot.mid, kind: slot.kind, direction: 'inactive' };
    // The browser stopped this line for good.
    slot.isReusable = false;
    return false;
  }
  if (answered?.codecs) slot.use.subscription.restrictTo(answered.codecs);
  return true;
}
