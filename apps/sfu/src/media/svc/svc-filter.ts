import { sequenceDistance } from '../rtp.ts';
import { SkippedNumbers } from '../skipped-numbers.ts';
import { EVERY_FRAME, type TemporalPlace } from '../temporal.ts';
import type { DependencyFrame } from './dependency-descriptor.ts';
import { type DependencyStructure, DTI } from './dependency-structure.ts';
import { EVERY_LAYER, PADDING, type SvcPlace } from './svc-place.ts';

const SEQUENCE_BITS = 16;
/** Frames that are remembered as sent; references reach a few pictures back. */
const SENT_FRAMES = 256;
/** More than a picture has: a frame is told by its time and its layer. */
const LAYERS = EVERY_LAYER + 1;

/** What the filter needs of a packet. */
export interface SvcPacket {
  readonly sequence: number;
  readonly timestamp: number;
  readonly startsKeyFrame: boolean;
  readonly temporal: Readonly<TemporalPlace>;
  readonly saysTemporal: boolean;
}

/** Picks the packets of one spatial and temporal layer out of a stream that carries them all. */
export class SvcFilter {
  /** Highest layers wanted. */
  spatialLimit = 0;
  temporalLimit = EVERY_FRAME;
  /** What is not of the wanted layers is dropped at once, even if the picture stands still until the next key frame. */
  isCut = false;
  /** Nothing of the layers that went out goes out any more: only a key frame lets the wanted ones in. */
  isStranded = false;
  /** The last packet came late and is of no frame that goes out: all that is wanted of it is its number. */
  isStray = false;
  #spatial = 0;
  #temporal = EVERY_FRAME;
  /** The wanted layers go out, as far as the publisher sends them. */
  #isSettled = true;
  #structure: DependencyStructure | undefined;
  #target = 0;
  /** Frame numbers by their lowest bits. */
  readonly #sent = new Int32Array(SENT_FRAMES).fill(-1);
  #newest = 0;
  /** Of the frame that the newest packet belongs to. */
  #frame = -1;
  #isTaken = false;
  #dropped = new SkippedNumbers(SEQUENCE_BITS);
  /** The active targets as the receiver was told. */
  #said = 0;

  /** The subscriber's stream begins with this key frame. */
  start({ sequence, timestamp }: SvcPacket, { frame, spatial }: SvcPlace): void {
    this.#dropped = new SkippedNumbers(SEQUENCE_BITS);
    this.#sent.fill(-1);
    this.#newest = sequence;
    this.#frame = frame?.frameNumber ?? timestamp * LAYERS + spatial;
    this.isCut = false;
    this.isStranded = false;
    this.isStray = false;
    this.#spatial = this.spatialLimit;
    this.#temporal = this.temporalLimit;
    this.#structure = undefined;
    this.#isTaken = true;
    if (frame) this.#takesFrame(frame);
    this.#isSettled = true;
  }

  /** Highest spatial layer that goes out now. */
  get spatial(): number {
    return this.#spatial;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** The decode target that goes out; undefined where the stream has none. */
  get target(): number | undefined {
    return this.#structure && this.#target;
  }

  /**
   * The targets that this packet is to call active, because the receiver would wait for others; undefined where what it
   * says already is right. Asked once for each packet that goes out.
   */
  takeActive({ frame }: SvcPlace): number | undefined {
    if (!frame || frame.structure !== this.#structure) return undefined;
    if (frame.hasStructure || frame.hasActive) this.#said = frame.active;
    const mask = frame.structure.maskOf(this.#target, frame.active);
    if (mask === this.#said || !frame.isStart) return undefined;
    this.#said = mask;
    return mask;
  }

  /** False for a packet that is dropped; the next one then takes its number. */
  takes(packet: SvcPacket, place: SvcPlace): boolean {
    const { sequence } = packet;
    // A late packet fills a gap that the subscriber has seen already.
    const isLate = sequenceDistance(this.#newest, sequence) <= 0;
    this.isStray = isLate && !this.#isOfWhatIsSent(packet, place);
    if (isLate) return true;
    this.#newest = sequence;
    if (place.spatial === PADDING) return true;
    const frame = place.frame?.frameNumber ?? packet.timestamp * LAYERS + place.spatial;
    if (place.isBare) this.#leaveOut(frame, place);
    else if (frame !== this.#frame) {
      this.#frame = frame;
      this.#isTaken = place.frame ? this.#takesFrame(place.frame) : this.#takesPlain(packet, place);
    }
    if (!this.#isTaken) this.#dropped.add(sequence);
    return this.#isTaken;
  }

  /** Nothing builds on a frame of which something did not come: what goes out ends below it, where that was sent. */
  #leaveOut(id: number, { frame }: SvcPlace): void {
    this.#frame = id;
    this.#isTaken = false;
    if (!frame) return;
    const { structure, frameNumber, spatial, active } = frame;
    this.#sent[frameNumber % SENT_FRAMES] = -1;
    if (spatial === 0 || spatial > this.#spatial || structure !== this.#structure) return;
    const below = structure.targetFor(spatial - 1, this.#temporal, active);
    if (!this.#isIntact(frame, below)) return;
    this.#target = below;
    this.#isSettled = false;
    this.#spatial = structure.spatialOf(below);
  }

  #isOfWhatIsSent({ temporal, saysTemporal }: SvcPacket, { spatial, frame }: SvcPlace): boolean {
    if (!frame) return spatial <= this.#spatial && (!saysTemporal || temporal.layer <= this.#temporal);
    if (this.#wasSent(frame.frameNumber)) return true;
    const { structure, active, dtis } = frame;
    // The beginning of a key frame announces it: what came before that knew only the one from before.
    const isSame = structure === this.#structure;
    const target = isSame ? this.#target : structure.targetFor(this.#spatial, this.#temporal, active);
    return !this.isCut && isPresent(dtis, target);
  }

  /** How many packets before this sequence number were dropped. */
  droppedBefore(sequence: number): number {
    return this.#dropped.before(sequence);
  }

  /** Lower layers at once where their frames were sent all along, otherwise from a frame that lets a decoder in. */
  #takesFrame(frame: DependencyFrame): boolean {
    const { structure, frameNumber, dtis, active } = frame;
    if (structure !== this.#structure) {
      this.#structure = structure;
      this.#target = structure.targetFor(this.#spatial, this.#temporal, active);
    }
    const wanted = structure.targetFor(this.spatialLimit, this.temporalLimit, active);
    if (wanted !== this.#target) this.#advance(frame, wanted);
    this.#isSettled = wanted === this.#target;
    if (this.#isSettled) this.isCut = false;
    this.isStranded = !this.#isSettled && (this.isCut || !structure.isActive(this.#target, active));
    this.#spatial = structure.spatialOf(this.#target);
    this.#temporal = structure.temporalOf(this.#target);
    const isTaken = isPresent(dtis, this.#target) && (!this.isCut || isPresent(dtis, wanted));
    if (isTaken) this.#sent[frameNumber % SENT_FRAMES] = frameNumber;
    return isTaken;
  }

  #advance(frame: DependencyFrame, wanted: number): void {
    const { structure, dtis, active } = frame;
    if (dtis[wanted] === DTI.SWITCH && this.#isDecodable(frame)) {
      this.#target = wanted;
      return;
    }
    const spatial = Math.min(structure.spatialOf(wanted), structure.spatialOf(this.#target));
    const temporal = Math.min(structure.temporalOf(wanted), structure.temporalOf(this.#target));
    const lower = structure.targetFor(spatial, temporal, active);
    if (this.#isIntact(frame, lower)) this.#target = lower;
  }

  #isDecodable = ({ frameNumber, fdiffs }: DependencyFrame): boolean =>
    fdiffs.every((fdiff) => this.#wasSent(frameNumber - fdiff));

  /** All that a decoder needs to go on with this target was sent. */
  #isIntact({ structure, frameNumber, chains }: DependencyFrame, target: number): boolean {
    const distance = chains[structure.protectedBy[target] ?? 0];
    return distance !== undefined && (distance === 0 || this.#wasSent(frameNumber - distance));
  }

  #wasSent = (frameNumber: number): boolean =>
    this.#sent[(frameNumber & 0xffff) % SENT_FRAMES] === (frameNumber & 0xffff);

  /** By what the payload says: all spatial layers up to the wanted one, more of them from a key frame. */
  #takesPlain({ startsKeyFrame, temporal }: SvcPacket, { spatial }: SvcPlace): boolean {
    if (startsKeyFrame || this.spatialLimit < this.#spatial) this.#spatial = this.spatialLimit;
    if (startsKeyFrame || this.temporalLimit < this.#temporal) this.#temporal = this.temporalLimit;
    const isTaken = spatial <= this.#spatial && temporal.layer <= this.#temporal;
    if (isTaken && temporal.opensHigher) this.#temporal = this.temporalLimit;
    this.#isSettled = this.#spatial === this.spatialLimit;
    this.isCut = false;
    this.isStranded = false;
    return isTaken;
  }
}

const isPresent = (dtis: Uint8Array, target: number): boolean => dtis[target] !== DTI.NOT_PRESENT;
