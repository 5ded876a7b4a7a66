import { RateLimitError } from '../errors.ts';
import type { Runtime } from '../runtime.ts';

/** Waits as long as the server asks to, then asks again: for what the latest word is sent then, not the first. */
export async function retryWhileLimited<T>({ setTimer }: Pick<Runtime, 'setTimer'>, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RateLimitError)) throw error;
      await new Promise<void>((resolve) => setTimer(resolve, error.retryAfterSeconds * 1000));
    }
  }
}
