/** One line of the table that `npm run bench` prints. */
export interface Row {
  question: string;
  /** The bar; null where a peer is only shown beside us. */
  floor: Floor | null;
  /** What the floor is about: ours divided by theirs, or ours alone. */
  ratio: number;
  detail: string;
  bars?: Bars;
  /** What the capacity guide reckons with, by name with its unit. */
  figures?: Record<string, number>;
}

/** A row that this machine could not measure: its peer is not installed. */
export interface NotRun {
  question: string;
  floor: Floor | null;
  notRun: string;
}

export type Answer = Row | NotRun;

export const isRow = (answer: Answer): answer is Row => !('notRun' in answer);

export type Floor = { atLeast: number } | { atMost: number };

/** What was measured, for the chart. */
export interface Bars {
  unit: string;
  /** By name, ours first, then what the ratio divides by. */
  sides: Record<string, number>;
}

export const isMet = ({ floor, ratio }: Row): boolean =>
  floor === null || ('atLeast' in floor ? ratio >= floor.atLeast : ratio <= floor.atMost);

/** Three digits, and whole numbers from a thousand on. */
export function figure(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 || value === 0 ? 2 : 4;
  return String(Number(value.toFixed(digits)));
}

export function floorText(floor: Floor | null): string {
  if (floor === null) return 'none';
  return 'atLeast' in floor ? `≥ ${figure(floor.atLeast)}` : `≤ ${figure(floor.atMost)}`;
}

/** Work done per second by one side of a comparison. */
export type Side = () => Promise<number>;

/** Best of `rounds` runs of each side, taken in turns so that a busy machine hits all of them alike. */
export async function bestOf<K extends string>(sides: Record<K, Side>, rounds = 3): Promise<Record<K, number>> {
  const best = Object.fromEntries(Object.keys(sides).map((name) => [name, 0])) as Record<K, number>;
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(sides) as K[]) best[name] = Math.max(best[name], await sides[name]());
  }
  return best;
}

/** The middle one; of what varies by chance the smallest is luck. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
}

export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

export const thousands = (perSecond: number): string => `${(perSecond / 1000).toFixed(1)}k/s`;
