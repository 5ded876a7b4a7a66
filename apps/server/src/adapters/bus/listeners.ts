import type { Unsubscribe } from '../../core/ports.ts';

type Listener = (message: unknown) => void;

/** The listeners of this process, by topic. A listener that throws does not keep the others from hearing. */
export function createListeners(onError: (error: unknown) => void) {
  const byTopic = new Map<string, Set<Listener>>();
  const pending: { topic: string; message: unknown }[] = [];
  let isDelivering = false;

  function deliverOne(topic: string, message: unknown): void {
    for (const listener of [...(byTopic.get(topic) ?? [])]) {
      try {
        listener(message);
      } catch (error) {
        onError(error);
      }
    }
  }

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
    /** Synchronous. What a listener publishes during it follows this message: all listeners see one order. */
    deliver(topic: string, message: unknown): void {
      pending.push({ topic, message });
      if (isDelivering) return;
      isDelivering = true;
      for (let next = pending.shift(); next; next = pending.shift()) deliverOne(next.topic, next.message);
      isDelivering = false;
    },
  };
}
