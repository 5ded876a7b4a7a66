import type { ForwardedPacket } from './forwarded-packet.ts';
import type { Vp8Descriptor } from './payload.ts';
import { sequenceDistance, timestampDistance } from './rtp.ts';
import { SkippedNumbers } from './skipped-numbers.ts';
import { EVERY_FRAME, type TemporalPlace } from './temporal.ts';

const SEQUENCE_BITS = 16;
/** Of the video clock: nothing is repeated after so long, and times run in a circle. */
const LATE_MAX = 10 * 90_000;

/** Drops the frames above a temporal layer, for a subscriber that wants fewer of them. */
export class TemporalFilter {
  /** Highest temporal layer wanted. */
  limit: number;
  /** The last packet came late and is of a frame that was dropped: all that is wanted of it is its number. */
  isStray = false;
  /** Highest temporal layer that goes out now: it rises only where the stream allows it. */
  #current = EVERY_FRAME;
  /** What went out before the frame with which that changed last. */
  #before = EVERY_FRAME;
  #changedAt: number;
  /** Newest packet and its frame, as the publisher numbers them, and whether that frame is dropped. */
  #newest: number;
  #frame: number;
  #isFrameDropped = false;
  #droppedSequences = new SkippedNumbers(SEQUENCE_BITS);
  #droppedPictures: SkippedNumbers | undefined;

  /** `newest` was forwarded before: the rest of its frame is too. */
  constructor(limit: number, newest: { sequence: number; timestamp: number }) {
    this.limit = limit;
    this.#newest = newest.sequence;
    this.#frame = newest.timestamp;
    this.#changedAt = newest.timestamp;
  }

  /** Another simulcast layer starts with this key frame. */
  restart({ sequence, timestamp }: ForwardedPacket): void {
    this.#droppedSequences = new SkippedNumbers(SEQUENCE_BITS);
    this.#droppedPictures = undefined;
    this.#current = this.limit;
    this.#before = this.limit;
    this.#newest = sequence;
    this.#frame = timestamp;
    this.#isFrameDropped = false;
    this.isStray = false;
  }

  /** Whether the packet is of a dropped frame; the next packet then takes its numbers. */
  drops({ sequence, timestamp, vp8, temporal, saysTemporal, startsKeyFrame }: ForwardedPacket): boolean {
    // A late packet fills a gap that the subscriber has seen already.
    const isLate = sequenceDistance(this.#newest, sequence) <= 0;
    this.isStray = isLate && ((saysTemporal && temporal.layer > this.#limitAt(timestamp)) || this.#wasDropped(vp8));
    if (isLate) return false;
    this.#newest = sequence;
    if (timestamp !== this.#frame) {
      this.#frame = timestamp;
      const before = this.#current;
      this.#isFrameDropped = !this.#takesFrame(temporal, startsKeyFrame);
      if (this.#current !== before) {
        this.#before = before;
        this.#changedAt = timestamp;
      }
    }
    if (!this.#isFrameDropped) return false;
    this.#droppedSequences.add(sequence);
    if (vp8 && vp8.pictureIdAt > 0) this.#dropPicture(vp8);
    return true;
  }

  /** The highest layer that went out when a frame that comes late was due. */
  #limitAt(timestamp: number): number {
    const ago = timestampDistance(timestamp, this.#changedAt);
    return ago > 0 && ago < LATE_MAX ? this.#before : this.#current;
  }

  #wasDropped = (vp8: Vp8Descriptor | undefined): boolean =>
    vp8 !== undefined && vp8.pictureIdAt > 0 && this.#droppedPictures?.has(vp8.pictureId) === true;

  #dropPicture({ pictureId, pictureIdBits }: Vp8Descriptor): void {
    this.#droppedPictures ??= new SkippedNumbers(pictureIdBits);
    if (pictureId !== this.#droppedPictures.last) this.#droppedPictures.add(pictureId);
  }

  /** Fewer frames at any time; more of them only from where they refer to nothing that was dropped. */
  #takesFrame({ layer, startsLayer, opensHigher }: TemporalPlace, isKeyFrame: boolean): boolean {
    if (this.limit < this.#current || isKeyFrame) this.#current = this.limit;
    else if (startsLayer && layer > this.#current && layer <= this.limit) this.#current = layer;
    const isTaken = layer <= this.#current;
    if (isTaken && opensHigher) this.#current = this.limit;
    return isTaken;
  }

  /** How many packets before this sequence number were dropped. */
  sequencesBefore = (sequence: number): number => this.#droppedSequences.before(sequence);

  picturesBefore = (pictureId: number): number => this.#droppedPictures?.before(pictureId) ?? 0;
}
