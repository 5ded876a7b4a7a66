import type { Operation } from './operations.ts';

/** Where operations wait until the server has them. Implement it to keep them anywhere else. */
export interface QueueStorage {
  /** Everything stored, in the order it was put. */
  load(): readonly Operation[] | Promise<readonly Operation[]>;
  put(operation: Operation): void | Promise<void>;
  remove(id: string): void | Promise<void>;
}

/** Gone with the page. The queue itself is memory, so there is nothing to keep. */
export const memoryQueue: QueueStorage = { load: () => [], put() {}, remove() {} };
