import type { MediaEvent } from '@parley/contract/media-control';
import {
  DATA_MESSAGE_BYTES_MAX,
  type DataChannelName,
  type DataHead,
  decodeData,
  encodeData,
} from '@parley/media-description';
import type { MediaClock } from './clock.ts';
import { MediaError } from './errors.ts';
import type { DataSender, OtherLegs } from './other-legs.ts';
import type { Participant } from './participant.ts';

/** Larger messages reach only open data channels, never a signaling socket. */
const FALLBACK_BYTES_MAX = 8192;

interface DataRelayDeps {
  room: string;
  participants: ReadonlyMap<string, Participant>;
  legs: Pick<OtherLegs, 'sendData'>;
  clock: MediaClock;
  emit(event: MediaEvent): void;
  /** A receiver did not get a message: it reads too slowly, has no channel that could take it, or a budget is spent. */
  onDropped(): void;
}

/** Data messages of a room: over data channels, and by signaling, on a small budget, to receivers without one. */
export class DataRelay {
  readonly #deps: DataRelayDeps;

  constructor(deps: DataRelayDeps) {
    this.#deps = deps;
  }

  /** A message that came over a data channel; what is not allowed is dropped. */
  onMessage(sender: Participant, channel: DataChannelName, bytes: Uint8Array): void {
    if (!sender.permissions.publishData || bytes.length > DATA_MESSAGE_BYTES_MAX) return;
    if (!sender.dataBudget.take(bytes.length, this.#deps.clock.now())) return;
    const message = decodeData(bytes);
    if (!message) return;
    const { topic, to, text } = message.head;
    this.#sendToAll(sender, channel, { topic, text, to }, message.payload);
  }

  /** A message that came as a command: a reliable one is refused whole rather than lost for want of budget. */
  send(sender: Participant | undefined, channel: DataChannelName, head: DataHead, payload: Uint8Array): number {
    const mayBeRefused = channel === 'reliable' && sender?.fallbackSent.isSpent(this.#deps.clock.now());
    if (mayBeRefused && this.#receivers(sender, head).some((one) => !one.subscriber.transport?.isDataOpen(channel)))
      throw new MediaError('RATE_LIMITED', 'Too much data for receivers without a data channel.');
    return this.#sendToAll(sender, channel, head, payload);
  }

  /** Here and in the other processes of the room; what the server sends comes to each of them by itself. */
  #sendToAll(sender: Participant | undefined, channel: DataChannelName, head: DataHead, payload: Uint8Array): number {
    const elsewhere = sender ? this.#deps.legs.sendData(sender, channel, head, payload) : 0;
    return elsewhere + this.deliver(sender, channel, head, payload);
  }

  /** S15: `publishData` governs both directions. */
  #receivers(sender: DataSender | undefined, { to }: DataHead): Participant[] {
    return [...this.#deps.participants.values()].filter(
      (one) => one !== sender && !one.isPlain && one.permissions.publishData && (!to || to.includes(one.identity)),
    );
  }

  /** To those in this process; how many received it. */
  deliver(sender: DataSender | undefined, channel: DataChannelName, head: DataHead, payload: Uint8Array): number {
    const { topic, text } = head;
    const from = sender?.identity ?? null;
    const at = new Date(this.#deps.clock.wall()).toISOString();
    const message = encodeData({ head: { from, at, ...(topic && { topic }), ...(text && { text }) }, payload });
    const encoding = text ? 'utf8' : 'base64';
    const fallback = () =>
      ({ from, topic: topic ?? null, payload: Buffer.from(payload).toString(encoding), encoding, at }) as const;
    const mayFallBack = this.#fallBackFor(sender, payload);
    let delivered = 0;
    for (const receiver of this.#receivers(sender, head)) {
      // A receiver that reads too slowly loses messages, reliable ones too, and keeps its transport and its media.
      const outcome = receiver.subscriber.transport?.sendData(channel, message) ?? 'closed';
      const falls = outcome === 'closed' && mayFallBack(receiver);
      if (falls) {
        const address = { room: this.#deps.room, participant: receiver.id };
        this.#deps.emit({ type: 'data', data: { ...address, ...fallback() } });
      }
      if (falls || outcome === 'sent') delivered += 1;
      else this.#deps.onDropped();
    }
    return delivered;
  }

  /** Whether a receiver may get this message by signaling; counts it. What the server itself sends has a route's budget. */
  #fallBackFor(sender: DataSender | undefined, payload: Uint8Array): (receiver: Participant) => boolean {
    const now = this.#deps.clock.now();
    // One message to many is not cut in half.
    const isRefused = payload.length > FALLBACK_BYTES_MAX || sender?.fallbackSent.isSpent(now);
    return ({ fallbackReceived }) => {
      if (isRefused || fallbackReceived.isSpent(now)) return false;
      sender?.fallbackSent.spend(now);
      fallbackReceived.spend(now);
      return true;
    };
  }
}
