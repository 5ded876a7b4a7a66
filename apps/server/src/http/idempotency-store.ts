import { iso } from '../core/clock.ts';
import type { Db } from '../core/db.ts';
import { sql } from '../core/sql.ts';

export interface StoredAnswer {
  bodyHash: string;
  /** Null while the first request is still running. */
  status: number | null;
  answer: string | null;
}

/** Claims a key for this request: true for exactly one caller until it finishes, expires or its lease runs out. */
export async function claimKey(
  db: Db,
  claim: { scope: string; bodyHash: string; now: number; lockedUntil: number; expiresAt: number },
): Promise<boolean> {
  const rows = await db.query(sql`
    insert into idempotency_keys as k (scope, body_hash, locked_until, expires_at)
    values (${claim.scope}, ${claim.bodyHash}, ${iso(claim.lockedUntil)}, ${iso(claim.expiresAt)})
    on conflict (scope) do update
      set body_hash = excluded.body_hash, status = null, answer = null,
          locked_until = excluded.locked_until, expires_at = excluded.expires_at
      where k.expires_at <= ${iso(claim.now)}
         or (k.status is null and k.locked_until <= ${iso(claim.now)} and k.body_hash = excluded.body_hash)
    returning scope`);
  return rows.length === 1;
}

export async function findAnswer(db: Db, scope: string): Promise<StoredAnswer | undefined> {
  const [row] = await db.query<StoredAnswer>(sql`
    select body_hash as "bodyHash", status, answer from idempotency_keys where scope = ${scope}`);
  return row;
}

export async function storeAnswer(db: Db, scope: string, status: number, answer: string): Promise<void> {
  await db.execute(sql`update idempotency_keys set status = ${status}, answer = ${answer} where scope = ${scope}`);
}

export async function releaseKey(db: Db, scope: string): Promise<void> {
  await db.execute(sql`delete from idempotency_keys where scope = ${scope} and status is null`);
}

export async function deleteExpiredKeys(db: Db, now: number): Promise<number> {
  return db.execute(sql`delete from idempotency_keys where expires_at <= ${iso(now)}`);
}
