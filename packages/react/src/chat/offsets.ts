import type { ListChange } from './list-change.ts';

/** A row and how far into it a scroll position is: it stays right while rows above it come, go or grow. */
export interface Anchor {
  readonly index: number;
  readonly into: number;
}

/** Where each row of a list begins. */
export interface Offsets {
  readonly count: number;
  /** The height of the whole list. */
  total(): number;
  heightOf(index: number): number;
  /** Where the row begins; that of `count` is the end of the list. */
  offsetOf(index: number): number;
  /** Says whether it is another height than before. */
  setHeight(index: number, height: number): boolean;
  /** The row at this position; the first or last one beyond the ends, -1 of an empty list. */
  indexAt(offset: number): number;
  anchorAt(offset: number): Anchor;
  /** The same after rows came and went; those that came are estimated. */
  changed(change: ListChange, estimate: number): Offsets;
}

/** A Fenwick tree: one measured height costs log n, not n. */
export function createOffsets(heights: Float64Array): Offsets {
  const count = heights.length;
  /** `sums[i]` is the sum of the `i & -i` heights that end at row `i - 1`. */
  const sums = new Float64Array(count + 1);
  const add = (at: number, step: number): void => {
    sums[at] = (sums[at] ?? 0) + step;
  };
  for (let at = 1; at <= count; at++) {
    add(at, heightOf(at - 1));
    const parent = at + (at & -at);
    if (parent <= count) add(parent, sums[at] ?? 0);
  }
  const highestStep = 2 ** Math.floor(Math.log2(count || 1));

  function heightOf(index: number): number {
    return heights[index] ?? 0;
  }

  function offsetOf(index: number): number {
    let sum = 0;
    for (let at = Math.min(index, count); at > 0; at -= at & -at) sum += sums[at] ?? 0;
    return sum;
  }

  function indexAt(offset: number): number {
    let index = 0;
    let left = Math.max(0, offset);
    for (let step = highestStep; step >= 1; step /= 2) {
      const sum = sums[index + step] ?? Number.POSITIVE_INFINITY;
      if (sum > left) continue;
      index += step;
      left -= sum;
    }
    return Math.min(index, count - 1);
  }

  return {
    count,
    total: () => offsetOf(count),
    heightOf,
    offsetOf,
    setHeight(index, height) {
      const step = height - heightOf(index);
      if (step === 0 || index < 0 || index >= count) return false;
      heights[index] = height;
      for (let at = index + 1; at <= count; at += at & -at) add(at, step);
      return true;
    },
    indexAt,
    anchorAt(offset) {
      const index = Math.max(0, indexAt(offset));
      return { index, into: offset - offsetOf(index) };
    },
    changed({ start, removed, added }, estimate) {
      const next = new Float64Array(count - removed + added).fill(estimate, start, start + added);
      next.set(heights.subarray(0, start));
      next.set(heights.subarray(start + removed), start + added);
      return createOffsets(next);
    },
  };
}
