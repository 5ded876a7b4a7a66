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

/** How many rounds may be left out at each end so that the median is still between the others, by 95 % at each (sign test). */
export function leftOutOf(rounds: number): number {
  let [ways, tail] = [1, 1];
  for (let out = 0; ; out++) {
    ways = (ways * (rounds - out)) / (out + 1);
    tail += ways;
    if (tail > 0.05 * 2 ** rounds) return out;
  }
}

/**
 * What a cost is at most that may be lost in the noise: where rounds scatter around nothing their median is as likely
 * below zero as above it, and says less than how far they scatter.
 */
export function boundOfMedian(rounds: readonly number[]): number {
  const out = leftOutOf(rounds.length);
  const kept = [...rounds].sort((a, b) => a - b).slice(out, rounds.length - out);
  return Math.max(...kept.map(Math.abs));
}

/** The one whose value is in the middle, whole: its figures belong together. */
export function middleBy<T>(items: readonly T[], orderOf: (item: T) => number): T {
  const middle = [...items].sort((a, b) => orderOf(a) - orderOf(b))[(items.length - 1) >> 1];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}

export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

export const thousands = (perSecond: number): string => `${(perSecond / 1000).toFixed(1)}k/s`;
