/** The geometry of charts: where a value is drawn, and which one is at a place. */
export const [plotWidth, plotHeight] = [720, 160];

export type PlotKind = 'line' | 'bars';

/** A lone bar is still a bar. */
const barMax = 36;

/** Where a point of a line is; its ends are the ends of the plot. */
export const lineX = (index: number, total: number): number =>
  total <= 1 ? plotWidth / 2 : (index / (total - 1)) * plotWidth;

/** The left edge and width of a bar: each has an equal share of the plot, and stands in its middle. */
export function barSpan(index: number, total: number): { x: number; width: number } {
  const share = plotWidth / Math.max(1, total);
  const width = Math.min(share * 0.76, barMax);
  return { x: (index + 0.5) * share - width / 2, width };
}

export const valueY = (value: number, top: number): number => plotHeight - (Math.min(value, top) / top) * plotHeight;

/** Which point is at a place, 0 at the left end and 1 at the right: the share of a bar, the nearest of a line. */
export function pointAt(kind: PlotKind, place: number, total: number): number {
  const index = kind === 'bars' ? Math.floor(place * total) : Math.round(place * (total - 1));
  return Math.max(0, Math.min(total - 1, index));
}

const tops = [4, 6, 8, 10, 12, 16, 20, 24, 30] as const;

/** The top of a scale: a round number that half of is one too. Small counts stay small: one is a quarter of the plot. */
export function roundTop(value: number): number {
  let unit = 1;
  while ((tops.at(-1) ?? 0) * unit < value) unit *= 10;
  return (tops.find((top) => top * unit >= value) ?? 4) * unit;
}

/** Names with seconds are longer. */
const stepsMax = { short: 4, long: 3 } as const;

/** Points that are named on the axis of time, evenly apart, the last one among them. */
export function tickIndexes(total: number, names: keyof typeof stepsMax = 'short'): number[] {
  const step = Math.max(1, Math.ceil((total - 1) / stepsMax[names]));
  const indexes: number[] = [];
  for (let index = total - 1; index >= 0; index -= step) indexes.unshift(index);
  return indexes;
}

/** Whether points are so close that a clock without seconds would give several of them one name. */
export function needsSeconds(times: readonly string[]): boolean {
  const span = Date.parse(times.at(-1) ?? '') - Date.parse(times[0] ?? '');
  return span / (times.length - 1) < 60_000;
}

/** Where a point is on the axis of time, as a share of its width. */
export function tickPlace(kind: PlotKind, index: number, total: number): number {
  return kind === 'bars' ? (index + 0.5) / total : lineX(index, total) / plotWidth;
}
