import type { ChatUserMetadata } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Reader } from '../../../core/db.ts';
import { type Sql, sql } from '../../../core/sql.ts';

type Which = { by: 'id'; userId: string } | { by: 'page'; after: string; limit: number };

/** Of so many sessions that began last the end is looked at. */
const sessionsMax = 20;

/** One by id, known or not; or those with a record or a session, by their ids. */
export async function listUserMetadata(
  db: Reader,
  { projectId, environment }: ProjectScope,
  which: Which,
): Promise<ChatUserMetadata[]> {
  const inScope = sql`project_id = ${projectId} and environment = ${environment}`;
  return db.query<ChatUserMetadata>(sql`
    with recursive ${which.by === 'id' ? sql`ids as (select ${which.userId}::text as user_id)` : idsOf(inScope, which)}
    select i.user_id as "userId", u.user_id is not null as "hasRecord", u.name is not null as "hasName",
      u.avatar_url is not null as "hasAvatar", u.role,
      case when u.metadata <> '{}' then octet_length(u.metadata::text) else 0 end as "metadataBytes",
      u.created_at as "createdAt", u.updated_at as "updatedAt", coalesce(s.is_open, false) as "isConnected",
      case when not s.is_open then s.ended_at end as "lastSeenAt"
    from ids i
    left join lateral (select * from chat_users where ${inScope} and user_id = i.user_id limit 1) u on true
    cross join lateral (
      select bool_or(disconnected_at is null) as is_open, max(disconnected_at) as ended_at
      from (select disconnected_at from chat_connections where ${inScope} and user_id = i.user_id
            order by connected_at desc limit ${sessionsMax}) latest) s
    order by i.user_id`);
}

/** Sessions have no row for each user: from one user of the index to the next, however many sessions they have. */
const idsOf = (inScope: Sql, { after, limit }: Extract<Which, { by: 'page' }>): Sql => sql`
  seen (user_id, n) as (
    (select user_id, 1 from chat_connections where ${inScope} and user_id > ${after} order by user_id limit 1)
    union all
    select next.user_id, seen.n + 1 from seen cross join lateral (
      select user_id from chat_connections where ${inScope} and user_id > seen.user_id order by user_id limit 1) next
    where seen.n < ${limit}),
  recorded as (
    select user_id from chat_users where ${inScope} and user_id > ${after} order by user_id limit ${limit}),
  ids as (select user_id from seen union select user_id from recorded order by user_id limit ${limit})`;
