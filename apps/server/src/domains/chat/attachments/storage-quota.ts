import type { Tx } from '../../../core/db.ts';
import { ownerOf, type Quotas } from '../../../core/quotas.ts';
import type { FreedFile } from './attachment-store.ts';

/** The bytes that files take up, of their user and of their project: from the first request until they are deleted. */
export function createStorageQuota(quotas: Quotas) {
  const userOf = (file: FreedFile): string => `${ownerOf(file)} ${file.uploaderId}`;

  return {
    async take(tx: Tx, file: FreedFile): Promise<void> {
      if (file.uploaderId !== null) await quotas.take(tx, 'STORAGE_MAX_BYTES_PER_USER', userOf(file), file.size);
      await quotas.take(tx, 'STORAGE_MAX_BYTES_PER_PROJECT', ownerOf(file), file.size);
    },
    /** In the order of the owners: two of these must not wait for each other. */
    async giveBack(tx: Tx, files: readonly FreedFile[]): Promise<void> {
      const byUser = files.filter(({ uploaderId }) => uploaderId !== null);
      for (const [owner, bytes] of sums(byUser, userOf))
        await quotas.giveBack(tx, 'STORAGE_MAX_BYTES_PER_USER', owner, bytes);
      for (const [owner, bytes] of sums(files, ownerOf))
        await quotas.giveBack(tx, 'STORAGE_MAX_BYTES_PER_PROJECT', owner, bytes);
    },
  };
}

function sums(files: readonly FreedFile[], ownerOfFile: (file: FreedFile) => string): [string, number][] {
  const bytes = new Map<string, number>();
  for (const file of files) bytes.set(ownerOfFile(file), (bytes.get(ownerOfFile(file)) ?? 0) + Number(file.size));
  return [...bytes].sort(([one], [other]) => (one < other ? -1 : 1));
}
