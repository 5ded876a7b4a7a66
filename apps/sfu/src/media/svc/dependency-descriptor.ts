import { sequenceDistance } from '../rtp.ts';
import { BitReader } from './bits.ts';
import { DependencyStructure } from './dependency-structure.ts';

/** Start, end, template id and frame number: what every packet has. */
const MANDATORY_BYTES = 3;
const TEMPLATE_IDS = 64;
/** Five flags follow what every packet has. */
export const FLAGS_END = MANDATORY_BYTES * 8 + 5;
const FDIFFS_MAX = 32;

/** What one packet says of its frame (AV1 RTP specification, appendix A). */
export interface DependencyFrame {
  structure: DependencyStructure;
  frameNumber: number;
  isStart: boolean;
  isEnd: boolean;
  spatial: number;
  temporal: number;
  dtis: Uint8Array;
  fdiffs: readonly number[];
  chains: Uint8Array;
  /** The decode targets that the publisher sends now, a bit each. */
  active: number;
  /** The packet announces the structure. */
  hasStructure: boolean;
  /** Or which targets are active. */
  hasActive: boolean;
  /** Where in the packet's bits that is said, or would be, and where the descriptor ends; from its beginning. */
  activeAt: number;
  endAt: number;
}

const bits = new BitReader();

/** The descriptors of one stream: packets refer to the structure that its last key frame announced. */
export class DependencyReader {
  #structure: DependencyStructure | undefined;
  #active = 0;
  /** The newest frame that announced something: one repeated late does not bring back what was. */
  #announcedBy = -1;

  get structure(): DependencyStructure | undefined {
    return this.#structure;
  }

  /** Undefined when it is malformed, or of a structure that has not come. */
  read(bytes: Uint8Array, start: number, length: number): DependencyFrame | undefined {
    if (length < MANDATORY_BYTES) return undefined;
    bits.open(bytes, start, start + length);
    const isStart = bits.flag();
    const isEnd = bits.flag();
    const templateId = bits.read(6);
    const frameNumber = bits.read(16);
    const has = length > MANDATORY_BYTES ? readFlags() : NOTHING;
    const structure = has.structure ? DependencyStructure.read(bits) : this.#structure;
    if (!structure) return undefined;
    const activeAt = length > MANDATORY_BYTES ? bits.at - start * 8 : FLAGS_END;
    let active = has.structure ? structure.allTargets : this.#active;
    if (has.active) active = bits.read(structure.targetCount);
    const template = structure.templates[(templateId + TEMPLATE_IDS - structure.idOffset) % TEMPLATE_IDS];
    if (!template) return undefined;
    const frame: DependencyFrame = {
      structure,
      frameNumber,
      isStart,
      isEnd,
      spatial: template.spatial,
      temporal: template.temporal,
      dtis: has.dtis ? readMany(structure.targetCount, 2) : template.dtis,
      fdiffs: has.fdiffs ? readFdiffs() : template.fdiffs,
      chains: has.chains ? readMany(structure.chainCount, 8) : template.chains,
      active,
      hasStructure: has.structure,
      hasActive: has.active,
      activeAt,
      endAt: 0,
    };
    frame.endAt = Math.max(bits.at - start * 8, activeAt);
    if (bits.isOver) return undefined;
    if (has.structure || has.active) this.#adopt(frame);
    return frame;
  }

  #adopt({ structure, active, frameNumber }: DependencyFrame): void {
    if (this.#announcedBy >= 0 && sequenceDistance(this.#announcedBy, frameNumber) < 0) return;
    this.#announcedBy = frameNumber;
    this.#structure = structure;
    this.#active = active;
  }
}

interface Extended {
  structure: boolean;
  active: boolean;
  dtis: boolean;
  fdiffs: boolean;
  chains: boolean;
}

const NOTHING: Extended = { structure: false, active: false, dtis: false, fdiffs: false, chains: false };

const readFlags = (): Extended => ({
  structure: bits.flag(),
  active: bits.flag(),
  dtis: bits.flag(),
  fdiffs: bits.flag(),
  chains: bits.flag(),
});

function readMany(count: number, width: number): Uint8Array {
  const values = new Uint8Array(count);
  for (let at = 0; at < count; at += 1) values[at] = bits.read(width);
  return values;
}

/** Each is preceded by its width in groups of four bits; 0 ends them. */
function readFdiffs(): number[] {
  const fdiffs: number[] = [];
  for (let size = bits.read(2); size > 0 && fdiffs.length < FDIFFS_MAX; size = bits.read(2))
    fdiffs.push(bits.read(4 * size) + 1);
  return fdiffs;
}
