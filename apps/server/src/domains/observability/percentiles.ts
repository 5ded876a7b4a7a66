/** Durations are counted in buckets 5 % wide: percentiles read from them are within 2.5 % of the true value. */
const growth = Math.log(1.05);

export const bucketOf = (ms: number): number => (ms < 1 ? 0 : Math.floor(Math.log(ms) / growth) + 1);

/** The middle of a bucket. */
const middleOf = (bucket: number): number => (bucket === 0 ? 0 : Math.round(Math.exp((bucket - 0.5) * growth)));

/** The value below which `share` of the counted durations lie; null when none was counted. */
export function percentile(counts: ReadonlyMap<number, number>, share: number): number | null {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const bucket of [...counts.keys()].sort((a, b) => a - b)) {
    seen += counts.get(bucket) ?? 0;
    if (seen >= share * total) return middleOf(bucket);
  }
  return null;
}
