import type { ForwardedTrack } from './subscription.ts';

const HISTORY = 1024;
/** The same packet is not repeated twice within this time, however often it is asked for. */
const RESEND_MS_MIN = 30;

/** Words of a slot: numbers out and in, time stamp, place (layer, picture id, TL0), and when it was last repeated. */
const SLOT_WORDS = 4;
const NUMBERS = 0;
const NUMBER_BITS = 16;
const TIMESTAMP = 1;
const PLACE = 2;
const RESENT_AT = 3;
const LAYER_SHIFT = 24;
const PICTURE_SHIFT = 8;

/**
 * What was sent under which number: one slot a packet, overwritten in turn. All of a slot lies together, four of them in
 * a cache line: with many subscribers every line touched is one fetched from memory.
 */
export class SentHistory {
  readonly #words = new Uint32Array(HISTORY * SLOT_WORDS);

  put(out: number, sequence: number, layer: number, timestamp: number, pictureId: number, tl0: number): void {
    const words = this.#words;
    const slot = slotOf(out);
    words[slot + NUMBERS] = (out << NUMBER_BITS) | sequence;
    words[slot + TIMESTAMP] = timestamp;
    // One more than the layer: a slot of zeros holds nothing.
    words[slot + PLACE] = ((layer + 1) << LAYER_SHIFT) | (pictureId << PICTURE_SHIFT) | tl0;
    words[slot + RESENT_AT] = 0;
  }

  clear(): void {
    this.#words.fill(0);
  }

  /** Slot of a packet that may be repeated now, or -1. */
  find(out: number, now: number): number {
    const slot = slotOf(out);
    if (this.#word(slot, NUMBERS) >>> NUMBER_BITS !== out || this.#word(slot, PLACE) === 0) return -1;
    // Whole milliseconds on a circle of 32 bits, which a process may outlive.
    const at = Math.ceil(now);
    const resentAt = this.#word(slot, RESENT_AT);
    if (resentAt !== 0 && (at - resentAt) >>> 0 <= RESEND_MS_MIN) return -1;
    this.#words[slot + RESENT_AT] = at >>> 0 || 1;
    return slot;
  }

  #word = (slot: number, word: number): number => this.#words[slot + word] ?? 0;

  packetOf = (slot: number, track: Pick<ForwardedTrack, 'cacheOf'>): Buffer | undefined =>
    track.cacheOf((this.#word(slot, PLACE) >>> LAYER_SHIFT) - 1)?.get(this.#word(slot, NUMBERS) & 0xffff);
  timestamp = (slot: number): number => this.#word(slot, TIMESTAMP);
  pictureId = (slot: number): number => (this.#word(slot, PLACE) >>> PICTURE_SHIFT) & 0x7fff;
  tl0 = (slot: number): number => this.#word(slot, PLACE) & 0xff;
}

const slotOf = (out: number): number => (out & (HISTORY - 1)) * SLOT_WORDS;
