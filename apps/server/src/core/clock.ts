/** Time as a dependency: the only place that reads the system clock. */
export interface Clock {
  /** Milliseconds since the epoch: for what is stored, shown or compared with another process's. */
  now(): number;
  /** Milliseconds since some moment, whatever any clock is set to: for how long something of this process takes. */
  elapsed(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects and never keeps the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => Math.floor(performance.now()),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const finish = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, ms);
      timer.unref();
      signal?.addEventListener('abort', finish, { once: true });
    }),
};

/** A monotonic clock that is set from outside. */
export interface SettableClock extends Clock {
  set(epochMs: number): void;
}

export function createSettableClock(): SettableClock {
  let startedAt = Date.now() - performance.now();
  return {
    ...systemClock,
    now: () => Math.round(startedAt + performance.now()),
    set(epochMs) {
      startedAt = epochMs - performance.now();
    },
  };
}

let written = { epochMs: 0, text: '1970-01-01T00:00:00.000Z' };

/** ISO 8601 in UTC with milliseconds: how every timestamp is stored and shown. Under load most ask for the same one. */
export function iso(epochMs: number): string {
  if (epochMs !== written.epochMs) written = { epochMs, text: new Date(epochMs).toISOString() };
  return written.text;
}
