import type { Sanction, SanctionKind } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { lockByName } from '../../../core/quotas.ts';
import { empty, sql } from '../../../core/sql.ts';

/** Where a sanction holds: the id of a conversation, or everywhere in the environment. */
export type Place = string;
export const everywhere: Place = '';

interface SanctionKey extends ProjectScope {
  place: Place;
  kind: SanctionKind;
  userId: string;
}

const columns = sql`s.kind, s.user_id as "userId", nullif(s.place, '') as "conversationId", s.until, s.reason,
  s.imposed_by as "imposedBy", s.created_at as "createdAt"`;

const inForce = (now: string) => sql`(s.until is null or s.until > ${now})`;

const matches = ({ projectId, environment, place, kind, userId }: SanctionKey) =>
  sql`s.project_id = ${projectId} and s.environment = ${environment} and s.place = ${place} and s.kind = ${kind}
    and s.user_id = ${userId}`;

/** What holds for a user in any of these places; what is everywhere comes first. */
export async function findSanctions(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  places: readonly Place[],
  userId: string,
  now: string,
): Promise<Sanction[]> {
  return db.query<Sanction>(sql`
    select ${columns} from chat_sanctions s
    where s.project_id = ${projectId} and s.environment = ${environment} and s.place = any(${places}::text[])
      and s.user_id = ${userId} and ${inForce(now)}
    order by s.place, s.kind`);
}

/** Null when the place has as many as it may. The last word counts, and the first time. */
export async function upsertSanction(
  tx: Tx,
  key: SanctionKey,
  { until, reason, by, at, max }: { until: string | null; reason: string | null; by: string; at: string; max: number },
): Promise<Sanction | null> {
  const { projectId, environment, place, kind, userId } = key;
  // There is no row to lock for a count: a lock by name makes the next one see what was counted before it.
  await tx.query(lockByName(`sanctions ${projectId} ${environment} ${place}`));
  const [row] = await tx.query<Sanction>(sql`
    insert into chat_sanctions as s (project_id, environment, place, kind, user_id, until, reason, imposed_by, created_at)
    select ${projectId}, ${environment}, ${place}, ${kind}, ${userId}, ${until}, ${reason}, ${by}, ${at}
    where exists (select from chat_sanctions s where ${matches(key)}) or ${max} > (
      select count(*) from (
        select from chat_sanctions s where s.project_id = ${projectId} and s.environment = ${environment}
          and s.place = ${place} and s.kind = ${kind} limit ${max}) counted)
    on conflict (project_id, environment, place, kind, user_id) do update set
      until = excluded.until, reason = excluded.reason, imposed_by = excluded.imposed_by, created_at = excluded.created_at
    returning ${columns}`);
  return row ?? null;
}

/** What was lifted; undefined when nothing held. */
export async function deleteSanction(tx: Tx, key: SanctionKey, now: string): Promise<Sanction | undefined> {
  const [row] = await tx.query<Sanction & { isOver: boolean }>(sql`
    delete from chat_sanctions s where ${matches(key)} returning ${columns}, not ${inForce(now)} as "isOver"`);
  if (!row || row.isOver) return undefined;
  const { isOver: _isOver, ...sanction } = row;
  return sanction;
}

/** Latest first. */
export async function listSanctions(
  db: Queryable,
  { projectId, environment, place, kind }: Omit<SanctionKey, 'userId'>,
  page: { now: string; after: readonly [string, string] | null; except: string | null; limit: number },
): Promise<Sanction[]> {
  const { now, after, except, limit } = page;
  return db.query<Sanction>(sql`
    select ${columns} from chat_sanctions s
    where s.project_id = ${projectId} and s.environment = ${environment} and s.place = ${place} and s.kind = ${kind}
      and ${inForce(now)} ${except === null ? empty : sql`and s.user_id <> ${except}`}
      ${after === null ? empty : sql`and (s.created_at, s.user_id) < (${after[0]}::timestamptz, ${after[1]})`}
    order by s.created_at desc, s.user_id desc limit ${limit}`);
}

/** Of every kind in one place: by kind, latest first. */
export async function listAllSanctions(
  db: Queryable,
  { projectId, environment, place }: Omit<SanctionKey, 'userId' | 'kind'>,
  { now, after, limit }: { now: string; after: readonly [SanctionKind, string, string] | null; limit: number },
): Promise<Sanction[]> {
  return db.query<Sanction>(sql`
    select ${columns} from chat_sanctions s
    where s.project_id = ${projectId} and s.environment = ${environment} and s.place = ${place} and ${inForce(now)}
      ${
        after === null
          ? empty
          : sql`and s.kind >= ${after[0]}
              and (s.kind > ${after[0]} or (s.created_at, s.user_id) < (${after[1]}::timestamptz, ${after[2]}))`
      }
    order by s.kind, s.created_at desc, s.user_id desc limit ${limit}`);
}

/** Who was banned from all chat since, in any project. */
export async function listBannedSince(
  db: Queryable,
  since: string,
  now: string,
): Promise<(ProjectScope & { userId: string })[]> {
  return db.query(sql`
    select s.project_id as "projectId", s.environment, s.user_id as "userId" from chat_sanctions s
    where s.place = '' and s.kind = 'BAN' and s.created_at >= ${since} and ${inForce(now)}`);
}

/** Where the statement that stores messages looks. */
export async function setSilenced(
  tx: Tx,
  conversationUuid: string,
  userId: string,
  until: string | null,
): Promise<void> {
  await tx.execute(sql`
    update conversation_members set silenced_until = ${until}
    where conversation_id = ${conversationUuid} and user_id = ${userId}`);
}

/** The same for shadows. */
export async function setShadowed(tx: Tx, conversationUuid: string, userId: string, until: string): Promise<void> {
  await tx.execute(sql`
    update conversation_members set shadowed_until = ${until}
    where conversation_id = ${conversationUuid} and user_id = ${userId}`);
}

/** The time stays: it says that the member may have messages of their own there. */
export async function endShadow(tx: Tx, conversationUuid: string, userId: string, at: string): Promise<void> {
  await tx.execute(sql`
    update conversation_members set shadowed_until = ${at}
    where conversation_id = ${conversationUuid} and user_id = ${userId} and shadowed_until > ${at}`);
}

export async function deleteOverSanctions(db: Queryable, now: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from chat_sanctions where ctid = any(array(
      select ctid from chat_sanctions where until <= ${now} order by until limit ${limit}))`);
}
