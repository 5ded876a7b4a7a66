import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Blobs } from '../../../core/ports.ts';
import { deleteAttachments, takeExpired } from './attachment-store.ts';
import type { createStorageQuota } from './storage-quota.ts';

interface SweepDeps {
  db: Db;
  blobs: Blobs;
  clock: Clock;
  storage: ReturnType<typeof createStorageQuota>;
}

const sweepMax = 100;

/** Where a store takes what is sent to its own signed URL. */
export const uploadKey = (id: string): string => `chat/${id}/0`;

/** Removes files that were never completed, never used, or whose message is gone; gives how many. */
export function createSweep({ db, blobs, clock, storage }: SweepDeps): () => Promise<number> {
  return async () => {
    const expired = await takeExpired(db, iso(clock.now()), sweepMax);
    const removed: string[] = [];
    for (const { id, blobKey } of expired) {
      // What came after the file was completed lies where it was first sent to.
      for (const key of new Set([blobKey, uploadKey(id)])) await blobs.delete(key);
      removed.push(id);
    }
    if (removed.length > 0)
      await db.transaction(async (tx) => storage.giveBack(tx, await deleteAttachments(tx, removed)));
    return removed.length;
  };
}
