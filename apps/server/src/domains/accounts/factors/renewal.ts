import type { Db } from '../../../core/db.ts';
import type { Keyring } from '../../../core/keyring.ts';
import { listSealedTotp, replaceSealedTotp } from './totp-store.ts';

const pageSize = 500;

/** Through the secrets of all apps while SECRET_KEY is rotated: they are sealed with the present one. Says how many. */
export function createRenewal({ db, keyring }: { db: Db; keyring: Keyring }): () => Promise<number> {
  return async () => {
    let count = 0;
    if (!keyring.isRotating) return count;
    for (let after: string | null = null; ; ) {
      const rows: { userId: string; secret: string }[] = await listSealedTotp(db, after, pageSize);
      for (const { userId, secret } of rows) {
        const fresh = keyring.renew(secret);
        if (fresh !== null) count += await replaceSealedTotp(db, userId, secret, fresh);
      }
      if (rows.length < pageSize) return count;
      after = rows.at(-1)?.userId ?? null;
    }
  };
}
