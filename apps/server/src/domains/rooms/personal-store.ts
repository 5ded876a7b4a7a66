import type { Db, Queryable } from '../../core/db.ts';
import {
  type Erasure,
  needleOf,
  type Person,
  type Place,
  placeAfter,
  withoutPerson,
} from '../../core/personal-data.ts';
import { empty, json, sql } from '../../core/sql.ts';

/** Stays keep their times and their room: minutes are counted from them. Who is still in goes with the next pass. */
export async function renameSessions(db: Queryable, erasure: Erasure, limit: number): Promise<number> {
  const { projectId, environment, userId, pseudonym } = erasure;
  return db.execute(sql`
    update participant_sessions set identity = ${pseudonym}, metadata = null
    where left_at is not null and ctid = any(array(
      select ctid from participant_sessions
      where project_id = ${projectId} and environment = ${environment} and identity = ${userId}
        and left_at is not null limit ${limit}))`);
}

export async function renameTokens(db: Queryable, erasure: Erasure, limit: number): Promise<number> {
  const { projectId, environment, userId, pseudonym } = erasure;
  return db.execute(sql`
    update rtc_tokens set identity = ${pseudonym}, metadata = null, claims_hash = null
    where ctid = any(array(
      select ctid from rtc_tokens
      where project_id = ${projectId} and environment = ${environment} and identity = ${userId} limit ${limit}))`);
}

/** The user's tokens are void everywhere: that they were void in a room need not be kept. */
export async function deleteCutoffsOf(db: Queryable, erasure: Erasure, limit: number): Promise<number> {
  const { projectId, environment, userId } = erasure;
  return db.execute(sql`
    delete from rtc_token_cutoffs c where c.ctid = any(array(
      select c.ctid from rtc_token_cutoffs c join rooms r on r.id = c.room_id
      where r.project_id = ${projectId} and r.environment = ${environment} and c.identity = ${userId}
      limit ${limit}))`);
}

/** Events of rooms that name the user, some rows further; the numbers have no gap, so the rows stay. */
export async function rewriteEvents(
  db: Db,
  erasure: Erasure,
  place: Place,
  limit: number,
): Promise<{ touched: number; next: Place }> {
  const after = place === null ? null : (JSON.parse(place) as [string, number]);
  return db.transaction(async (tx) => {
    const rows = await tx.query<{ roomId: string; seq: number; data: unknown }>(sql`
      select e.room_id as "roomId", e.seq,
        case when r.project_id = ${erasure.projectId} and r.environment = ${erasure.environment}
          and strpos(e.data::text, ${needleOf(erasure)}) > 0 then e.data end as data
      from (select * from room_events ${after ? sql`where (room_id, seq) > (${after[0]}, ${after[1]})` : empty}
            order by room_id, seq limit ${limit}) e
      join rooms r on r.id = e.room_id order by e.room_id, e.seq`);
    let touched = 0;
    for (const { roomId, seq, data } of rows) {
      const rewritten = json(withoutPerson(data, erasure));
      if (data === null || rewritten === json(data)) continue;
      touched += await tx.execute(sql`
        update room_events set data = ${rewritten}::jsonb where room_id = ${roomId} and seq = ${seq}`);
    }
    return { touched, next: placeAfter(rows, limit, ({ roomId, seq }) => [roomId, seq]) };
  });
}

/** By their ids, which begin with their times. */
export async function listSessionsOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Promise<{ rows: object[]; next: Place }> {
  const rows = await db.query<{ id: string }>(sql`
    select s.id, s.room_id as "roomId", r.name as "roomName", s.kind as "participantKind", s.token_id as "tokenId", s.permissions, s.metadata,
      s.region, s.created_at as "createdAt", s.joined_at as "joinedAt", s.left_at as "leftAt",
      s.left_reason as "leftReason"
    from participant_sessions s join rooms r on r.id = s.room_id
    where s.project_id = ${projectId} and s.environment = ${environment} and s.identity = ${userId}
      ${place === null ? empty : sql`and s.id > ${JSON.parse(place)}`}
    order by s.id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ id }) => id) };
}

export async function listTokensOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Promise<{ rows: object[]; next: Place }> {
  const rows = await db.query<{ id: string }>(sql`
    select id, room_id as "roomId", kind as "participantKind", is_test as "isTest", permissions, metadata, created_at as "createdAt",
      expires_at as "expiresAt", revoked_at as "revokedAt"
    from rtc_tokens where project_id = ${projectId} and environment = ${environment} and identity = ${userId}
      ${place === null ? empty : sql`and id > ${JSON.parse(place)}`}
    order by id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ id }) => id) };
}
