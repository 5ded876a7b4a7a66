import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { fail } from '@parley/contract';
import { assertUncommon } from './common-passwords.ts';

export interface Passwords {
  /** Of a new password; refuses the commonest. */
  hash(password: string): Promise<string>;
  /** Does the same work when there is no hash to compare with, and then says no. */
  matches(password: string, hash: string | null): Promise<boolean>;
}

/** Of argon2id, in KiB and passes. */
export interface PasswordCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** As OWASP recommends it: 19 MiB, two passes, one lane. */
export const recommendedCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** At once: each takes a thread of the pool that files and names are resolved on, and 19 MiB. */
const runningMax = 2;
const waitingMax = 200;

export function createPasswords(cost = recommendedCost): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];
  // Nobody's password, made once: an unknown address is compared with it.
  const nobody = hash(randomBytes(32), cost);
  nobody.catch(() => {});

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running < runningMax) running++;
    else if (waiting.length >= waitingMax) fail('SVC_SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 });
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The slot passes to the next waiter, so `running` only falls when the queue is empty.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  return {
    async hash(password) {
      assertUncommon(password);
      return inTurn(() => hash(password, cost));
    },
    async matches(password, known) {
      const compared = known ?? (await nobody);
      const isEqual = await inTurn(() => verify(compared, password));
      return isEqual && known !== null;
    },
  };
}
