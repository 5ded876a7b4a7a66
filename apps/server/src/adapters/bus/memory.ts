import type { Bus } from '../../core/ports.ts';
import { createListeners } from './listeners.ts';

/** The bus of a single process. */
export function createMemoryBus({ onError }: { onError: (error: unknown) => void }): Bus {
  const listeners = createListeners(onError);
  let isClosed = false;

  return {
    publish(topic, message) {
      if (!isClosed) listeners.deliver(topic, message);
    },
    subscribe: async (topic, listener) => listeners.add(topic, listener),
    onGap: () => () => {},
    ping: async () => null,
    async close() {
      isClosed = true;
    },
  };
}
