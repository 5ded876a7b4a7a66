import { ConnectionError, errorFrom, type SvcError, type WireError } from './errors.ts';
import type { Runtime } from './runtime.ts';

const TIMEOUT_MS = 10_000;

interface Pending {
  resolve(data: unknown): void;
  reject(error: SvcError): void;
  cancel(): void;
}

export interface Requests {
  /** `write` puts the frame with this id on the wire; false when it cannot. */
  open(type: string, write: (id: string) => boolean): Promise<unknown>;
  resolve(ref: string, data: unknown): void;
  /** False when no request has this id. */
  reject(ref: string | undefined, error: WireError): boolean;
  failAll(): void;
}

/** Requests that wait for their answer, by id. */
export function createRequests(runtime: Runtime): Requests {
  const pending = new Map<string, Pending>();
  let lastId = 0;

  function take(id: string): Pending | undefined {
    const entry = pending.get(id);
    pending.delete(id);
    entry?.cancel();
    return entry;
  }

  return {
    open(type, write) {
      return new Promise((resolve, reject) => {
        const id = `c${++lastId}`;
        if (!write(id)) return reject(new ConnectionError('network'));
        const cancel = runtime.setTimer(() => {
          const message = `The server did not answer ${type}. Try again.`;
          take(id)?.reject(new ConnectionError('network', { code: 'timeout', message }));
        }, TIMEOUT_MS);
        pending.set(id, { resolve, reject, cancel });
      });
    },
    resolve: (ref, data) => take(ref)?.resolve(data),
    reject(ref = '', error) {
      const entry = take(ref);
      entry?.reject(errorFrom(error));
      return entry !== undefined;
    },
    failAll() {
      for (const id of [...pending.keys()]) take(id)?.reject(new ConnectionError('network'));
    },
  };
}
