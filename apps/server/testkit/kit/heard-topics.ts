import type { Adapters } from '../../src/core/ports.ts';

/** What a process asks the bus for, and what of it arrives. */
export interface HeardTopics {
  /** For `startService`. */
  wrap(adapters: Adapters): Adapters;
  /** That it listens to now and whose names begin so. */
  topics(prefix: string): string[];
  /** How many messages of these have come. */
  count(prefix: string): number;
}

export function createHeardTopics(): HeardTopics {
  const listeners = new Map<string, number>();
  const messages = new Map<string, number>();
  const add = (counts: Map<string, number>, topic: string, by: number): void =>
    void counts.set(topic, (counts.get(topic) ?? 0) + by);
  const of = (counts: Map<string, number>, prefix: string): [string, number][] =>
    [...counts].filter(([topic, count]) => topic.startsWith(prefix) && count > 0);

  return {
    wrap: (adapters) => ({
      ...adapters,
      bus: {
        ...adapters.bus,
        async subscribe(topic, listener) {
          add(listeners, topic, 1);
          const stop = await adapters.bus.subscribe(topic, (message) => {
            add(messages, topic, 1);
            listener(message);
          });
          return () => {
            add(listeners, topic, -1);
            stop();
          };
        },
      },
    }),
    topics: (prefix) => of(listeners, prefix).map(([topic]) => topic),
    count: (prefix) => of(messages, prefix).reduce((total, [, count]) => total + count, 0),
  };
}
