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
  /** The answer to a frame that is on its way with this id already. */
  expect(type: string, id: string): Promise<unknown>;
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

  function expect(type: string, id: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const cancel = runtime.setTimer(() => {
        const message = `The server did not answer ${type}. Try again.`;
        take(id)?.reject(new ConnectionError('network', { code: 'timeout', message }));
      }, TIMEOUT_MS);
      pending.set(id, { resolve, reject, cancel });
    });
  }

  return {
    async open(type, write) {
      const id = `c${++lastId}`;
      if (!write(id)) throw new ConnectionError('network');
      return expect(type, id);
    },
    expect,
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
