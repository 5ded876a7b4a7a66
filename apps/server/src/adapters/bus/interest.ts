interface InterestDeps {
  graceMs: number;
  isWanted: (topic: string) => boolean;
  /** Nobody has listened to these for a while. */
  leave: (topics: readonly string[]) => void;
}

/** Which topics are no longer listened to: those who return within the grace find them still heard. */
export function createInterest({ graceMs, isWanted, leave }: InterestDeps) {
  /** In the order of their last listener's leaving. */
  const leaving = new Map<string, number>();

  function sweep(): void {
    const until = performance.now() - graceMs;
    const topics: string[] = [];
    for (const [topic, since] of leaving) {
      if (since > until) break;
      leaving.delete(topic);
      if (!isWanted(topic)) topics.push(topic);
    }
    if (topics.length > 0) leave(topics);
  }

  // All of a moment together.
  const timer = setInterval(sweep, Math.min(graceMs, 1_000));
  timer.unref();

  return {
    /** After a listener has left. */
    check(topic: string): void {
      if (isWanted(topic)) return;
      leaving.delete(topic);
      leaving.set(topic, performance.now());
    },
    close: (): void => clearInterval(timer),
  };
}
