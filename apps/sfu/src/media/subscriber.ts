import type { MediaPermissions, MediaTransportState } from '@parley/contract/media-control';
import type { Codec, DataChannelName, Description, Extensions } from '@parley/media-description';
import { ClientLines } from './client-lines.ts';
import type { MediaClock } from './clock.ts';
import { Downlink } from './downlink.ts';
import { MediaError } from './errors.ts';
import { NodeOffers } from './node-offers.ts';
import type { PeerTransport, PeerTransportListener } from './peer-transport.ts';
import type { Publication } from './publication.ts';
import { isRtcp } from './rtp.ts';
import type { Negotiation, NegotiationHost, Slot, SlotUse, StreamState } from './slot.ts';
import { Subscription } from './subscription.ts';
import { extensionTable } from './template.ts';

export interface SubscriberDeps {
  clock: MediaClock;
  random(): number;
  newTransport(hasData: boolean, listener: PeerTransportListener): PeerTransport;
  candidates(): string[];
  permissions(): MediaPermissions;
  /** Of the room: many come and go. */
  isLarge(): boolean;
  isAdaptive: boolean;
  /** Videos at once; as many as there are, unless it is said. */
  maxVisible?: number | undefined;
  /** When a participant was last heard to speak. */
  spokeAt(participant: string): number;
  events: {
    offer(revision: number, isRestart: boolean, description: Description): void;
    state(state: MediaTransportState): void;
    data(channel: DataChannelName, message: Uint8Array): void;
    streamState(state: StreamState): void;
    streamStates(states: StreamState[]): void;
    /** Which layers of a track are subscribed to may have changed. */
    demandChanged(publication: Publication): void;
  };
}

/** The `sub` side of a participant: the tracks it receives, each in a slot that its negotiation gave. */
export class Subscriber {
  readonly #deps: SubscriberDeps;
  readonly #host: NegotiationHost;
  readonly #downlink: Downlink;
  #negotiation: Negotiation;
  #transport: PeerTransport | undefined;
  #nextSsrc: number;

  constructor(deps: SubscriberDeps) {
    this.#deps = deps;
    this.#nextSsrc = 0x1000_0000 + Math.floor(deps.random() * 0x4000_0000);
    this.#host = {
      takeSsrc: () => this.#takeSsrc(),
      newSubscription: (...args) => this.#newSubscription(...args),
    };
    const { clock, isLarge } = deps;
    this.#negotiation = new NodeOffers({
      ...this.#host,
      now: clock.now,
      isLarge,
      openTransport: () => ({ ...this.#replaceTransport(true).offer(), candidates: deps.candidates() }),
      acceptTransport: (answer) => this.#acceptTransport(answer),
      sendOffer: deps.events.offer,
    });
    this.#downlink = new Downlink({ ...deps, slots: () => this.#negotiation.slots });
  }

  get transport(): PeerTransport | undefined {
    return this.#transport;
  }

  get downlink(): Downlink {
    return this.#downlink;
  }

  get trackIds(): string[] {
    return this.#uses().map(({ publication }) => publication.id);
  }

  #uses = (): SlotUse[] => this.#negotiation.slots.flatMap(({ use }) => (use ? [use] : []));

  /** Opens the transport, if it is not open, and offers what there is. */
  open(): void {
    if (!this.#transport) this.#negotiation.open();
  }

  #replaceTransport(hasData: boolean): PeerTransport {
    this.#transport?.close();
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
    this.#transport = transport;
    this.#downlink.reset(transport);
    return transport;
  }

  /** Answers a client that offers what it wants to receive. Its subscriptions so far move to its lines. */
  accept(offer: Description): Description {
    const wanted = this.#uses();
    for (const { publication } of wanted) this.unsubscribe(publication.id);
    this.#negotiation.close();
    const lines = new ClientLines(offer, this.#host);
    this.#negotiation = lines;
    const transport = this.#replaceTransport(false);
    const local = usable('offer', () => transport.acceptOffer(offer));
    for (const { publication, streamId } of wanted) this.subscribe(publication, streamId);
    return { ...local, candidates: this.#deps.candidates(), media: lines.describe() };
  }

  #takeSsrc(): number {
    const ssrc = this.#nextSsrc;
    this.#nextSsrc += 2;
    return ssrc;
  }

  #newSubscription(
    publication: Publication,
    codecs: readonly Codec[],
    ssrc: number,
    extensions?: Extensions,
  ): Subscription {
    const main = codecs.find(({ name }) => name === publication.encoding.codec.name);
    const ids = {
      ssrc,
      rtxSsrc: ssrc + 1,
      payloadType: main?.pt ?? 0,
      redPayloadType: codecs.find(({ name }) => name === 'red')?.pt,
      rtxPayloadType: main?.rtx,
    };
    const outlet = this.#downlink.outlet(publication.kind, extensions && extensionTable(extensions));
    const subscription = new Subscription(publication, ids, outlet, this.#deps.random);
    subscription.isUndecodable = main === undefined;
    return subscription;
  }

  /** False without the permission, or when no line of the client can carry the track. */
  subscribe(publication: Publication, streamId: string): boolean {
    if (!this.#deps.permissions().subscribe) return false;
    if (this.#find(publication.id)) return true;
    this.open();
    const slot = this.#negotiation.assign(publication, streamId);
    if (!slot) return false;
    if (!this.#negotiation.needsAnswer) this.#activate([slot]);
    return true;
  }

  #find = (trackId: string): Slot | undefined =>
    this.#negotiation.slots.find(({ use }) => use?.publication.id === trackId);

  unsubscribe(trackId: string): boolean {
    const slot = this.#find(trackId);
    if (!slot?.use) return false;
    const { publication, subscription } = slot.use;
    publication.unsubscribe(subscription);
    this.#downlink.detach(slot.use);
    slot.use = undefined;
    slot.isActive = false;
    this.#negotiation.release(slot);
    this.#deps.events.demandChanged(publication);
    return true;
  }

  repeatOffer(): void {
    this.#negotiation.repeat();
  }

  /** Every 20 ms. */
  tick(now: number): void {
    this.#downlink.tick(now);
    this.#negotiation.tick();
  }

  /** Twice a second. */
  report(now: number): void {
    this.#negotiation.expire(now);
  }

  answer(revision: number, answer: Description): void {
    this.#activate(this.#negotiation.answer(revision, answer));
    this.#negotiation.flush();
  }

  #acceptTransport(answer: Description): void {
    if (!answer.ice || !answer.dtls || answer.dtls.role === 'actpass')
      throw new MediaError('BAD_DESCRIPTION', 'The first answer must carry ICE and DTLS parameters.');
    usable('answer', () => this.#transport?.acceptAnswer(answer));
  }

  #activate(slots: readonly Slot[]): void {
    for (const slot of slots) {
      if (!slot.use) continue;
      const { publication, subscription } = slot.use;
      slot.isActive = true;
      this.#downlink.attach(slot.use);
      publication.subscribe(subscription);
      if (subscription.isUndecodable) this.#onUndecodable(publication);
      if (slot.kind === 'audio' && this.#transport?.isOpen) subscription.setTarget(0);
    }
    this.#downlink.allocate(this.#deps.clock.now());
  }

  #onUndecodable(publication: Publication): void {
    if (publication.backup) this.changeEncoding(publication, publication.backup);
    else this.#deps.events.demandChanged(publication);
  }

  /** From the codec that this client cannot decode to its backup; back when that is gone. */
  changeEncoding(from: Publication, to: Publication): void {
    const slot = this.#negotiation.slots.find(({ use }) => use?.publication === from);
    const isNeeded = from.backup !== to || slot?.use?.subscription.isUndecodable;
    if (!slot?.use || !slot.isActive || !isNeeded) return;
    from.unsubscribe(slot.use.subscription);
    slot.use = { ...slot.use, publication: to, subscription: this.#negotiation.renew(slot, to) };
    to.subscribe(slot.use.subscription);
    this.#downlink.attach(slot.use);
    this.#downlink.allocate(this.#deps.clock.now());
  }

  /** Nothing is forwarded before the transport is open: a key frame sent too early would be lost. */
  #onOpen(): void {
    for (const { kind, use, isActive } of this.#negotiation.slots)
      if (kind === 'audio' && isActive) use?.subscription.setTarget(0);
    this.#downlink.allocate(this.#deps.clock.now());
  }

  /** A new transport with everything that is subscribed now. */
  restart(): void {
    this.#negotiation.restart();
  }

  /** Ends subscriptions that the permissions no longer allow. */
  enforce(): void {
    if (!this.#deps.permissions().subscribe) for (const trackId of this.trackIds) this.unsubscribe(trackId);
  }

  close(): void {
    for (const { publication, subscription } of this.#uses()) publication.unsubscribe(subscription);
    this.#negotiation.close();
    this.#transport?.close();
    this.#transport = undefined;
  }
}

/** The library throws at a description that it cannot use. */
function usable<T>(what: 'offer' | 'answer', accept: () => T): T {
  try {
    return accept();
  } catch (error) {
    throw new MediaError('BAD_DESCRIPTION', error instanceof Error ? error.message : `The ${what} cannot be used.`);
  }
}
