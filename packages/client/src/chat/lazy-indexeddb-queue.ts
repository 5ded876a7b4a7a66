import type { QueueStorage } from './queue-storage.ts';

/** The IndexedDB queue is a chunk of its own, loaded when it is first used. */
export function lazyIndexedDbQueue(owner: string): QueueStorage {
  let loaded: Promise<QueueStorage> | null = null;
  const storage = (): Promise<QueueStorage> => {
    loaded ??= import('./indexeddb-queue.ts').then(({ createIndexedDbQueue }) => createIndexedDbQueue(owner));
    return loaded;
  };
  return {
    load: async () => (await storage()).load(),
    put: async (operation) => (await storage()).put(operation),
    remove: async (id) => (await storage()).remove(id),
  };
}
