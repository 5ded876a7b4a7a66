import { AsyncLocalStorage } from 'node:async_hooks';

/** Turns a query on `Db` inside its own transaction, which would deadlock, into an error that says so. */
export function createTransactionScope() {
  const open = new AsyncLocalStorage<{ isOpen: boolean }>();
  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      const scope = { isOpen: true };
      try {
        return await open.run(scope, work);
      } finally {
        scope.isOpen = false;
      }
    },
    assertOutside(): void {
      if (open.getStore()?.isOpen)
        throw new Error('Inside a transaction use tx, not db: db would wait for it forever.');
    },
  };
}
