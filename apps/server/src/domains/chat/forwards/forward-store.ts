import type { ForwardedFrom } from '@parley/contract';
import type { Queryable, Tx } from '../../../core/db.ts';
import { few, json, sql } from '../../../core/sql.ts';
import { filesOf } from '../messages/json-store.ts';
import { sentWith } from '../messages/send-store.ts';

/** What is passed on of a message. */
export interface Source {
  id: string;
  text: string | null;
  /** Where it was first said. */
  from: ForwardedFrom;
  attachmentIds: readonly string[];
}

/** A message that is there; undefined for a tombstone. */
export async function findSource(db: Queryable, id: string): Promise<Source | undefined> {
  const [row] = await db.query<{
    text: string | null;
    senderId: string | null;
    createdAt: string;
    forwarded: ForwardedFrom | null;
    attachmentIds: string[];
  }>(sql`
    select m.text, m.sender_id as "senderId", m.created_at as "createdAt", m.forwarded,
      array(select f.id from ${filesOf('m')} f (id, n) where f.id is not null order by f.n) as "attachmentIds"
    from messages m where m.id = ${id} and m.deleted_at is null`);
  if (!row) return undefined;
  const { text, senderId, createdAt, forwarded, attachmentIds } = row;
  return { id, text, attachmentIds, from: forwarded ?? { messageId: id, senderId, createdAt } };
}

/**
 * Holds the files of a message that is not deleted until the end of the transaction, and marks them as shared: who
 * deletes one of them later finds the other rows. Fewer than asked for when one is gone.
 */
export async function holdFiles(tx: Tx, source: Source): Promise<{ id: string; size: number }[]> {
  return tx.query(sql`
    update attachments a set shared = true
    from messages m
    where m.id = ${source.id} and m.deleted_at is null and a.id = any(${source.attachmentIds}) and a.status = 'ATTACHED'
      and a.message_id = m.id
    returning a.id, a.size`);
}

interface Copies {
  /** By the file they are of. */
  ids: readonly { of: string; id: string }[];
  conversationUuid: string;
  uploaderId: string | null;
  at: string;
  expiresAt: string;
}

/** Rows of their own for files that are held: completed, looked at anew, and as clean as the others. */
export async function insertCopies(
  tx: Tx,
  { ids, conversationUuid, uploaderId, at, expiresAt }: Copies,
): Promise<void> {
  await tx.execute(sql`
    insert into attachments (id, conversation_id, filename, mime_type, size, status, uploader_id, metadata, checksum,
                             blob_key, uploaded_at, created_at, completed_at, expires_at, shared, origin_uploader_id,
                             waveform, media_due_at, scan, scan_reason, scan_due_at)
    select n.id, ${conversationUuid}, a.filename, a.mime_type, a.size, 'UPLOADED', ${uploaderId}, a.metadata, a.checksum,
           a.blob_key, a.uploaded_at, ${at}, ${at}, ${expiresAt}, true, coalesce(a.origin_uploader_id, a.uploader_id),
           a.waveform, case when a.media is not null or a.media_due_at is not null then ${at}::timestamptz end,
           a.scan, a.scan_reason, case when a.scan = 'PENDING' then ${at}::timestamptz end
    from ${few(sql`jsonb_to_recordset(${json(ids)}::jsonb) as n ("of" text, id text)`, ids.length)} n
    join attachments a on a.id = n."of"`);
}

/** Copies that no message took go with the next sweep. */
export async function releaseCopies(db: Queryable, ids: readonly string[], at: string): Promise<void> {
  await db.execute(sql`
    update attachments set expires_at = ${at} where id = any(${ids}) and status = 'UPLOADED'`);
}

/** Where an earlier attempt with the same id of the client's has stored the message. */
export async function findEarlier(
  db: Queryable,
  conversationUuid: string,
  senderId: string | null,
  clientMessageId: string,
): Promise<number | undefined> {
  const [row] = await db.query<{ position: number }>(sql`
    select m.position
    from (select ${conversationUuid}::uuid as conversation, ${senderId}::text as sender, ${clientMessageId}::text as id) i
    cross join lateral ${sentWith('i.conversation', 'i.sender', 'i.id')} m`);
  return row?.position;
}
