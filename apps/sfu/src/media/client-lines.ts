import {
  type Codec,
  type CodecName,
  DEFAULT_EXTENSIONS,
  type Description,
  type ExtensionName,
  type Extensions,
  type MediaEntry,
} from '@parley/media-description';
import { MediaError } from './errors.ts';
import type { Publication } from './publication.ts';
import type { Negotiation, NegotiationHost, Slot } from './slot.ts';
import type { Subscription } from './subscription.ts';

interface ClientSlot extends Slot {
  readonly ssrc: number;
  readonly codecs: readonly Codec[];
  readonly extensions: Extensions;
  /** Its numbers are continued by the next track of the line. */
  last: Subscription | undefined;
}

/** Lines of a client that offered what it wants to receive (WHEP): tracks take them in turn, nothing is renegotiated. */
export class ClientLines implements Negotiation {
  readonly needsAnswer = false;
  readonly #host: NegotiationHost;
  readonly #offered: readonly MediaEntry[];
  #slots: ClientSlot[];

  constructor(offer: Description, host: NegotiationHost) {
    this.#host = host;
    this.#offered = offer.media;
    this.#slots = offer.media.filter(canReceive).map((entry) => newSlot(entry, host.takeSsrc()));
  }

  get slots(): readonly Slot[] {
    return this.#slots;
  }

  assign(publication: Publication, streamId: string): Slot | undefined {
    const { encoding, request } = publication;
    const free = this.#slots.filter(({ kind, use }) => kind === publication.kind && !use);
    const withCodec = (name: CodecName | undefined) =>
      free.find(({ codecs }) => codecs.some((codec) => codec.name === name));
    const slot = withCodec(encoding.codec.name) ?? withCodec(request.backupCodec);
    if (!slot) return undefined;
    slot.use = { publication, streamId, subscription: this.#subscribe(slot, publication) };
    return slot;
  }

  #subscribe(slot: ClientSlot, publication: Publication): Subscription {
    const subscription = this.#host.newSubscription(publication, slot.codecs, slot.ssrc, slot.extensions);
    if (slot.last) subscription.follow(slot.last);
    slot.last = subscription;
    return subscription;
  }

  renew(slot: Slot, publication: Publication): Subscription {
    const own = this.#slots.find((one) => one === slot);
    if (!own) throw new Error('No line of this client.');
    return this.#subscribe(own, publication);
  }

  release(): void {
    // The line stays as it was answered, for the next track.
  }

  // The client made the offer, and its transport came with it: nothing is ever offered to it.
  open(): void {}
  flush(): void {}
  repeat(): void {}
  tick(): void {}
  expire(): void {}

  answer(): never {
    return refuseAnother();
  }

  restart(): never {
    return refuseAnother();
  }

  close(): void {
    this.#slots = [];
  }

  /** Our answer: everything a line can carry on those that receive, nothing on any other. */
  describe(): MediaEntry[] {
    return this.#offered.map(({ mid, kind }): MediaEntry => {
      const slot = this.#slots.find((one) => one.mid === mid);
      if (!slot) return { mid, kind, direction: 'inactive', codecs: [] };
      const { ssrc, codecs, extensions } = slot;
      const hasRtx = codecs.some(({ rtx }) => rtx !== undefined);
      return {
        mid,
        kind,
        direction: 'sendonly',
        trackId: `line-${mid}`,
        streamId: 'room',
        codecs: [...codecs],
        extensions,
        ssrcs: hasRtx ? [ssrc, ssrc + 1] : [ssrc],
      };
    });
  }
}

function refuseAnother(): never {
  throw new MediaError('STALE', 'The client made the offer: nothing is negotiated again.');
}

type ReceivingEntry = MediaEntry & { kind: 'audio' | 'video' };

const canReceive = (entry: MediaEntry): entry is ReceivingEntry =>
  entry.kind !== 'data' && /^(recvonly|sendrecv)$/.test(entry.direction) && (entry.codecs?.length ?? 0) > 0;

function newSlot(entry: ReceivingEntry, ssrc: number): ClientSlot {
  const { mid, kind, codecs = [] } = entry;
  const extensions = sharedExtensions(entry);
  return {
    mid,
    kind,
    use: undefined,
    isActive: false,
    announced: undefined,
    ssrc,
    codecs,
    extensions,
    last: undefined,
  };
}

/** What both sides have, with the ids of the client, as long as they fit the one-byte heads that we write. */
function sharedExtensions({ kind, extensions: offered = DEFAULT_EXTENSIONS[kind] }: MediaEntry): Extensions {
  const ours = Object.keys(DEFAULT_EXTENSIONS[kind]) as ExtensionName[];
  return Object.fromEntries(ours.flatMap((name) => ((offered[name] ?? 15) < 15 ? [[name, offered[name]]] : [])));
}
