import { ConnectionError } from '../errors.ts';
import type { ChatProtocol, Request } from '../frames.ts';
import type { Runtime } from '../runtime.ts';
import { retryWhileLimited } from './retry-while-limited.ts';

/** How far this user has read. Without an id it sends again what a lost connection has kept back. */
export function createReadMark(runtime: Runtime, request: Request<ChatProtocol>) {
  let unsent: string | null = null;

  return async (messageId = unsent): Promise<void> => {
    unsent = messageId;
    const forget = (): void => {
      if (unsent === messageId) unsent = null;
    };
    // What waited may have been sent with a later mark.
    const mark = async () => unsent && request({ type: 'read', messageId: unsent });
    await retryWhileLimited(runtime, mark).then(forget, (error) => {
      // Kept and sent with the next connection. Any other failure is the caller's.
      if (error instanceof ConnectionError) return;
      forget();
      throw error;
    });
  };
}
