import type { Offsets } from './offsets.ts';

export interface View {
  /** Scroll position. */
  readonly top: number;
  readonly height: number;
}

export interface Range {
  readonly first: number;
  /** Included; smaller than `first` when the list is empty. */
  readonly last: number;
}

export type Align = 'start' | 'center' | 'nearest';

/** The rows to draw: those in view and so many pixels around them. */
export function rangeOf(offsets: Offsets, { top, height }: View, around: number): Range {
  return { first: Math.max(0, offsets.indexAt(top - around)), last: offsets.indexAt(top + height + around) };
}

/** The furthest scroll position. */
export const endOf = (offsets: Offsets, height: number): number => Math.max(0, offsets.total() - height);

/** The scroll position that shows a row. */
export function topFor(offsets: Offsets, index: number, { top, height }: View, align: Align): number {
  const start = offsets.offsetOf(index);
  const end = start + offsets.heightOf(index);
  const tops: Readonly<Record<Align, number>> = {
    start,
    center: (start + end - height) / 2,
    nearest: start < top ? start : end > top + height ? Math.min(start, end - height) : top,
  };
  return Math.min(Math.max(0, tops[align]), endOf(offsets, height));
}
