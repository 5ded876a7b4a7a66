import { iso } from '../core/clock.ts';
import type { Db } from '../core/db.ts';
import { sql } from '../core/sql.ts';

export interface StoredAnswer {
  bodyHash: string;
  /** Null while the first request is still running. */
  status: number | null;
  answer: string | null;
  /** Its lease has expired: it can be claimed. */
  isFree: boolean;
}

interface Claim {
  expiresAt: string;
  /** The key was there before. */
  isRetry: boolean;
}

/**
 * Claims a key for this request, which exactly one caller gets until it finishes, expires or its lease runs out. Says
 * when the key expires: a process that takes over a claim keeps that time, which identifies the use.
 */
export async function claimKey(
  db: Db,
  claim: { scope: string; bodyHash: string; now: number; lockedUntil: number; expiresAt: number },
): Promise<Claim | undefined> {
  const [row] = await db.query<Claim>(sql`
    insert into idempotency_keys as k (scope, body_hash, locked_until, expires_at)
    values (${claim.scope}, ${claim.bodyHash}, ${iso(claim.lockedUntil)}, ${iso(claim.expiresAt)})
    on conflict (scope) do update
      set body_hash = excluded.body_hash, status = null, answer = null,
          locked_until = excluded.locked_until,
          expires_at = case when k.expires_at <= ${iso(claim.now)} then excluded.expires_at else k.expires_at end
      where k.expires_at <= ${iso(claim.now)}
         or (k.status is null and k.locked_until <= ${iso(claim.now)} and k.body_hash = excluded.body_hash)
    returning expires_at as "expiresAt", xmax::text <> '0' as "isRetry"`);
  return row;
}

export async function findAnswer(db: Db, scope: string, now: number): Promise<StoredAnswer | undefined> {
  const [row] = await db.query<StoredAnswer>(sql`
    select body_hash as "bodyHash", status, answer, status is null and locked_until <= ${iso(now)} as "isFree"
    from idempotency_keys where scope = ${scope}`);
  return row;
}

export async function storeAnswer(db: Db, scope: string, status: number, answer: string): Promise<void> {
  await db.execute(sql`update idempotency_keys set status = ${status}, answer = ${answer} where scope = ${scope}`);
}

/** Nothing was done: the key was never used. */
export async function releaseKey(db: Db, scope: string): Promise<void> {
  await db.execute(sql`delete from idempotency_keys where scope = ${scope} and status is null`);
}

/** What was done is not known: the next attempt need not wait for the lease, and goes on as the same use of the key. */
export async function unlockKey(db: Db, scope: string, now: number): Promise<void> {
  await db.execute(
    sql`update idempotency_keys set locked_until = ${iso(now)} where scope = ${scope} and status is null`,
  );
}

export async function deleteExpiredKeys(db: Db, now: number, limit: number): Promise<number> {
  return db.execute(sql`
    delete from idempotency_keys where scope = any(array(
      select scope from idempotency_keys where expires_at <= ${iso(now)} order by expires_at limit ${limit}))
      and expires_at <= ${iso(now)}`);
}
