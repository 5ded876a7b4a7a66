import { DatabaseUnavailable } from '../../../core/db.ts';

const waitingMax = 10_000;

interface Waiting {
  isTransaction: boolean;
  begin: () => void;
}

/** One session for all callers: a transaction has it to itself, single statements share it; first come, first served. */
export function createSessionQueue() {
  const waiting: Waiting[] = [];
  let isTaken = false;

  function next(): void {
    while (!isTaken) {
      const first = waiting.shift();
      if (!first) return;
      isTaken = first.isTransaction;
      first.begin();
    }
  }

  function queue<T>(isTransaction: boolean, begin: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (waiting.length >= waitingMax)
        return reject(new DatabaseUnavailable('Too many queries wait for the database.'));
      // `begin` sends at once: a later transaction can then never get in front of this statement.
      const start = () => {
        try {
          resolve(begin());
        } catch (error) {
          reject(error);
        }
      };
      waiting.push({ isTransaction, begin: start });
      next();
    });
  }

  function end(): void {
    isTaken = false;
    next();
  }

  return {
    ofStatement: <T>(send: () => Promise<T>): Promise<T> => queue(false, send),
    /** Resolves when the session is free of transactions; call the result to give it back. */
    ofTransaction: (): Promise<() => void> => queue(true, () => end),
  };
}
