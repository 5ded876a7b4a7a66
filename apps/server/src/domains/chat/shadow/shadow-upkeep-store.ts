import type { Db, Queryable, Tx } from '../../../core/db.ts';
import {
  type Erasure,
  needleOf,
  type Person,
  type Place,
  placeAfter,
  withoutPerson,
} from '../../../core/personal-data.ts';
import { empty, json, type Sql, sql } from '../../../core/sql.ts';
import { messageJson } from '../messages/json-store.ts';

/** Takes messages of the shadow for good, and what hangs on them; `which` gives their `n`. Resolves with how many. */
async function deleteShadow(db: Queryable, which: Sql, at: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    with gone as (delete from shadow_messages where n = any(array(${which})) returning id),
    reacted as (delete from reactions where message_id in (select id from gone)),
    reported as (delete from chat_reports where message_id in (select id from gone)),
    filed as (
      update attachments set status = 'EXPIRED', expires_at = ${at}
      where message_id in (select id from gone) and status <> 'EXPIRED')
    select count(*) as count from gone`);
  return row?.count ?? 0;
}

/** Those that are older than the retention of the conversation allows. */
export const retireShadow = (
  db: Queryable,
  conversationUuid: string,
  { before, now, limit }: { before: string; now: string; limit: number },
): Promise<number> =>
  deleteShadow(
    db,
    sql`select n from shadow_messages where conversation_id = ${conversationUuid} and created_at < ${before}
      order by n limit ${limit}`,
    now,
  );

/** Some of what was in an erased conversation. */
export const eraseShadowIn = (db: Queryable, conversationUuid: string, at: string, limit: number): Promise<number> =>
  deleteShadow(db, sql`select n from shadow_messages where conversation_id = ${conversationUuid} limit ${limit}`, at);

const ofPerson = ({ projectId, environment, userId }: Person): Sql =>
  sql`m.sender_id = ${userId} and c.project_id = ${projectId} and c.environment = ${environment}`;

/** What an erased user sent: nobody else has it, so it goes in any case. */
export const eraseShadowOf = (db: Queryable, erasure: Erasure, at: string, limit: number): Promise<number> =>
  deleteShadow(
    db,
    sql`select m.n from shadow_messages m join conversations c on c.id = m.conversation_id
      where ${ofPerson(erasure)} limit ${limit}`,
    at,
  );

/** What others said of an erased user there, some rows further. */
export async function rewriteShadow(
  db: Db,
  erasure: Erasure,
  place: Place,
  limit: number,
): Promise<{ touched: number; next: Place }> {
  return db.transaction(async (tx) => {
    const rows = await tx.query<{ n: number; data: { deletedBy: string | null } | null }>(sql`
      select m.n, case when c.project_id = ${erasure.projectId} and c.environment = ${erasure.environment}
          and strpos(d.data::text, ${needleOf(erasure)}) > 0 then d.data end as data
      from (select * from shadow_messages ${place ? sql`where n > ${JSON.parse(place)}` : empty}
            order by n limit ${limit}) m
      join conversations c on c.id = m.conversation_id
      cross join lateral (select jsonb_build_object('mentions', m.mentions, 'metadata', m.metadata,
        'forwarded', m.forwarded, 'deletedBy', m.deleted_by) as data) d
      order by m.n`);
    let touched = 0;
    for (const { n, data } of rows) {
      const rewritten = json(withoutPerson(data, erasure));
      if (data === null || rewritten === json(data)) continue;
      touched += await tx.execute(sql`
        update shadow_messages set mentions = nullif(d.data->'mentions', 'null'), metadata = d.data->'metadata',
          forwarded = nullif(d.data->'forwarded', 'null'), deleted_by = d.data->>'deletedBy'
        from (select ${rewritten}::jsonb as data) d where n = ${n}`);
    }
    return { touched, next: placeAfter(rows, limit, ({ n }) => n) };
  });
}

/** What a user sent there, as their other messages are exported. */
export async function listShadowOf(
  db: Queryable,
  person: Person,
  place: Place,
  limit: number,
): Promise<{ rows: object[]; next: Place }> {
  const rows = await db.query<{ n: number; message: object }>(sql`
    select m.n, ${messageJson(null)} as message from shadow_messages m join conversations c on c.id = m.conversation_id
    where ${ofPerson(person)} and c.status <> 'DELETED' ${place === null ? empty : sql`and m.n > ${JSON.parse(place)}`}
    order by m.n limit ${limit}`);
  return { rows: rows.map(({ message }) => message), next: placeAfter(rows, limit, ({ n }) => n) };
}

/** Those of a user in one conversation that are not deleted. */
export async function listOwnShadow(
  tx: Tx,
  conversationUuid: string,
  userId: string,
  { before, limit }: { before: string; limit: number },
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    select id from shadow_messages where conversation_id = ${conversationUuid} and sender_id = ${userId}
      and deleted_at is null and created_at <= ${before} order by n limit ${limit}`);
  return rows.map(({ id }) => id);
}
