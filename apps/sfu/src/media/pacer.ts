import { PathBudget } from './path-budget.ts';
import { type ExtensionTable, stampSendTime } from './template.ts';

/** `drain` is called as often. */
const TURN_MS = 20;
/** As browsers pace what they send. What is faster than a path waits in front of it in any case. */
const PACE = { share: 2.5, savedMs: TURN_MS };
const WAIT_MS_MAX = 200;
const WAITING_BYTES_MAX = 256 << 10;

interface WaitingPacket {
  readonly packet: Buffer;
  readonly table: ExtensionTable | undefined;
  readonly since: number;
}

/**
 * Bursts to one subscriber, spread over time: a key frame that comes all at once, what comes after a stall, many
 * repeats. What comes spread costs one comparison; only what waits is copied.
 */
export class Pacer {
  readonly #send: (packet: Buffer, table: ExtensionTable | undefined, now: number) => void;
  readonly #budget = new PathBudget(PACE);
  #waiting: WaitingPacket[] = [];
  #bytes = 0;
  /** Of all that wait, together. */
  #since = 0;

  constructor(send: (packet: Buffer, table: ExtensionTable | undefined, now: number) => void) {
    this.#send = send;
  }

  /** Call it whenever the estimate of the path has changed. */
  estimate(bitsPerSecond: number): void {
    this.#budget.estimate(bitsPerSecond);
  }

  /** A new transport: what waits was for the one before. */
  reset(): void {
    this.#waiting = [];
    this.#bytes = 0;
    this.#since = 0;
  }

  /** How long what is sent now will wait, about. */
  get delayMs(): number {
    return Math.min(WAIT_MS_MAX, this.#bytes * this.#budget.msPerByte);
  }

  /** The packet may be used again afterwards. */
  send(packet: Buffer, table: ExtensionTable | undefined, now: number): void {
    if (this.#bytes === 0 && this.#budget.take(packet.length, now)) this.#send(packet, table, now);
    else this.#wait(packet, table, now);
  }

  #wait(packet: Buffer, table: ExtensionTable | undefined, now: number): void {
    this.#waiting.push({ packet: Buffer.from(packet), table, since: now });
    this.#bytes += packet.length;
    this.#since += now;
    while (this.#bytes > WAITING_BYTES_MAX) this.#sendFirst(now);
  }

  #sendFirst(now: number): void {
    const first = this.#waiting.shift();
    if (!first) return;
    this.#bytes -= first.packet.length;
    this.#since -= first.since;
    stampSendTime(first.packet, now);
    this.#send(first.packet, first.table, now);
  }

  /** Every 20 ms: as much as the path may be given, and faster where all of it would not leave in time. */
  drain(now: number): void {
    if (this.#bytes === 0) return;
    const ageMs = now - this.#since / this.#waiting.length;
    const leftMs = Math.max(TURN_MS, WAIT_MS_MAX - ageMs);
    const msPerByteMax = leftMs / this.#bytes;
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      const isLate = now - first.since >= WAIT_MS_MAX;
      if (!this.#budget.take(first.packet.length, now, msPerByteMax) && !isLate) return;
      this.#sendFirst(now);
    }
  }
}
