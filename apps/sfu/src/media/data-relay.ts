import type { MediaEvent } from '@parley/contract/media-control';
import {
  DATA_MESSAGE_BYTES_MAX,
  type DataChannelName,
  type DataHead,
  decodeData,
  encodeData,
} from '@parley/media-description';
import type { MediaClock } from './clock.ts';
import type { Participant } from './participant.ts';

/** Larger messages reach only open data channels, never a signaling socket. */
const FALLBACK_BYTES_MAX = 8192;

interface DataRelayDeps {
  room: string;
  participants: ReadonlyMap<string, Participant>;
  clock: MediaClock;
  emit(event: MediaEvent): void;
  /** A reliable channel was full, so its transport was closed. */
  onOverflow(receiver: Participant): void;
}

/** Data messages of a room: over data channels, and by signaling to receivers without one. */
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
    this.send(sender, channel, { topic, text, to }, message.payload);
  }

  /** How many receivers there were. S15: `publishData` governs both directions. */
  send(sender: Participant | undefined, channel: DataChannelName, head: DataHead, payload: Uint8Array): number {
    const { topic, text, to } = head;
    const from = sender?.identity ?? null;
    const at = new Date(this.#deps.clock.wall()).toISOString();
    const message = encodeData({ head: { from, at, ...(topic && { topic }), ...(text && { text }) }, payload });
    const encoding = text ? 'utf8' : 'base64';
    let delivered = 0;
    for (const receiver of this.#deps.participants.values()) {
      if (receiver === sender || !receiver.permissions.publishData) continue;
      if (to && !to.includes(receiver.identity)) continue;
      delivered += 1;
      if (this.#sendOverChannel(receiver, channel, message) || payload.length > FALLBACK_BYTES_MAX) continue;
      const address = { room: this.#deps.room, participant: receiver.id };
      const fallback = {
        from,
        topic: topic ?? null,
        payload: Buffer.from(payload).toString(encoding),
        encoding,
        at,
      } as const;
      this.#deps.emit({ type: 'data', data: { ...address, ...fallback } });
    }
    return delivered;
  }

  /** False when the receiver has no open channel. */
  #sendOverChannel(receiver: Participant, channel: DataChannelName, message: Uint8Array): boolean {
    const { transport } = receiver.subscriber;
    const outcome = transport?.sendData(channel, message) ?? 'closed';
    // Dropping a reliable message silently would break its promise: the receiver rebuilds its transport instead.
    if (outcome === 'full' && channel === 'reliable') {
      transport?.close();
      this.#deps.onOverflow(receiver);
    }
    return outcome !== 'closed';
  }
}
