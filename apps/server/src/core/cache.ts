import type { Clock } from './clock.ts';

/** Values that may be a moment old. Short-lived on purpose: whatever invalidates it is only faster than the TTL. */
export interface Cache<V> {
  /** The value, loaded when it is not there or too old; callers that ask at once share one load. */
  get(key: string, load: () => Promise<V>): Promise<V>;
  drop(key: string): void;
  dropWhere(matches: (value: V, key: string) => boolean): void;
}

export function createCache<V>({ clock, ttlMs, sizeMax }: { clock: Clock; ttlMs: number; sizeMax: number }): Cache<V> {
  const entries = new Map<string, { value: V; until: number }>();
  const loading = new Map<string, Promise<V>>();

  /** Keeps a loaded value, unless it was invalidated during the load: then it may be stale. */
  function keep(key: string, load: Promise<V>, value: V): void {
    if (loading.get(key) !== load) return;
    if (entries.size >= sizeMax) entries.delete(entries.keys().next().value ?? key);
    entries.set(key, { value, until: clock.elapsed() + ttlMs });
  }

  return {
    get(key, load) {
      const known = entries.get(key);
      if (known && known.until > clock.elapsed()) return Promise.resolve(known.value);
      entries.delete(key);
      const running = loading.get(key);
      if (running) return running;
      const started = load();
      loading.set(key, started);
      return started
        .then((value) => {
          keep(key, started, value);
          return value;
        })
        .finally(() => {
          if (loading.get(key) === started) loading.delete(key);
        });
    },
    drop(key) {
      entries.delete(key);
      loading.delete(key);
    },
    dropWhere(matches) {
      for (const [key, entry] of entries) if (matches(entry.value, key)) entries.delete(key);
      loading.clear();
    },
  };
}
