import { BitReader, BitWriter } from './bits.ts';
import { type DependencyFrame, FLAGS_END } from './dependency-descriptor.ts';

/** The flag that says that the active targets follow, among the five after the mandatory fields. */
const ACTIVE_FLAG_AT = FLAGS_END - 4;
const bits = new BitReader();

/** Copies a descriptor with these targets as the active ones; its length there. */
export function writeActiveTargets(
  from: Uint8Array,
  start: number,
  frame: DependencyFrame,
  mask: number,
  to: Uint8Array,
  at: number,
): number {
  const { structure, activeAt, endAt, hasActive } = frame;
  const writer = new BitWriter(to, at);
  // What is past its end reads as zeros: flags that a short descriptor does not have.
  bits.open(from, start, start + Math.ceil(Math.min(endAt, endOf(frame)) / 8));
  const copy = (until: number): void => {
    while (bits.at - start * 8 < until) writer.write(bits.read(1), 1);
  };
  copy(ACTIVE_FLAG_AT);
  bits.read(1);
  writer.write(1, 1);
  copy(activeAt);
  writer.write(mask, structure.targetCount);
  if (hasActive) bits.read(structure.targetCount);
  copy(endAt);
  return writer.finish();
}

/** A descriptor without extended fields ends before the flags. */
const endOf = ({ endAt, activeAt, hasStructure, hasActive }: DependencyFrame): number =>
  !hasStructure && !hasActive && endAt === activeAt && activeAt === FLAGS_END ? FLAGS_END - 5 : endAt;
