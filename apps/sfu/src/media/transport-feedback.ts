import { sequenceDistance } from './rtp.ts';

/**
 * Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01): which packets of a transport arrived,
 * and when. Packets of all its streams share one counter in a header extension; feedback covers a range of it.
 */
export interface TransportFeedback {
  /** Number of the first packet. */
  base: number;
  count: number;
  /** When packet `base + index` came, in ms of the receiver's clock; NaN when it did not. Valid until the next reading. */
  arrivals: Float64Array;
}

/** Times are in quarters of a millisecond, their base in units of 64 ms. */
const TICKS_A_MS = 4;
const REFERENCE_TICKS = 256;
const REFERENCE_BITS = 24;
const HEAD_BYTES = 20;

const LOST = 0;
const SMALL = 1;
const LARGE = 2;
const RUN_MAX = 0x1fff;
const ONE_BIT_SYMBOLS = 14;
const TWO_BIT_SYMBOLS = 7;

/** More packets in one feedback can only be an attack. */
const READ_MAX = 2048;
const symbols = new Uint8Array(READ_MAX + ONE_BIT_SYMBOLS);
const read: TransportFeedback = { base: 0, count: 0, arrivals: new Float64Array(READ_MAX) };

/** The feedback in a packet from `start` to `end`; undefined when it is malformed. */
export function readTransportFeedback(b: Buffer, start: number, end: number): TransportFeedback | undefined {
  if (end - start < HEAD_BYTES) return undefined;
  const count = b.readUInt16BE(start + 14);
  if (count === 0 || count > READ_MAX) return undefined;
  const deltasAt = readSymbols(b, start + HEAD_BYTES, end, count);
  if (deltasAt < 0) return undefined;
  const reference = b.readIntBE(start + 16, 3) * REFERENCE_TICKS;
  read.base = b.readUInt16BE(start + 12);
  read.count = count;
  return readArrivals(b, deltasAt, end, reference) ? read : undefined;
}

/** Fills `symbols`; where the chunks end, or -1. */
function readSymbols(b: Buffer, start: number, end: number, count: number): number {
  let at = start;
  for (let filled = 0; filled < count; at += 2) {
    if (at + 2 > end) return -1;
    const chunk = b.readUInt16BE(at);
    if ((chunk & 0x8000) === 0) {
      const run = Math.min(chunk & RUN_MAX, count - filled);
      if (run === 0) return -1;
      symbols.fill((chunk >> 13) & 3, filled, filled + run);
      filled += run;
    } else if ((chunk & 0x4000) === 0)
      for (let bit = ONE_BIT_SYMBOLS - 1; bit >= 0; bit -= 1) symbols[filled++] = (chunk >> bit) & 1;
    else for (let bit = 2 * TWO_BIT_SYMBOLS - 2; bit >= 0; bit -= 2) symbols[filled++] = (chunk >> bit) & 3;
  }
  return at;
}

function readArrivals(b: Buffer, start: number, end: number, reference: number): boolean {
  let at = start;
  let ticks = reference;
  for (let index = 0; index < read.count; index += 1) {
    const symbol = symbols[index] ?? LOST;
    if (symbol === LOST) {
      read.arrivals[index] = Number.NaN;
      continue;
    }
    if (symbol > LARGE || at + symbol > end) return false;
    ticks += symbol === SMALL ? (b[at] ?? 0) : b.readInt16BE(at);
    at += symbol;
    read.arrivals[index] = ticks / TICKS_A_MS;
  }
  return true;
}

/**
 * `ticks` are the arrivals of consecutive packets from number `base` on, NaN for one that did not come. At least one
 * came, and no two neighbours in time are further apart than a large delta can express.
 */
export function writeTransportFeedback(
  { senderSsrc, mediaSsrc, feedbackCount }: { senderSsrc: number; mediaSsrc: number; feedbackCount: number },
  base: number,
  ticks: readonly number[],
): Buffer {
  const first = ticks.find((tick) => !Number.isNaN(tick)) ?? 0;
  const reference = Math.floor(first / REFERENCE_TICKS);
  let last = reference * REFERENCE_TICKS;
  const deltas: number[] = [];
  const kinds = ticks.map((tick) => {
    if (Number.isNaN(tick)) return LOST;
    const delta = tick - last;
    last = tick;
    deltas.push(delta);
    return isSmall(delta) ? SMALL : LARGE;
  });
  const chunks = chunksOf(kinds);
  const used = HEAD_BYTES + chunks.length * 2 + deltas.reduce((sum, delta) => sum + (isSmall(delta) ? 1 : 2), 0);
  const packet = Buffer.alloc(Math.ceil(used / 4) * 4);
  const padding = packet.length - used;
  packet[0] = padding > 0 ? 0xaf : 0x8f;
  packet[1] = 205;
  packet.writeUInt16BE(packet.length / 4 - 1, 2);
  packet.writeUInt32BE(senderSsrc, 4);
  packet.writeUInt32BE(mediaSsrc, 8);
  packet.writeUInt16BE(base & 0xffff, 12);
  packet.writeUInt16BE(ticks.length, 14);
  packet.writeUIntBE(reference & (2 ** REFERENCE_BITS - 1), 16, 3);
  packet[19] = feedbackCount & 0xff;
  let at = HEAD_BYTES;
  for (const chunk of chunks) at = packet.writeUInt16BE(chunk, at);
  for (const delta of deltas) at = isSmall(delta) ? packet.writeUInt8(delta, at) : packet.writeInt16BE(delta, at);
  if (padding > 0) packet[packet.length - 1] = padding;
  return packet;
}

const isSmall = (delta: number): boolean => delta >= 0 && delta <= 0xff;

/** A run where it covers more packets than a vector, else one bit a packet where no delta is large, else two. */
function chunksOf(kinds: readonly number[]): number[] {
  const chunks: number[] = [];
  for (let at = 0; at < kinds.length; ) {
    const ahead = kinds.slice(at, at + ONE_BIT_SYMBOLS);
    const bits = ahead.includes(LARGE) ? 2 : 1;
    const capacity = bits === 1 ? ONE_BIT_SYMBOLS : TWO_BIT_SYMBOLS;
    const run = runLength(kinds, at);
    if (run >= Math.min(capacity, kinds.length - at)) {
      chunks.push(((kinds[at] ?? LOST) << 13) | run);
      at += run;
      continue;
    }
    const vector = ahead.slice(0, capacity);
    const packed = vector.reduce((sum, kind, index) => sum | (kind << (bits * (capacity - 1 - index))), 0);
    chunks.push(0x8000 | (bits === 2 ? 0x4000 : 0) | packed);
    at += vector.length;
  }
  return chunks;
}

function runLength(kinds: readonly number[], from: number): number {
  let at = from;
  while (at < kinds.length && kinds[at] === kinds[from] && at - from < RUN_MAX) at += 1;
  return at - from;
}

/** Packets in the log: the largest feedback about them fits a datagram. */
const LOG_PACKETS = 512;
const DELTA_MAX = 0x7fff;

/** Arrivals on a transport until they are reported to the sender. Numbers in here do not wrap. */
export class ArrivalLog {
  readonly #ticks = new Float64Array(LOG_PACKETS).fill(Number.NaN);
  #highest = -1;
  /** The first that was not reported yet. */
  #next = 0;
  #hasArrivals = false;
  #feedbackCount = -1;

  /** Whether anything with a transport-wide number came at all. */
  get hasHeard(): boolean {
    return this.#highest >= 0;
  }

  packet(sequence: number, now: number): void {
    if (!this.hasHeard) {
      this.#next = sequence + 0x10000;
      this.#highest = this.#next - 1;
    }
    const number = this.#highest + sequenceDistance(this.#highest & 0xffff, sequence);
    const isNew = number > this.#highest;
    if (isNew) this.#advance(number);
    else if (number <= this.#highest - LOG_PACKETS || !Number.isNaN(this.#ticks[number % LOG_PACKETS])) return;
    this.#ticks[number % LOG_PACKETS] = Math.round(now * TICKS_A_MS);
    this.#next = Math.min(this.#next, number);
    this.#hasArrivals = true;
  }

  #advance(number: number): void {
    const steps = Math.min(LOG_PACKETS, number - this.#highest);
    for (let step = 0; step < steps; step += 1) this.#ticks[(number - step) % LOG_PACKETS] = Number.NaN;
    this.#highest = number;
    this.#next = Math.max(this.#next, number - LOG_PACKETS + 1);
  }

  /** Feedback about what came since the last, in the name of one of the sender's streams; undefined without arrivals. */
  take(senderSsrc: number, mediaSsrc: number): Buffer | undefined {
    if (!this.#hasArrivals) return undefined;
    let base = this.#next;
    let last = Number.NaN;
    const ticks: number[] = [];
    for (let number = base; number <= this.#highest; number += 1) {
      const tick = this.#ticks[number % LOG_PACKETS] ?? Number.NaN;
      // Too far apart for one feedback: the newer ones matter.
      if (Math.abs(tick - last) > DELTA_MAX) {
        ticks.length = 0;
        base = number;
      }
      if (!Number.isNaN(tick)) last = tick;
      ticks.push(tick);
    }
    this.#next = this.#highest + 1;
    this.#hasArrivals = false;
    this.#feedbackCount += 1;
    return writeTransportFeedback({ senderSsrc, mediaSsrc, feedbackCount: this.#feedbackCount }, base, ticks);
  }
}
