import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { deleteInBatches, type Turn, withoutDeadline } from '../../../core/delete-in-batches.ts';
import type { Blobs } from '../../../core/ports.ts';
import { pictureSizes, sizeKey } from '../media/kinds.ts';
import { deleteAttachments, findHeld, takeExpired } from './attachment-store.ts';
import type { createStorageQuota } from './storage-quota.ts';

interface SweepDeps {
  db: Db;
  blobs: Blobs;
  clock: Clock;
  storage: ReturnType<typeof createStorageQuota>;
}

type Expired = Awaited<ReturnType<typeof takeExpired>>[number];

/** Files that are removed at once. */
const filesMax = 25;

/** Where a store takes what is sent to its own signed URL. */
export const uploadKey = (id: string): string => `chat/${id}/0`;

/** Removes files that were never completed, never used, or whose message is gone; gives how many. */
export function createSweep({ db, blobs, clock, storage }: SweepDeps): (turn?: Turn) => Promise<number> {
  async function removeFile({ id, blobKey, hasSizes }: Expired, held: ReadonlySet<string>): Promise<void> {
    const sizes = hasSizes ? pictureSizes.map((size) => sizeKey(id, size)) : [];
    // What came after the file was completed lies where it was first sent to.
    for (const key of new Set([blobKey, uploadKey(id), ...sizes])) if (!held.has(key)) await blobs.delete(key);
  }

  async function removeSome(now: string, limit: number): Promise<number> {
    const expired = await takeExpired(db, now, limit);
    if (expired.length === 0) return 0;
    const shared = expired.filter(({ isShared }) => isShared).map(({ blobKey }) => blobKey);
    const held = shared.length === 0 ? new Set<string>() : await findHeld(db, shared);
    await Promise.all(expired.map((file) => removeFile(file, held)));
    const ids = expired.map(({ id }) => id);
    await db.transaction(async (tx) => storage.giveBack(tx, await deleteAttachments(tx, ids)));
    return ids.length;
  }

  return (turn = withoutDeadline) => {
    const now = iso(clock.now());
    return deleteInBatches({ turn, batchMax: filesMax }, (limit) => removeSome(now, limit));
  };
}
