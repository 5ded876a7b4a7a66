import { callSafely } from './events.ts';

/** A value that changes. Fits React's `useSyncExternalStore`: the snapshot is the same object until it changes. */
export interface Store<T> {
  getSnapshot(): T;
  subscribe(listener: () => void): () => void;
}

export interface WritableStore<T> extends Store<T> {
  set(value: T): void;
}

/** A store whose value is computed lazily after `invalidate()`. */
export interface DerivedStore<T> extends Store<T> {
  invalidate(): void;
}

export function createStore<T>(initial: T): WritableStore<T> {
  let value = initial;
  const { invalidate, ...store } = createDerivedStore(() => value);
  return {
    ...store,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      invalidate();
    },
  };
}

export function createDerivedStore<T>(compute: () => T): DerivedStore<T> {
  let cached: { value: T } | null = null;
  const listeners = new Set<() => void>();
  return {
    getSnapshot() {
      cached ??= { value: compute() };
      return cached.value;
    },
    subscribe(listener) {
      // Wrapped, so that the same function may subscribe twice.
      const entry = (): void => listener();
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    invalidate() {
      cached = null;
      for (const listener of [...listeners]) callSafely(listener);
    },
  };
}
