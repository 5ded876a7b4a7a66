import type { Store } from '@parley/client';

export interface SampleStore<T> extends Store<T> {
  set(value: T): void;
}

export function sampleStore<T>(initial: T): SampleStore<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    getSnapshot: () => value,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener();
    },
  };
}
