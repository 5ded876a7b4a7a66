import type { Operation } from './operations.ts';
import type { QueueStorage } from './queue-storage.ts';

const DATABASE = 'parley-chat';
const OBJECTS = 'operations';

interface Row {
  id: string;
  /** The page that put it; another one takes it over when that is gone. */
  owner: string;
  /** Its place among those of the same millisecond; keys are random, and the store orders by them. */
  turn: number;
  operation: Operation;
}

/** Survives a reload. Pages of one origin share it, and each sends only what it put or what a closed page left. */
export function createIndexedDbQueue(owner: string): QueueStorage {
  let database: Promise<IDBDatabase> | null = null;
  let turn = 0;
  // Held as long as the page lives, so that others can see that it does.
  void navigator.locks?.request(lockOf(owner), () => new Promise(() => {})).catch(() => {});

  async function run<T>(mode: IDBTransactionMode, use: (objects: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    database ??= openDatabase();
    const objects = (await database).transaction(OBJECTS, mode).objectStore(OBJECTS);
    return settled(use(objects));
  }

  return {
    async load() {
      const rows: Row[] = await run('readonly', (objects) => objects.getAll());
      const alive = new Set((await navigator.locks?.query())?.held?.map(({ name }) => name));
      const left = rows.filter((row) => row.owner === owner || !alive.has(lockOf(row.owner)));
      for (const row of left) await run('readwrite', (objects) => objects.put({ ...row, owner }));
      left.sort((a, b) => a.operation.at - b.operation.at || a.turn - b.turn);
      return left.map(({ operation }) => operation);
    },
    async put(operation) {
      const row: Row = { id: operation.id, owner, turn: turn++, operation };
      await run('readwrite', (objects) => objects.put(row));
    },
    async remove(id) {
      await run('readwrite', (objects) => objects.delete(id));
    },
  };
}

const lockOf = (owner: string): string => `parley-chat:${owner}`;

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(OBJECTS, { keyPath: 'id' });
  return settled(request);
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
