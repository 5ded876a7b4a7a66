import type { Unsubscribe } from '../../core/ports.ts';

type Listener = (message: unknown) => void;

/** Who in this process listens to what. A listener that throws does not keep the others from hearing. */
export function createListeners(onError: (error: unknown) => void) {
  const byTopic = new Map<string, Set<Listener>>();
  return {
    add(topic: string, listener: Listener): Unsubscribe {
      // Its own function each time: the same listener may be added twice.
      const own: Listener = (message) => listener(message);
      const group = byTopic.get(topic) ?? new Set();
      byTopic.set(topic, group.add(own));
      return () => {
        group.delete(own);
        if (group.size === 0 && byTopic.get(topic) === group) byTopic.delete(topic);
      };
    },
    has: (topic: string): boolean => byTopic.has(topic),
    deliver(topic: string, message: unknown): void {
      for (const listener of [...(byTopic.get(topic) ?? [])]) {
        try {
          listener(message);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}
