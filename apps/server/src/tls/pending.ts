import type { Socket } from 'node:net';
import { addressKey } from '../core/addresses.ts';

/** How many connections each address has, up to a bound. */
interface AddressCount {
  /** Counts the connection until the answer is called or it closes; null when its address has too many. */
  enter(socket: Socket): (() => void) | null;
}

export function createAddressCount(max: number): AddressCount {
  const counts = new Map<string, number>();

  function leave(key: string): void {
    const left = (counts.get(key) ?? 0) - 1;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  }

  return {
    enter(socket) {
      const key = addressKey(socket.remoteAddress ?? '');
      const count = counts.get(key) ?? 0;
      if (count >= max) return null;
      counts.set(key, count + 1);
      let isIn = true;
      const release = (): void => {
        if (isIn) leave(key);
        isIn = false;
        socket.off('close', release);
      };
      socket.once('close', release);
      return release;
    },
  };
}
