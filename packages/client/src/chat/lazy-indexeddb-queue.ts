import type { QueueStorage } from './queue-storage.ts';

/** The IndexedDB queue is a chunk of its own, loaded when it is first used. */
export function lazyIndexedDbQueue(owner: string): QueueStorage {
  let loaded: Promise<QueueStorage> | null = null;
  const storage = (): Promise<QueueStorage> => {
    loaded ??= import('./indexeddb-queue.ts').then(({ createIndexedDbQueue }) => createIndexedDbQueue(owner));
    return loaded;
  };
  return {
    load: () => storage().then((queue) => queue.load()),
    put: (operation) => storage().then((queue) => queue.put(operation)),
    remove: (id) => storage().then((queue) => queue.remove(id)),
  };
}
