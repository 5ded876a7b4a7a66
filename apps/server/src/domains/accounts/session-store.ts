import type { AccountSession } from '@parley/contract';
import type { SessionProof } from '../../core/caller.ts';
import type { Queryable, Tx } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';
import { type UserRow, userColumns } from './user-store.ts';

export type EndReason = 'LOGOUT' | 'PASSWORD_CHANGED' | 'TOKEN_REUSED';

export interface SessionRow {
  id: string;
  userId: string;
  generation: number;
  graceGeneration: number;
  graceStartedAt: string | null;
}

export async function insertSession(
  tx: Tx,
  session: { id: string; userId: string; createdAt: string; expiresAt: string; factorAt: string | null },
): Promise<void> {
  await tx.execute(sql`
    insert into sessions (id, user_id, created_at, expires_at, factor_at)
    values (${session.id}, ${session.userId}, ${session.createdAt}, ${session.expiresAt}, ${session.factorAt})`);
}

/** Moves a live session to its next generation; undefined when another call did or the session is over. */
export async function rotateSession(
  db: Queryable,
  turn: { id: string; generation: number; now: string; graceSince: string; expiresAt: string },
): Promise<number | undefined> {
  const [row] = await db.query<{ generation: number }>(sql`
    update sessions set
      generation = generation + 1,
      grace_generation = case when grace_started_at > ${turn.graceSince} then grace_generation else generation end,
      grace_started_at = case when grace_started_at > ${turn.graceSince} then grace_started_at
                              else ${turn.now}::timestamptz end,
      expires_at = ${turn.expiresAt}
    where id = ${turn.id} and generation = ${turn.generation} and ended_at is null and expires_at > ${turn.now}
    returning generation`);
  return row?.generation;
}

export async function findLiveSession(db: Queryable, id: string, now: string): Promise<SessionRow | undefined> {
  const [row] = await db.query<SessionRow>(sql`
    select id, user_id as "userId", generation, grace_generation as "graceGeneration",
           grace_started_at as "graceStartedAt"
    from sessions where id = ${id} and ended_at is null and expires_at > ${now}`);
  return row;
}

/** The user of a session that is still on, and what it has proven. */
export async function findSessionUser(
  db: Queryable,
  id: string,
  now: string,
): Promise<(UserRow & SessionProof) | undefined> {
  const [row] = await db.query<UserRow & SessionProof>(sql`
    select ${userColumns}, coalesce(s.proven_at, s.created_at) as "provenAt", s.factor_at as "factorAt",
      (exists (select 1 from totp_secrets t where t.user_id = u.id and t.confirmed_at is not null)
        or exists (select 1 from passkeys p where p.user_id = u.id)) as "hasFactor"
    from sessions s join users u on u.id = s.user_id
    where s.id = ${id} and s.ended_at is null and s.expires_at > ${now}`);
  return row;
}

export async function updateSessionProof(
  tx: Tx,
  id: string,
  proof: { provenAt: string; factorAt: string | null },
): Promise<void> {
  await tx.execute(sql`
    update sessions set proven_at = ${proof.provenAt}, factor_at = coalesce(${proof.factorAt}::timestamptz, factor_at)
    where id = ${id}`);
}

/** Whose it was; undefined when it was over already. */
export async function endSession(
  db: Queryable,
  id: string,
  reason: EndReason,
  at: string,
): Promise<{ id: string; email: string } | undefined> {
  const [owner] = await db.query<{ id: string; email: string }>(sql`
    update sessions s set ended_at = ${at}, end_reason = ${reason} from users u
    where s.id = ${id} and s.ended_at is null and u.id = s.user_id
    returning u.id, u.email`);
  return owner;
}

export async function updateSessionSeen(
  db: Queryable,
  id: string,
  seen: { userAgent: string | null; ip: string | null; at: string },
): Promise<void> {
  await db.execute(sql`
    update sessions set user_agent = ${seen.userAgent}, ip = ${seen.ip}, last_seen_at = ${seen.at}
    where id = ${id} and ended_at is null`);
}

export async function listSessionsOf(
  db: Queryable,
  userId: string,
  now: string,
  limit: number,
): Promise<Omit<AccountSession, 'current' | 'device' | 'place'>[]> {
  return db.query(sql`
    select id, user_agent as "userAgent", ip, created_at as "createdAt",
      coalesce(last_seen_at, created_at) as "lastSeenAt", expires_at as "expiresAt"
    from sessions where user_id = ${userId} and ended_at is null and expires_at > ${now}
    order by coalesce(last_seen_at, created_at) desc, id limit ${limit}`);
}

/** False when it is not a live session of this user. */
export async function endSessionOf(db: Queryable, userId: string, id: string, at: string): Promise<boolean> {
  const ended = await db.execute(sql`
    update sessions set ended_at = ${at}, end_reason = 'LOGOUT'
    where id = ${id} and user_id = ${userId} and ended_at is null`);
  return ended > 0;
}

/** Ends every session of the user, but for one that is named, and says which they were. */
export async function endSessionsOf(
  tx: Tx,
  userId: string,
  end: { reason: EndReason; at: string; except?: string | undefined },
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    update sessions set ended_at = ${end.at}, end_reason = ${end.reason}
    where user_id = ${userId} and ended_at is null and id is distinct from ${end.except ?? null}::uuid returning id`);
  return rows.map((row) => row.id);
}

export async function deleteExpiredSessions(db: Queryable, now: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from sessions where id in (select id from sessions where expires_at <= ${now} limit ${limit})`);
}
