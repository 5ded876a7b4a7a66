import type { BitReader } from './bits.ts';

/** What a frame is to a decode target (AV1 RTP specification, appendix A). */
export const DTI = { NOT_PRESENT: 0, DISCARDABLE: 1, SWITCH: 2, REQUIRED: 3 } as const;

const NEXT = { TEMPORAL: 1, SPATIAL: 2, END: 3 } as const;
const TEMPLATES_MAX = 64;
const SPATIAL_MAX = 3;
const TEMPORAL_MAX = 7;
const NO_TARGET = -1;

/** How frames of a template depend on others. */
export interface FrameTemplate {
  spatial: number;
  temporal: number;
  /** One of `DTI` for each decode target. */
  dtis: Uint8Array;
  /** Distances to the frames it refers to. */
  fdiffs: number[];
  /** Distance to the frame before it in each chain; 0 when the chain begins here. */
  chains: Uint8Array;
}

/** The layers of a stream, as a key frame announces them: what later frames only refer to. */
export class DependencyStructure {
  readonly idOffset: number;
  readonly targetCount: number;
  readonly chainCount: number;
  readonly templates: readonly FrameTemplate[];
  /** The chain that protects each decode target. */
  readonly protectedBy: Uint8Array;
  /** Size of each spatial layer, lowest first; empty when it was not said. */
  readonly sizes: readonly { width: number; height: number }[];
  readonly spatialLayers: number;
  readonly #targets: { spatial: number; temporal: number }[] = [];

  /** Undefined when it is malformed. */
  static read(bits: BitReader): DependencyStructure | undefined {
    const structure = new DependencyStructure(bits);
    return bits.isOver || structure.templates.length === 0 ? undefined : structure;
  }

  private constructor(bits: BitReader) {
    this.idOffset = bits.read(6);
    this.targetCount = bits.read(5) + 1;
    const templates = readLayers(bits, this.targetCount);
    for (const { dtis } of templates) for (let at = 0; at < dtis.length; at += 1) dtis[at] = bits.read(2);
    for (const { fdiffs } of templates) while (!bits.isOver && bits.flag()) fdiffs.push(bits.read(4) + 1);
    this.protectedBy = new Uint8Array(this.targetCount);
    this.chainCount = bits.below(this.targetCount + 1);
    if (this.chainCount > 0) this.#readChains(bits, templates);
    this.templates = templates;
    this.spatialLayers = 1 + Math.max(0, ...templates.map(({ spatial }) => spatial));
    for (let target = 0; target < this.targetCount; target += 1) this.#targets.push(reachOf(templates, target));
    const hasSizes = bits.flag();
    this.sizes = hasSizes ? Array.from({ length: this.spatialLayers }, () => readSize(bits)) : [];
  }

  #readChains(bits: BitReader, templates: readonly FrameTemplate[]): void {
    for (let at = 0; at < this.targetCount; at += 1) this.protectedBy[at] = bits.below(this.chainCount);
    for (const template of templates) {
      template.chains = new Uint8Array(this.chainCount);
      for (let at = 0; at < this.chainCount; at += 1) template.chains[at] = bits.read(4);
    }
  }

  spatialOf(target: number): number {
    return this.#targets[target]?.spatial ?? 0;
  }

  temporalOf(target: number): number {
    return this.#targets[target]?.temporal ?? 0;
  }

  /** The best target within these layers among the active ones; without any the lowest that is active. */
  targetFor(spatial: number, temporal: number, active: number): number {
    let best = NO_TARGET;
    let lowest = NO_TARGET;
    for (let target = 0; target < this.targetCount; target += 1) {
      if (!isIn(active, target)) continue;
      if (lowest === NO_TARGET || this.#isAbove(lowest, target)) lowest = target;
      const isWithin = this.spatialOf(target) <= spatial && this.temporalOf(target) <= temporal;
      if (isWithin && (best === NO_TARGET || this.#isAbove(target, best))) best = target;
    }
    return best === NO_TARGET ? Math.max(0, lowest) : best;
  }

  #isAbove(target: number, other: number): boolean {
    const more = this.spatialOf(target) - this.spatialOf(other);
    return more > 0 || (more === 0 && this.temporalOf(target) > this.temporalOf(other));
  }

  /** The active targets that remain for who gets this one. */
  maskOf(target: number, active: number): number {
    let mask = 0;
    for (let at = 0; at < this.targetCount; at += 1) {
      const isWithin = this.spatialOf(at) <= this.spatialOf(target) && this.temporalOf(at) <= this.temporalOf(target);
      if (isWithin && isIn(active, at)) mask += 2 ** at;
    }
    return mask;
  }

  isActive(target: number, active: number): boolean {
    return isIn(active, target);
  }

  get allTargets(): number {
    return 2 ** this.targetCount - 1;
  }
}

/** There may be 32 targets, more than the bit operators have without a sign. */
const isIn = (mask: number, target: number): boolean => Math.floor(mask / 2 ** target) % 2 === 1;

function readLayers(bits: BitReader, targetCount: number): FrameTemplate[] {
  const templates: FrameTemplate[] = [];
  let spatial = 0;
  let temporal = 0;
  while (templates.length < TEMPLATES_MAX && spatial <= SPATIAL_MAX && temporal <= TEMPORAL_MAX && !bits.isOver) {
    templates.push({ spatial, temporal, dtis: new Uint8Array(targetCount), fdiffs: [], chains: new Uint8Array() });
    const next = bits.read(2);
    if (next === NEXT.END) return templates;
    if (next === NEXT.TEMPORAL) temporal += 1;
    else if (next === NEXT.SPATIAL) {
      spatial += 1;
      temporal = 0;
    }
  }
  // More than there can be: what follows means nothing.
  return [];
}

const readSize = (bits: BitReader) => ({ width: bits.read(16) + 1, height: bits.read(16) + 1 });

/** The highest layers that belong to a decode target. */
function reachOf(templates: readonly FrameTemplate[], target: number): { spatial: number; temporal: number } {
  const reach = { spatial: 0, temporal: 0 };
  for (const { spatial, temporal, dtis } of templates) {
    if (dtis[target] === DTI.NOT_PRESENT) continue;
    reach.spatial = Math.max(reach.spatial, spatial);
    reach.temporal = Math.max(reach.temporal, temporal);
  }
  return reach;
}
