import { ConnectionError } from './errors.ts';

/** Event name → arguments of its listeners. */
export type EventMap = Record<string, readonly unknown[]>;

export interface ListenOptions {
  /** Stops listening when it aborts. */
  signal?: AbortSignal;
  once?: boolean;
}

export interface Events<E extends EventMap> {
  /** Listens; the returned function stops it. */
  on<K extends keyof E>(name: K, listener: (...args: E[K]) => void, options?: ListenOptions): () => void;
  /** The next event of this name. */
  once<K extends keyof E>(name: K, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<E[K]>;
}

export interface Emitter<E extends EventMap> extends Events<E> {
  emit<K extends keyof E>(name: K, ...args: E[K]): void;
}

export function createEmitter<E extends EventMap>(): Emitter<E> {
  // A listener is stored under the name it was given for, so its arguments fit.
  type Listener = (...args: never) => void;
  const listeners = new Map<keyof E, Set<Listener>>();

  function on<K extends keyof E>(name: K, listener: (...args: E[K]) => void, options: ListenOptions = {}): () => void {
    const { signal, once = false } = options;
    if (signal?.aborted) return () => {};
    const set = listeners.get(name) ?? new Set();
    listeners.set(name, set);
    const stop = (): void => {
      set.delete(entry);
      signal?.removeEventListener('abort', stop);
    };
    const entry = (...args: E[K]): void => {
      if (once) stop();
      listener(...args);
    };
    set.add(entry);
    signal?.addEventListener('abort', stop, { once: true });
    return stop;
  }

  return {
    on,
    once(name, { timeoutMs, signal } = {}) {
      return new Promise((resolve, reject) => {
        const ending = new AbortController();
        const end = (): void => {
          clearTimeout(timer);
          ending.abort();
        };
        const fail = (): void => {
          end();
          const message = `No ${String(name)} came in time.`;
          reject(new ConnectionError('client', { code: 'timeout', message, cause: signal?.reason }));
        };
        const timer = timeoutMs === undefined ? undefined : setTimeout(fail, timeoutMs);
        signal?.addEventListener('abort', fail, { signal: ending.signal });
        if (signal?.aborted) fail();
        on(
          name,
          (...args) => {
            end();
            resolve(args);
          },
          { signal: ending.signal },
        );
      });
    },
    emit(name, ...args) {
      for (const listener of [...(listeners.get(name) ?? [])]) {
        callSafely(() => (listener as (...args: E[typeof name]) => void)(...args));
      }
    },
  };
}

/** As with EventTarget: a listener's bug is reported, and stops neither the others nor us. */
export function callSafely(call: () => void): void {
  try {
    call();
  } catch (error) {
    if (globalThis.reportError) globalThis.reportError(error);
    else
      queueMicrotask(() => {
        throw error;
      });
  }
}
