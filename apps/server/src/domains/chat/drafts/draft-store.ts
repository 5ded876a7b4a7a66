import type { MessageDraft } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable } from '../../../core/db.ts';
import { empty, json, sql } from '../../../core/sql.ts';

export type DraftRow = MessageDraft & { conversationUuid: string };

const columns = sql`d.conversation_id as "conversationUuid", c.public_id as "conversationId", d.user_id as "userId",
  d.text, d.reply_to as "replyTo", d.metadata, d.revision, d.updated_at as "updatedAt"`;
/** Of active members alone: who left has no draft there, until they are back. */
const ofMember = sql`join conversations c on c.id = d.conversation_id and c.status <> 'DELETED'
  join conversation_members p on p.conversation_id = c.id and p.user_id = d.user_id and p.active`;

interface NewDraft {
  text: string;
  replyTo: string | null;
  metadata: object;
  at: string;
}

/**
 * The row's lock orders writes; the last one has the largest revision, also after a deletion between them. Nothing for
 * who is no member: the member's lock keeps an erasure from passing by.
 */
export async function writeDraft(
  db: Queryable,
  conversationUuid: string,
  userId: string,
  { text, replyTo, metadata, at }: NewDraft,
): Promise<MessageDraft | undefined> {
  const [row] = await db.query<MessageDraft>(sql`
    with d as (
      insert into chat_drafts (conversation_id, user_id, text, reply_to, metadata, revision, updated_at)
      select p.conversation_id, p.user_id, ${text}, ${replyTo}, ${json(metadata)}::jsonb,
             (extract(epoch from ${at}::timestamptz) * 1000)::bigint, ${at}::timestamptz
      from conversation_members p
      where p.conversation_id = ${conversationUuid} and p.user_id = ${userId} and p.active
      for key share
      on conflict (conversation_id, user_id) do update set text = excluded.text, reply_to = excluded.reply_to,
        metadata = excluded.metadata, updated_at = excluded.updated_at,
        revision = greatest(chat_drafts.revision + 1, excluded.revision)
      returning *)
    select c.public_id as "conversationId", d.user_id as "userId", d.text, d.reply_to as "replyTo", d.metadata,
           d.revision, d.updated_at as "updatedAt"
    from d join conversations c on c.id = d.conversation_id`);
  return row;
}

export async function deleteDraft(db: Queryable, conversationUuid: string, userId: string): Promise<boolean> {
  return (
    (await db.execute(sql`
    delete from chat_drafts where conversation_id = ${conversationUuid} and user_id = ${userId}`)) === 1
  );
}

export async function findDraft(
  db: Queryable,
  conversationUuid: string,
  userId: string,
): Promise<DraftRow | undefined> {
  const [row] = await db.query<DraftRow>(sql`
    select ${columns} from chat_drafts d ${ofMember}
    where d.conversation_id = ${conversationUuid} and d.user_id = ${userId}`);
  return row;
}

interface DraftPage {
  userId: string;
  /** Only these public ids; null for all. */
  listed: readonly string[] | null;
  after: readonly [updatedAt: string, uuid: string] | null;
  limit: number;
}

/** Written last first. */
export async function listDrafts(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  { userId, listed, after, limit }: DraftPage,
): Promise<DraftRow[]> {
  return db.query<DraftRow>(sql`
    select ${columns} from chat_drafts d ${ofMember}
    where d.user_id = ${userId} and c.project_id = ${projectId} and c.environment = ${environment}
      ${listed === null ? empty : sql`and c.public_id = any(${listed})`}
      ${after === null ? empty : sql`and (d.updated_at, d.conversation_id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
    order by d.updated_at desc, d.conversation_id desc limit ${limit}`);
}
