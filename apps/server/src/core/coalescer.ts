interface CoalescerOptions<Key, Pending> {
  newPending: () => Pending;
  publish: (key: Key, pending: Pending) => void;
  /** How long a key rests after each publish. */
  rest: () => Promise<unknown>;
  /** Whether the first goes at once, or with everything of its event-loop turn. */
  first: 'now' | 'atEndOfTurn';
}

/** Publishes what is noted under a key: the first without delay, then at most once a rest, merged by who notes it. */
interface Coalescer<Key, Pending> {
  /** `merge` adds to what is pending; what it holds must be bounded by what it merges. */
  note(key: Key, merge: (pending: Pending) => void): void;
  pendingOf(key: Key): Pending | undefined;
}

export function createCoalescer<Key, Pending>(options: CoalescerOptions<Key, Pending>): Coalescer<Key, Pending> {
  const { newPending, publish, rest, first } = options;
  /** Of each key that rests, or is about to be published; null: nothing came since. */
  const waiting = new Map<Key, Pending | null>();

  function flush(key: Key): void {
    const pending = waiting.get(key) ?? null;
    if (pending === null) return void waiting.delete(key);
    waiting.set(key, null);
    // First: a key whose publish fails loses that once, and not all that follows.
    void rest().then(() => flush(key));
    publish(key, pending);
  }

  return {
    note(key, merge) {
      const isFirst = !waiting.has(key);
      const pending = waiting.get(key) ?? newPending();
      merge(pending);
      waiting.set(key, pending);
      if (!isFirst) return;
      if (first === 'now') flush(key);
      else setImmediate(flush, key);
    },
    pendingOf: (key) => waiting.get(key) ?? undefined,
  };
}
