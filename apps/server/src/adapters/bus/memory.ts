import type { Bus } from '../../core/ports.ts';
import { createListeners } from './listeners.ts';

/** The bus of a single process: listeners hear everything of one turn at its end, in order. */
export function createMemoryBus({ onError }: { onError: (error: unknown) => void }): Bus {
  const listeners = createListeners(onError);
  let queue: { topic: string; message: unknown }[] = [];
  let isClosed = false;

  function flush(): void {
    const batch = queue;
    queue = [];
    if (isClosed) return;
    for (const { topic, message } of batch) listeners.deliver(topic, message);
  }

  return {
    publish(topic, message) {
      if (queue.length === 0) setImmediate(flush);
      queue.push({ topic, message });
    },
    subscribe: async (topic, listener) => listeners.add(topic, listener),
    onGap: () => () => {},
    ping: async () => null,
    async close() {
      isClosed = true;
    },
  };
}
