import { type PeerTransport, QUEUED_BYTES_DRAINED, QUEUED_BYTES_SLOW } from './peer-transport.ts';

/** ICE gives up a path within 30 s, and the room its participant 30 s later: nothing sent before is still missed. */
const KEPT_MS = 60_000;
const KEPT_BYTES_MAX = 1 << 20;
/** A message costs memory without a payload too. */
const OVERHEAD_BYTES = 128;
/** So long the next transport may take to open, and to take what waits. */
const REOPEN_MS_MAX = 15_000;

type Transport = Pick<PeerTransport, 'sendData' | 'queuedData' | 'isDataOpen'>;
type Outcome = ReturnType<PeerTransport['sendData']>;

/** Who sent what was not delivered, or maybe not; undefined for the server. */
export type Missed = readonly (string | undefined)[];

interface Message {
  bytes: Uint8Array;
  sender: string | undefined;
  at: number;
}

/** The first message of a transport has the number 1. */
interface SentMessage extends Message {
  number: number;
}

/**
 * The reliable channel to one receiver. SCTP does not say what has arrived, and its queue goes with its transport: so the
 * last messages are kept, and a client that asks for another transport says how many it had of this one. The others are
 * sent again on the next, in their order and before what came meanwhile.
 */
export class ReliableQueue {
  readonly #transport: () => Transport | undefined;
  readonly #sent = new Messages<SentMessage>();
  #lastNumber = 0;
  /** Sent, but there was no place to keep them: sender → the last one, oldest first. */
  readonly #forgotten = new Map<string | undefined, Pick<SentMessage, 'number' | 'at'>>();
  /** For the next transport. */
  readonly #waiting = new Messages<Message>();
  #waitsUntil = 0;
  /** So long the transport in place of one that carried something is awaited, also when nothing waits for it. */
  #reopensUntil = Number.NEGATIVE_INFINITY;
  /** Nothing waits any more for the next transport, which did not come. */
  #hasGivenUp = false;
  #isClosed = false;

  constructor(transport: () => Transport | undefined) {
    this.#transport = transport;
  }

  get isWaiting(): boolean {
    return this.#waiting.first !== undefined;
  }

  /** Whether little of it waits for the reader, or nothing ever will. */
  get isDrained(): boolean {
    if (this.#isClosed) return true;
    // What was in a channel that is gone waits for another transport, or is missed.
    if (this.#sent.first && !this.#isOpen) return false;
    return this.#waiting.bytes + (this.#transport()?.queuedData('reliable') ?? 0) <= QUEUED_BYTES_DRAINED;
  }

  send(bytes: Uint8Array, sender: string | undefined, now: number): Outcome {
    const message = { bytes, sender, at: now };
    if (!this.isWaiting) {
      const outcome = this.#sendNow(message);
      if (outcome !== 'closed' || !this.#isBroken(now)) return outcome;
      this.#waitsUntil = this.#lastNumber > 0 ? now + REOPEN_MS_MAX : this.#reopensUntil;
    }
    if (this.#waiting.bytes + sizeOf(message) > KEPT_BYTES_MAX) return 'full';
    this.#waiting.add(message);
    return this.#waiting.bytes > QUEUED_BYTES_SLOW ? 'slow' : 'sent';
  }

  /** A channel that carried something is gone: with the network, as a rule, so that signaling would not arrive either. */
  #isBroken(now: number): boolean {
    return (this.#lastNumber > 0 || now < this.#reopensUntil) && !this.#hasGivenUp && !this.#isOpen;
  }

  get #isOpen(): boolean {
    return this.#transport()?.isDataOpen('reliable') ?? false;
  }

  #sendNow(message: Message): Outcome {
    const outcome = this.#transport()?.sendData('reliable', message.bytes) ?? 'closed';
    if (outcome === 'closed' || outcome === 'full') return outcome;
    this.#lastNumber += 1;
    this.#sent.add({ ...message, number: this.#lastNumber });
    while (this.#sent.bytes > KEPT_BYTES_MAX) this.#forget(this.#sent.take());
    return outcome;
  }

  #forget(message: SentMessage | undefined): void {
    if (!message) return;
    const { sender, number, at } = message;
    this.#forgotten.delete(sender);
    this.#forgotten.set(sender, { number, at });
  }

  /** Gives up what has arrived by now; call it now and then. */
  expire(now: number): void {
    while (this.#sent.first && now - this.#sent.first.at > KEPT_MS) this.#sent.take();
    for (const [sender, { at }] of this.#forgotten) {
      if (now - at <= KEPT_MS) break;
      this.#forgotten.delete(sender);
    }
  }

  /** Another transport takes the place of this one, of which the client `received` so many messages, where it says so. */
  replace(received: number | undefined, now: number): Missed {
    this.expire(now);
    const missed = new Set(this.#forgottenAfter(received ?? 0));
    const unread = this.#sent.takeAll().filter(({ number }) => number > (received ?? 0));
    if (received === undefined) {
      // Sent again unasked, they might come twice.
      for (const { sender } of unread) missed.add(sender);
    } else {
      const later = this.#waiting.takeAll();
      for (const message of [...unread, ...later]) this.#waiting.add(message);
    }
    this.#forgotten.clear();
    this.#waitsUntil = now + REOPEN_MS_MAX;
    if (this.#lastNumber > 0) this.#reopensUntil = this.#waitsUntil;
    this.#lastNumber = 0;
    this.#hasGivenUp = false;
    return [...missed];
  }

  #forgottenAfter = (last: number): (string | undefined)[] =>
    [...this.#forgotten].flatMap(([sender, { number }]) => (number > last ? [sender] : []));

  /** Sends what waits, as soon as the transport takes it; gives it up when it does not. */
  flush(now: number): Missed {
    const missed: (string | undefined)[] = [];
    for (let next = this.#waiting.first; next; next = this.#waiting.first) {
      const outcome = this.#sendNow({ ...next, at: now });
      if (outcome === 'full' || (outcome === 'closed' && !this.#isOpen)) break;
      // Too large for the client.
      if (outcome === 'closed') missed.push(next.sender);
      this.#waiting.take();
      this.#waitsUntil = now + REOPEN_MS_MAX;
    }
    if (!this.isWaiting || now < this.#waitsUntil) return missed;
    this.#hasGivenUp = true;
    return [...missed, ...this.#waiting.takeAll().map(({ sender }) => sender)];
  }

  /** The receiver is gone. `isLost`: so is what was on its way, for all that is known. */
  close(isLost: boolean, now: number): Missed {
    this.expire(now);
    this.#isClosed = true;
    const missed = this.#waiting.takeAll().map(({ sender }) => sender);
    const unsure = new Set(
      isLost ? [...this.#forgotten.keys(), ...this.#sent.takeAll().map(({ sender }) => sender)] : [],
    );
    return [...missed, ...unsure];
  }
}

/** First in, first out, with what they cost. */
class Messages<T extends Message> {
  #all: T[] = [];
  bytes = 0;

  get first(): T | undefined {
    return this.#all[0];
  }

  add(message: T): void {
    this.#all.push(message);
    this.bytes += sizeOf(message);
  }

  take(): T | undefined {
    const first = this.#all.shift();
    if (first) this.bytes -= sizeOf(first);
    return first;
  }

  takeAll(): T[] {
    this.bytes = 0;
    return this.#all.splice(0);
  }
}

const sizeOf = ({ bytes }: Message): number => bytes.length + OVERHEAD_BYTES;
