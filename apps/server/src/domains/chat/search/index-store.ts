import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { few, json, raw, type Sql, sql } from '../../../core/sql.ts';

/** A message by its place. */
export interface MessageKey {
  conversationUuid: string;
  position: number;
}

/** What terms are made of; no text when there is nothing to find, or no message. */
export interface IndexedMessage extends MessageKey, ProjectScope {
  text: string | null;
  senderId: string | null;
  hasAttachment: boolean;
  createdAt: string;
}

export interface Terms extends MessageKey {
  createdAt: string;
  /** Separated by spaces. */
  terms: string;
}

/** True while anything waits for its terms. */
export const isAnyWaiting = sql`(exists (select from search_pending) or exists (select from search_backlog))`;

/** What there is to do: asked first, since most of the time there is nothing, and one statement says so. */
export async function findWaiting(db: Queryable): Promise<{ pending: boolean; backlog: boolean }> {
  const [row] = await db.query<{ pending: boolean; backlog: boolean }>(sql`
    select exists (select from search_pending) as pending, exists (select from search_backlog) as backlog`);
  return row ?? { pending: false, backlog: false };
}

/** How many wait for their terms, as far as it matters. */
export async function countPending(db: Queryable, max: number): Promise<number> {
  const [row] = await db.query<{ total: number }>(sql`
    select count(*) as total from (select from search_pending limit ${max}) p`);
  return row?.total ?? 0;
}

/** Takes some of what waits: it is gone with the end of the transaction, for which another who takes at once waits. */
export const takePending = (tx: Tx, limit: number): Promise<MessageKey[]> =>
  tx.query<MessageKey>(sql`
    delete from search_pending where ctid = any(array(select ctid from search_pending limit ${limit}))
    returning conversation_id as "conversationUuid", position`);

const scope = raw('c.project_id as "projectId", c.environment');
const isThere = raw(`c.status <> 'DELETED'`);
const columns = raw(`case when m.deleted_at is null then m.text end as text, m.sender_id as "senderId",
  m.attachment_id is not null as "hasAttachment", m.created_at as "createdAt"`);

const given = (keys: readonly MessageKey[]): Sql =>
  few(sql`jsonb_to_recordset(${json(keys)}::jsonb) as k ("conversationUuid" uuid, position bigint)`, keys.length);

/** Those that are there. */
export async function readMessages(tx: Tx, keys: readonly MessageKey[]): Promise<IndexedMessage[]> {
  const messages = await tx.query<Omit<IndexedMessage, keyof ProjectScope>>(sql`
    select k."conversationUuid", k.position, ${columns}
    from ${given(keys)} k
    cross join lateral (
      select text, sender_id, attachment_id, created_at, deleted_at from messages
      where conversation_id = k."conversationUuid" and position = k.position limit 1) m`);
  const scopes = await readScopes(tx, [...new Set(keys.map(({ conversationUuid }) => conversationUuid))]);
  return messages.flatMap((message) => {
    const found = scopes.get(message.conversationUuid);
    return found ? [{ ...message, ...found }] : [];
  });
}

/** Asked once for each conversation: most messages share one with others. */
async function readScopes(tx: Tx, uuids: readonly string[]): Promise<Map<string, ProjectScope>> {
  const rows = await tx.query<ProjectScope & { uuid: string }>(sql`
    select k.uuid, ${scope} from ${few(sql`unnest(${uuids}::uuid[]) as k (uuid)`, uuids.length)} k
    cross join lateral (select project_id, environment, status from conversations where id = k.uuid limit 1) c
    where ${isThere}`);
  return new Map(rows.map(({ uuid, projectId, environment }) => [uuid, { projectId, environment }]));
}

export async function writeTerms(tx: Tx, rows: readonly Terms[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.execute(sql`
    insert into message_search (conversation_id, position, created_at, terms)
    select r."conversationUuid", r.position, r."createdAt", array_to_tsvector(string_to_array(r.terms, ' '))
    from jsonb_to_recordset(${json(rows)}::jsonb)
      as r ("conversationUuid" uuid, position bigint, "createdAt" timestamptz, terms text)
    on conflict (conversation_id, position) do update set terms = excluded.terms, created_at = excluded.created_at`);
}

export async function removeTerms(tx: Tx, keys: readonly MessageKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.execute(sql`
    delete from message_search s using ${given(keys)} k
    where s.conversation_id = k."conversationUuid" and s.position = k.position`);
}

/** The next messages of a conversation from before; null when there is none. */
export async function takeBacklog(tx: Tx, limit: number): Promise<IndexedMessage[] | null> {
  const [next] = await tx.query<{ id: string; done: number }>(sql`
    select conversation_id as id, done from search_backlog limit 1 for update skip locked`);
  if (!next) return null;
  const rows = await tx.query<IndexedMessage>(sql`
    select m.conversation_id as "conversationUuid", m.position, ${scope}, ${columns}
    from messages m join conversations c on c.id = m.conversation_id and ${isThere}
    where m.conversation_id = ${next.id} and m.position > ${next.done} order by m.position limit ${limit}`);
  await tx.execute(
    rows.length < limit
      ? sql`delete from search_backlog where conversation_id = ${next.id}`
      : sql`update search_backlog set done = ${rows.at(-1)?.position ?? 0} where conversation_id = ${next.id}`,
  );
  return rows;
}

/** Part of a statement that changes or deletes a message: its terms are of a text that is no more. */
export const markForSearch = ({ conversationUuid, position }: MessageKey): Sql => sql`
  unsearched as (
    insert into search_pending (conversation_id, position) values (${conversationUuid}, ${position})),`;
