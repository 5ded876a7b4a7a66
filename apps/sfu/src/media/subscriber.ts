import type { MediaPermissions, MediaTransportState } from '@parley/contract/media-control';
import { MEDIA_DESCRIPTION_BYTES_MAX } from '@parley/contract/media-control';
import type { Codec, DataChannelName, Description, MediaEntry } from '@parley/media-description';
import type { MediaClock } from './clock.ts';
import { offeredCodecs } from './codecs.ts';
import { Downlink } from './downlink.ts';
import { MediaError } from './errors.ts';
import type { PeerTransport, PeerTransportListener } from './peer-transport.ts';
import type { Publication } from './publication.ts';
import { isRtcp } from './rtp.ts';
import { answeredLine, canReceive, fixedSlot, type Slot, type StreamState } from './slot.ts';
import { type Outlet, Subscription } from './subscription.ts';
import { extensionTable } from './template.ts';

const DATA_MID = 'data';

export interface SubscriberDeps {
  clock: MediaClock;
  random(): number;
  newTransport(hasData: boolean, listener: PeerTransportListener): PeerTransport;
  candidates(): string[];
  permissions(): MediaPermissions;
  isAdaptive: boolean;
  events: {
    offer(revision: number, isRestart: boolean, description: Description): void;
    state(state: MediaTransportState): void;
    data(channel: DataChannelName, message: Uint8Array): void;
    streamState(state: StreamState): void;
    /** What the subscribers take of a track may have changed. */
    demandChanged(publication: Publication): void;
  };
}

/** The `sub` side of a participant: what it gets from us. */
export class Subscriber {
  readonly #deps: SubscriberDeps;
  readonly #slots: Slot[] = [];
  readonly #downlink: Downlink;
  #transport: PeerTransport | undefined;
  #local: Omit<Description, 'media'> | undefined;
  #revision = 0;
  #pending: { slots: Slot[]; isWhole: boolean; description: Description } | undefined;
  #isRestarting = false;
  #isFlushing = false;
  /** The client laid down the lines; nothing is offered to it. */
  #isFixed = false;
  #nextSsrc: number;

  constructor(deps: SubscriberDeps) {
    this.#deps = deps;
    const { isAdaptive, events } = deps;
    this.#downlink = new Downlink({ slots: this.#slots, isAdaptive, events });
    this.#nextSsrc = 0x1000_0000 + Math.floor(deps.random() * 0x4000_0000);
  }

  get transport(): PeerTransport | undefined {
    return this.#transport;
  }

  get downlink(): Downlink {
    return this.#downlink;
  }

  get trackIds(): string[] {
    return this.#slots.flatMap(({ use }) => (use ? [use.publication.id] : []));
  }

  /** Opens the transport, if it is not open, and offers what there is. */
  open(): void {
    if (this.#transport) return;
    this.#connect();
    this.#flushSoon();
  }

  #connect(): void {
    const transport = this.#newTransport(true);
    this.#transport = transport;
    this.#local = { ...transport.offer(), candidates: this.#deps.candidates() };
    this.#downlink.reset(transport);
  }

  #newTransport(hasData: boolean): PeerTransport {
    const transport: PeerTransport = this.#deps.newTransport(hasData, {
      open: () => this.#onOpen(),
      packet: (buffer) => {
        if (isRtcp(buffer)) this.#downlink.onReports(buffer, this.#deps.clock.now());
      },
      state: (state) => {
        if (this.#transport === transport) this.#deps.events.state(state);
      },
      data: (channel, message) => this.#deps.events.data(channel, message),
    });
    return transport;
  }

  /** Answers a client that offers what it wants to receive. What it was to get so far goes on its lines. */
  accept(offer: Description): Description {
    const wanted = this.#slots.flatMap(({ use }) => (use ? [use] : []));
    for (const { publication } of wanted) this.unsubscribe(publication.id);
    this.#transport?.close();
    this.#pending = undefined;
    this.#isFixed = true;
    const transport = this.#newTransport(false);
    this.#transport = transport;
    this.#downlink.reset(transport);
    const slots = offer.media.filter(canReceive).map((entry) => fixedSlot(entry, this.#takeSsrc()));
    this.#slots.splice(0, this.#slots.length, ...slots);
    try {
      const local = { ...transport.acceptOffer(offer), candidates: this.#deps.candidates() };
      for (const { publication, streamId } of wanted) this.subscribe(publication, streamId);
      const lines = offer.media.map((entry) =>
        answeredLine(
          entry,
          slots.find(({ mid }) => mid === entry.mid),
        ),
      );
      return { ...local, media: lines };
    } catch (error) {
      throw new MediaError('BAD_DESCRIPTION', error instanceof Error ? error.message : 'The offer cannot be used.');
    }
  }

  #takeSsrc(): number {
    const ssrc = this.#nextSsrc;
    this.#nextSsrc += 2;
    return ssrc;
  }

  subscribe(publication: Publication, streamId: string): boolean {
    if (!this.#deps.permissions().subscribe) return false;
    if (this.#slots.some(({ use }) => use?.publication === publication)) return true;
    if (this.#isFixed) return this.#fill(publication, streamId);
    this.open();
    const slot = this.#freeSlot(publication.kind);
    slot.use = { publication, streamId, subscription: this.#newSubscription(publication) };
    slot.told = undefined;
    slot.isAnswered = false;
    this.#refreshEntry(slot);
    this.#flushSoon();
    return true;
  }

  /** False when no line is left that can carry it. */
  #fill(publication: Publication, streamId: string): boolean {
    const { name } = publication.encoding.codec;
    const canCarry = ({ kind, use, fixed }: Slot) =>
      kind === publication.kind && !use && fixed?.codecs.some((codec) => codec.name === name);
    const slot = this.#slots.find(canCarry);
    if (!slot?.fixed) return false;
    const { ssrc, codecs, extensions } = slot.fixed;
    const outlet = this.#downlink.outlet(extensionTable(extensions));
    const subscription = this.#newSubscription(publication, codecs, ssrc, outlet);
    if (slot.fixed.last) subscription.follow(slot.fixed.last);
    slot.fixed.last = subscription;
    slot.use = { publication, streamId, subscription };
    slot.isDirty = false;
    this.#downlink.bySsrc.set(ssrc, slot);
    this.#activate(slot, undefined);
    this.#downlink.allocate(this.#deps.clock.now());
    return true;
  }

  #freeSlot(kind: 'audio' | 'video'): Slot {
    const free = this.#slots.find((slot) => slot.kind === kind && !slot.use && slot.isAnswered);
    if (free) return free;
    const mid = String(this.#slots.length);
    const entry: MediaEntry = { mid, kind, direction: 'inactive' };
    const slot: Slot = { mid, kind, use: undefined, entry, isDirty: false, isAnswered: false, told: undefined };
    this.#slots.push(slot);
    return slot;
  }

  #newSubscription(
    publication: Publication,
    codecs: readonly Codec[] = offeredCodecs(publication.encoding),
    ssrc = this.#takeSsrc(),
    outlet: Outlet = this.#downlink.outlet(),
  ): Subscription {
    const main = codecs.find(({ name }) => name === publication.encoding.codec.name);
    const ids = {
      ssrc,
      rtxSsrc: ssrc + 1,
      payloadType: main?.pt ?? 0,
      redPayloadType: codecs.find(({ name }) => name === 'red')?.pt,
      rtxPayloadType: main?.rtx,
    };
    return new Subscription(publication, ids, outlet, this.#deps.random);
  }

  #refreshEntry(slot: Slot): void {
    const { mid, kind, use } = slot;
    slot.isDirty = true;
    if (!use) {
      slot.entry = { ...slot.entry, direction: 'inactive' };
      delete slot.entry.trackId;
      delete slot.entry.streamId;
      delete slot.entry.ssrcs;
      return;
    }
    const { ssrc, rtxSsrc, rtxPayloadType } = use.subscription.ids;
    this.#downlink.bySsrc.set(ssrc, slot);
    slot.entry = {
      mid,
      kind,
      direction: 'sendonly',
      trackId: use.publication.id,
      streamId: use.streamId,
      codecs: offeredCodecs(use.publication.encoding),
      ssrcs: rtxPayloadType === undefined ? [ssrc] : [ssrc, rtxSsrc],
    };
  }

  unsubscribe(trackId: string): boolean {
    const slot = this.#slots.find(({ use }) => use?.publication.id === trackId);
    if (!slot?.use) return false;
    const { publication, subscription } = slot.use;
    publication.unsubscribe(subscription);
    this.#downlink.bySsrc.delete(subscription.ids.ssrc);
    slot.use = undefined;
    this.#downlink.forget(trackId);
    this.#refreshEntry(slot);
    this.#deps.events.demandChanged(publication);
    this.#flushSoon();
    return true;
  }

  /** Changes of one turn go out as one offer. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#pending || this.#isFixed || !this.#transport || !this.#local) return;
    const isWhole = this.#revision === 0 || this.#isRestarting;
    const media: MediaEntry[] = isWhole ? [{ mid: DATA_MID, kind: 'data', direction: 'sendrecv' }] : [];
    const slots: Slot[] = [];
    let bytes = 1000;
    for (const slot of this.#slots) {
      if (!slot.isDirty) continue;
      bytes += JSON.stringify(slot.entry).length + 1;
      if (bytes > MEDIA_DESCRIPTION_BYTES_MAX) break;
      media.push(slot.entry);
      slots.push(slot);
    }
    if (media.length === 0) return;
    for (const slot of slots) slot.isDirty = false;
    this.#revision += 1;
    const description: Description = isWhole ? { ...this.#local, media } : { media };
    this.#pending = { slots, isWhole, description };
    this.#deps.events.offer(this.#revision, this.#isRestarting, description);
    this.#isRestarting = false;
  }

  /** Repeats the offer that waits for an answer, for a signaling socket that may have lost it. */
  repeatOffer(): void {
    if (this.#pending) this.#deps.events.offer(this.#revision, false, this.#pending.description);
  }

  answer(revision: number, answer: Description): void {
    const pending = this.#pending;
    if (!pending || revision !== this.#revision || !this.#transport)
      throw new MediaError('STALE', `The latest offer is revision ${this.#revision}.`);
    if (pending.isWhole) {
      if (!answer.ice || !answer.dtls || answer.dtls.role === 'actpass')
        throw new MediaError('BAD_DESCRIPTION', 'The first answer must carry ICE and DTLS parameters.');
      try {
        this.#transport.acceptAnswer(answer);
      } catch (error) {
        throw new MediaError('BAD_DESCRIPTION', error instanceof Error ? error.message : 'The answer cannot be used.');
      }
    }
    this.#pending = undefined;
    const refusals = new Map(answer.media.map((entry) => [entry.mid, entry]));
    for (const slot of pending.slots) this.#activate(slot, refusals.get(slot.mid));
    this.#downlink.allocate(this.#deps.clock.now());
    this.#flush();
  }

  #activate(slot: Slot, answered: MediaEntry | undefined): void {
    slot.isAnswered = true;
    // The track may have ended or changed since the offer: then another offer is under way.
    if (!slot.use || slot.isDirty) return;
    const { publication, subscription } = slot.use;
    const isRefused = answered && (answered.codecs?.length === 0 || answered.direction === 'inactive');
    if (isRefused) {
      slot.use = undefined;
      slot.entry = { mid: slot.mid, kind: slot.kind, direction: 'inactive' };
      // The browser stopped this line for good.
      slot.isAnswered = false;
      return;
    }
    if (answered?.codecs) {
      const names = answered.codecs.map(({ name }) => name);
      if (!names.includes('red')) subscription.ids.redPayloadType = undefined;
      if (!answered.codecs.some(({ rtx }) => rtx !== undefined)) subscription.ids.rtxPayloadType = undefined;
    }
    publication.subscribe(subscription);
    if (publication.kind === 'audio' && this.#transport?.isOpen) subscription.setTarget(0);
  }

  /** Nothing is forwarded before the transport can carry it: a key frame sent too early would be lost. */
  #onOpen(): void {
    for (const { kind, use, isAnswered } of this.#slots)
      if (kind === 'audio' && isAnswered) use?.subscription.setTarget(0);
    this.#downlink.allocate(this.#deps.clock.now());
  }

  /** A new transport with everything that is subscribed now. */
  restart(): void {
    const before = this.#transport;
    this.#transport = undefined;
    before?.close();
    // Lines of ended tracks do not exist in the new connection.
    const used = this.#slots.filter(({ use }) => use);
    this.#slots.splice(0, this.#slots.length, ...used);
    used.forEach((slot, index) => {
      if (!slot.use) return;
      const { publication, subscription } = slot.use;
      publication.unsubscribe(subscription);
      slot.use.subscription = this.#newSubscription(publication);
      slot.mid = String(index);
      slot.isAnswered = false;
      slot.told = undefined;
    });
    this.#downlink.bySsrc.clear();
    for (const slot of used) this.#refreshEntry(slot);
    this.#pending = undefined;
    this.#isRestarting = true;
    this.#connect();
    this.#flushSoon();
  }

  /** Ends subscriptions that the permissions no longer allow. */
  enforce(): void {
    if (!this.#deps.permissions().subscribe) for (const trackId of this.trackIds) this.unsubscribe(trackId);
  }

  close(): void {
    for (const { use } of this.#slots) use?.publication.unsubscribe(use.subscription);
    this.#slots.length = 0;
    this.#transport?.close();
    this.#transport = undefined;
  }
}
