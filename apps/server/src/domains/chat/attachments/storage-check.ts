import { createCache } from '../../../core/cache.ts';
import type { Clock } from '../../../core/clock.ts';
import { type Blobs, BlobsFull, BlobsUnavailable } from '../../../core/ports.ts';

/** Throws `BlobsUnavailable` while the store is away, or full and something is to be stored. */
export type StorageCheck = (use: 'read' | 'write') => Promise<void>;

/** How long the result of one check is cached. */
const lookMs = 2_000;

/** Signing a URL does not touch the store: before one is handed out, the store is asked whether it works. */
export function createStorageCheck({ blobs, clock }: { blobs: Blobs; clock: Clock }): StorageCheck {
  const looks = createCache<BlobsUnavailable | null>({ clock, ttlMs: lookMs, sizeMax: 1 });

  const look = (): Promise<BlobsUnavailable | null> =>
    blobs.ping().then(
      () => null,
      (error) => {
        if (error instanceof BlobsUnavailable) return error;
        throw error;
      },
    );

  return async (use) => {
    const fault = await looks.get('store', look);
    if (fault === null || (use === 'read' && fault instanceof BlobsFull)) return;
    throw fault;
  };
}
