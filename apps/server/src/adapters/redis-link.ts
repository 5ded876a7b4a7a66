import { SharedStateUnavailable } from '../core/ports.ts';
import type { BusNode, Commands, Store } from './redis-stores.ts';

// A request must not wait for a Redis that hangs.
const commandTimeoutMs = 250;
// One that answers others is only busy, as in a burst; but no caller waits longer than this.
const busyTimeoutMs = 2_000;
// After a command went unanswered the next ones fail at once, for this long.
const pauseMs = 1_000;
const pingMs = 800;
const missesMax = 3;

export type Command = <T>(send: (commands: Commands) => Promise<T>) => Promise<T>;

/** The process's connection to one store, replaced when it falls silent. */
export type Link = ReturnType<typeof createLink>;

export function createLink(open: () => Store) {
  let store = open();
  /** Will take the place of one that is silent in part, and serves until then. */
  let next: Store | null = null;
  const leaving = new Map<Store, NodeJS.Timeout>();
  let misses = 0;
  let hasAnswer = false;
  const silences = createSilences();

  // A server that hangs, or a network that swallows everything, closes no connection: only a new one helps.
  const watch = setInterval(() => {
    if (!store.isReady) return;
    misses += 1;
    if (misses > missesMax) {
      misses = 0;
      if (hasAnswer) replaceBeside();
      else replace();
      return;
    }
    hasAnswer = false;
    const answered = () => {
      hasAnswer = true;
    };
    const pings = store.pings();
    for (const ping of pings) ping.then(answered, () => {});
    // What is not connected says so: the library is reconnecting already.
    Promise.allSettled(pings).then(() => {
      misses = 0;
    });
  }, pingMs);
  watch.unref();

  function replace(): void {
    next?.destroy();
    next = null;
    silences.forget();
    store.destroy();
    store = open();
  }

  /** Masters of a cluster that answer are asked all the while; a silent one may have been replaced by another. */
  function replaceBeside(): void {
    // The one before came to nothing: its way led over the silent one.
    next?.destroy();
    const opened = open();
    next = opened;
    opened.onReady(() => {
      if (opened !== next) return;
      const former = store;
      [store, next, misses] = [opened, null, 0];
      silences.forget();
      // What was asked of it is answered first.
      const timer = setTimeout(() => {
        leaving.delete(former);
        former.destroy();
      }, busyTimeoutMs);
      timer.unref();
      leaving.set(former, timer);
    });
  }

  return {
    /** Commands to the server of the store that has the names of this tag; it may be silent while others answer. */
    lane: (tag: string): Command =>
      createLane(
        () => store,
        () => silences.at(store.placeOf(tag)),
      ),
    busNodes: (): BusNode[] => store.busNodes(),
    /** Resolves when there is a connection, or after a second: the process starts without Redis too. */
    ready: () =>
      new Promise<void>((resolve) => {
        if (store.isReady) return resolve();
        const timer = setTimeout(resolve, 1_000);
        store.onReady(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
    pings: (): Promise<unknown>[] => store.pings(),
    async close(): Promise<void> {
      clearInterval(watch);
      for (const [former, timer] of leaving) {
        clearTimeout(timer);
        former.destroy();
      }
      leaving.clear();
      next?.destroy();
      next = null;
      store.destroy();
    },
  };
}

/** What is known of one server. Its names come in several lanes, and what one of them has noticed holds for all. */
interface Silence {
  pausedUntil: number;
  heardAt: number;
}

function createSilences() {
  const byPlace = new Map<string, Silence>();
  return {
    at(place: string): Silence {
      const known = byPlace.get(place) ?? { pausedUntil: 0, heardAt: 0 };
      byPlace.set(place, known);
      return known;
    },
    forget: (): void => byPlace.clear(),
  };
}

/** Sends commands with a time limit. */
function createLane(store: () => Store, here: () => Silence): Command {
  return async (send) => {
    const silence = here();
    if (performance.now() < silence.pausedUntil) throw new SharedStateUnavailable('Redis did not answer a moment ago.');
    let timer: NodeJS.Timeout | undefined;
    let isAnswered = false;
    const askedAt = performance.now();
    const late = new Promise<never>((_, reject) => {
      const giveUp = () => {
        if (isAnswered) return;
        const now = performance.now();
        const isSilent = now - silence.heardAt > commandTimeoutMs;
        if (!isSilent && now - askedAt < busyTimeoutMs) return wait();
        if (isSilent) silence.pausedUntil = now + pauseMs;
        reject(new SharedStateUnavailable('Redis did not answer in time.'));
      };
      // After a busy moment of ours the answer may lie unread: it is read between the timer and the immediate.
      const wait = () => {
        timer = setTimeout(() => setImmediate(giveUp), commandTimeoutMs);
      };
      wait();
    });
    // Some clients throw at once where others reject.
    const answer = (async () => send(store()))();
    answer.then(
      () => {
        silence.heardAt = performance.now();
      },
      () => {}, // it may fail after the time limit
    );
    try {
      return await Promise.race([answer, late]);
    } catch (error) {
      throw isRefusal(error) ? error : asUnavailable(error);
    } finally {
      isAnswered = true;
      clearTimeout(timer);
    }
  };
}

/** Redis answered, and said that the command is wrong: a fault of ours, not of the connection or the server's state. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof Error && /^(NOSCRIPT|ERR|WRONGTYPE|CROSSSLOT) /.test(error.message);
}

const asUnavailable = (error: unknown): SharedStateUnavailable =>
  error instanceof SharedStateUnavailable
    ? error
    : new SharedStateUnavailable('Redis is not reachable.', { cause: error });
