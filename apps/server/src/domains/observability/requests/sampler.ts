import type { Clock } from '../../../core/clock.ts';

/** Lets this many a second through for each key, and says how many it did not since the last. */
interface Sampler {
  /** Null: not this one. */
  take(key: string): { skipped: number } | null;
}

interface Bucket {
  tokens: number;
  at: number;
  skipped: number;
}

/** A short burst is kept whole. */
const burstSeconds = 30;
const keysMax = 10_000;

export function createSampler({ clock, perSecond }: { clock: Clock; perSecond: number }): Sampler {
  const buckets = new Map<string, Bucket>();
  const capacity = perSecond * burstSeconds;

  function bucketOf(key: string, now: number): Bucket {
    const known = buckets.get(key);
    if (known) return known;
    // Who has been quiet has a full bucket anyway.
    if (buckets.size >= keysMax) buckets.clear();
    const bucket = { tokens: capacity, at: now, skipped: 0 };
    buckets.set(key, bucket);
    return bucket;
  }

  return {
    take(key) {
      const now = clock.elapsed();
      const bucket = bucketOf(key, now);
      bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
      bucket.at = now;
      if (bucket.tokens < 1) {
        bucket.skipped++;
        return null;
      }
      bucket.tokens--;
      const { skipped } = bucket;
      bucket.skipped = 0;
      return { skipped };
    },
  };
}
