import type { MediaCloseReason, MediaEvent } from '@parley/contract/media-control';
import {
  DATA_MESSAGE_BYTES_MAX,
  type DataChannelName,
  type DataFlowState,
  type DataHead,
  decodeData,
  encodeData,
  encodeDataFlow,
} from '@parley/media-description';
import type { MediaClock } from './clock.ts';
import { DataFlow } from './data-flow.ts';
import { MediaError } from './errors.ts';
import type { DataSender, OtherLegs } from './other-legs.ts';
import type { Participant } from './participant.ts';
import type { PeerTransport } from './peer-transport.ts';
import type { Missed } from './reliable-queue.ts';

/** Larger messages reach only open data channels, never a signaling socket. */
const FALLBACK_BYTES_MAX = 8192;
/** Who ended so did not leave: what was sent to them last did not arrive. */
const LOST: ReadonlySet<MediaCloseReason> = new Set(['CONNECTION_TIMEOUT', 'SIGNAL_CLOSED']);

interface DataRelayDeps {
  room: string;
  participants: ReadonlyMap<string, Participant>;
  legs: Pick<OtherLegs, 'sendData' | 'announceDataFlow'>;
  clock: MediaClock;
  emit(event: MediaEvent): void;
  /** A receiver did not get a message: it reads too slowly, has no channel that could take it, or a budget is spent. */
  onDropped(): void;
}

/** Data messages of a room: over data channels, and by signaling, on a small budget, to receivers without one. */
export class DataRelay {
  readonly #deps: DataRelayDeps;
  readonly #flow = new DataFlow((sender, state) => this.#announceFlow(sender, state));
  /** Receivers for whose next transport something waits. */
  readonly #reopening = new Set<Participant>();

  constructor(deps: DataRelayDeps) {
    this.#deps = deps;
  }

  /** A message that came over a data channel; what is not allowed is dropped. */
  onMessage(sender: Participant, channel: DataChannelName, bytes: Uint8Array): void {
    if (!sender.permissions.publishData || bytes.length > DATA_MESSAGE_BYTES_MAX) return;
    const now = this.#deps.clock.now();
    const isAllowed = sender.dataBudget.take(bytes.length, now);
    if (channel === 'reliable') {
      const until = sender.dataBudget.nearlySpentUntil(now);
      if (!isAllowed) this.#flow.missed(sender.id, now);
      // It goes on with the next second, not at once.
      if (until !== undefined) this.#flow.spent(sender.id, until);
    }
    if (!isAllowed) return;
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
    const here = this.deliver(sender, channel, head, payload);
    if (!sender) return here;
    const elsewhere = this.#deps.legs.sendData(sender, channel, head, payload);
    this.#onMissed(new Array(elsewhere.refused).fill(channel === 'reliable' ? sender.id : undefined));
    return here + elsewhere.sent;
  }

  /** Counted as dropped, and their senders are told; what is lossy, or of the server, has none. */
  #onMissed(senders: Missed): void {
    for (const sender of senders) {
      this.#deps.onDropped();
      if (sender !== undefined) this.#flow.missed(sender, this.#deps.clock.now());
    }
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
      const outcome = this.#sendTo(receiver, sender, channel, message);
      const falls = outcome === 'closed' && mayFallBack(receiver);
      if (falls) {
        const address = { room: this.#deps.room, participant: receiver.id };
        this.#deps.emit({ type: 'data', data: { ...address, ...fallback() } });
      }
      if (falls || outcome === 'sent' || outcome === 'slow') delivered += 1;
      else this.#onMissed([channel === 'reliable' ? sender?.id : undefined]);
    }
    return delivered;
  }

  /** A receiver that reads too slowly loses messages, reliable ones too, and keeps its transport and its media. */
  #sendTo(
    receiver: Participant,
    sender: DataSender | undefined,
    channel: DataChannelName,
    message: Uint8Array,
  ): ReturnType<PeerTransport['sendData']> {
    const { subscriber, reliable } = receiver;
    if (channel === 'lossy') return subscriber.transport?.sendData(channel, message) ?? 'closed';
    const now = this.#deps.clock.now();
    const outcome = reliable.send(message, sender?.id, now);
    if (reliable.isWaiting) this.#reopening.add(receiver);
    if (sender && outcome === 'slow') this.#flow.queued(sender.id, reliable, now);
    return outcome;
  }

  /** The receiver gets another transport. `received`: how many reliable messages it had of this one, where it says so. */
  replaced(receiver: Participant, received: number | undefined): void {
    this.#onMissed(receiver.reliable.replace(received, this.#deps.clock.now()));
    this.#reopening.add(receiver);
  }

  /** From another process, where receivers of one of ours are. */
  onFlow(sender: string, process: string, state: DataFlowState): void {
    this.#flow.told(sender, process, state, this.#deps.clock.now());
  }

  /** To a sender in this process or in another one. */
  #announceFlow(sender: string, state: DataFlowState): void {
    const here = this.#deps.participants.get(sender);
    // Urgent: it waits for this, and may be a slow reader itself.
    if (here) here.subscriber.transport?.sendData('reliable', encodeDataFlow(state), true);
    else this.#deps.legs.announceDataFlow(sender, state);
  }

  /** Call it while the participant still has its transport. */
  forget({ id, subscriber, reliable }: Participant, reason: MediaCloseReason): void {
    const { transport } = subscriber;
    const isCut = transport?.state === 'DISCONNECTED' || transport?.state === 'FAILED';
    const isLost = isCut || LOST.has(reason) || (transport?.queuedData('reliable') ?? 0) > 0;
    this.#onMissed(reliable.close(isLost, this.#deps.clock.now()));
    this.#flow.forget(id);
  }

  /** Every 20 ms. */
  tick(now: number): void {
    for (const receiver of this.#reopening) {
      this.#onMissed(receiver.reliable.flush(now));
      if (!receiver.reliable.isWaiting) this.#reopening.delete(receiver);
    }
    this.#flow.tick(now);
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
