import type { Db } from '../../core/db.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Log } from '../../core/log.ts';
import { listSealed, replaceSealed, type SealedColumns } from './webhook-store.ts';

const pageSize = 500;

/** Through all endpoints: what a process with the old SECRET_KEY seals meanwhile is found the next time. */
export function createRenewal({ db, keyring, log }: { db: Db; keyring: Keyring; log: Log }): () => Promise<number> {
  const renewed = (text: string | null): string | null => (text === null ? null : (keyring.renew(text) ?? text));

  return async () => {
    let count = 0;
    if (!keyring.isRotating) return count;
    for (let after = ''; ; ) {
      const rows = await listSealed(db, after, pageSize);
      for (const { id, ...sealed } of rows) {
        const fresh: SealedColumns = {
          secret: renewed(sealed.secret) ?? sealed.secret,
          previousSecret: renewed(sealed.previousSecret),
          headers: renewed(sealed.headers),
        };
        const isOld = fresh.secret !== sealed.secret || fresh.previousSecret !== sealed.previousSecret;
        if (isOld || fresh.headers !== sealed.headers) count += await replaceSealed(db, id, sealed, fresh);
      }
      if (rows.length < pageSize) break;
      after = rows.at(-1)?.id ?? '';
    }
    if (count > 0) log.info({ endpoints: count }, 'webhook secrets are sealed with the present SECRET_KEY');
    return count;
  };
}
