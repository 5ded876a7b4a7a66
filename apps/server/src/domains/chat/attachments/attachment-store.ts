import type { Attachment, AttachmentStatus, ChatMemberRole, Environment, Waveform } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { lockByName } from '../../../core/quotas.ts';
import { empty, json, sql } from '../../../core/sql.ts';

const columns = sql`a.id, a.id as "publicId", c.public_id as "conversationId", a.filename, a.mime_type as "mimeType",
  a.size, a.status, a.uploader_id as "uploaderId", a.metadata, a.checksum, a.created_at as "createdAt",
  a.completed_at as "completedAt", a.message_id as "messageId", a.media, a.scan`;

const ruleColumns = sql`c.project_id as "projectId", c.environment, a.blob_key as "blobKey", a.uploaded_at is not null as "isUploaded",
  a.expires_at as "expiresAt", c.status = 'ARCHIVED' as "isArchived", c.id as "conversationUuid",
  exists (select from shadow_messages s where s.id = a.message_id) as "isShadow"`;

/** An attachment and what the rules ask of it. */
export interface AttachmentEntry extends Attachment {
  projectId: string;
  environment: Environment;
  conversationUuid: string;
  blobKey: string;
  isUploaded: boolean;
  /** From then on it is gone; null once a message carries it. */
  expiresAt: string | null;
  /** Its conversation takes no new content. */
  isArchived: boolean;
  /** The message that carries it is its sender's alone (ADR 211). */
  isShadow: boolean;
  /** Of the asking user in its conversation; null when there is none. */
  role: ChatMemberRole | null;
}

export interface NewAttachment {
  id: string;
  conversationUuid: string;
  filename: string;
  mimeType: string;
  size: number;
  uploaderId: string | null;
  metadata: object;
  blobKey: string;
  at: string;
  expiresAt: string;
  waveform: Waveform | null;
}

/**
 * Inserts unless the uploader or the environment has too many that were never completed; false then. There is no row
 * to lock for a count over conversations: a lock by name makes the next one see what was counted before it.
 */
export async function insertAttachment(
  tx: Tx,
  scope: ProjectScope,
  row: NewAttachment,
  quota: { perUploader: number; perEnvironment: number },
): Promise<boolean> {
  await tx.query(lockByName(`attachments ${scope.projectId} ${scope.environment}`));
  return (await tx.query(insertWithin(scope, row, quota))).length === 1;
}

const insertWithin = (
  { projectId, environment }: ProjectScope,
  row: NewAttachment,
  quota: { perUploader: number; perEnvironment: number },
) => sql`
    insert into attachments (id, conversation_id, filename, mime_type, size, uploader_id, metadata, blob_key, created_at,
                             expires_at, waveform)
    select ${row.id}, ${row.conversationUuid}, ${row.filename}, ${row.mimeType}, ${row.size}, ${row.uploaderId},
           ${json(row.metadata)}::jsonb, ${row.blobKey}, ${row.at}, ${row.expiresAt}, ${row.waveform && json(row.waveform)}::jsonb
    from (
      select count(*) as of_environment, count(*) filter (where a.uploader_id = ${row.uploaderId}) as of_uploader
      from attachments a join conversations c on c.id = a.conversation_id
      where a.status = 'PENDING' and a.expires_at > ${row.at} and c.project_id = ${projectId}
        and c.environment = ${environment}) pending
    where of_environment < ${quota.perEnvironment} and of_uploader < ${quota.perUploader}
    returning id`;

/** By id alone: for a signed URL, which is the right to it. Nothing is shown before the signature is checked. */
export async function findSignedAttachment(db: Queryable, id: string): Promise<AttachmentEntry | undefined> {
  const [row] = await db.query<AttachmentEntry>(sql`
    select ${columns}, ${ruleColumns}, null as role
    from attachments a join conversations c on c.id = a.conversation_id
    where a.id = ${id} and c.status <> 'DELETED'`);
  return row;
}

export async function findAttachment(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  id: string,
  userId: string | null,
): Promise<AttachmentEntry | undefined> {
  const [row] = await db.query<AttachmentEntry>(sql`
    select ${columns}, ${ruleColumns}, p.role
    from attachments a join conversations c on c.id = a.conversation_id
    left join conversation_members p on p.conversation_id = c.id and p.user_id = ${userId} and p.active
    where a.id = ${id} and c.project_id = ${projectId} and c.environment = ${environment} and c.status <> 'DELETED'`);
  return row;
}

/** Notes that bytes have arrived; true for the first upload only: a URL is good for one. */
export async function markUploaded(db: Queryable, id: string, blobKey: string, at: string): Promise<boolean> {
  const touched = await db.execute(sql`
    update attachments set blob_key = ${blobKey}, uploaded_at = ${at}
    where id = ${id} and status = 'PENDING' and uploaded_at is null and expires_at > ${at}`);
  return touched === 1;
}

/** PENDING to UPLOADED, in its time; true for the one who did it. */
export async function markCompleted(
  db: Queryable,
  id: string,
  file: { blobKey: string; checksum: string; at: string; expiresAt: string; isMedia: boolean; isScanned: boolean },
): Promise<boolean> {
  const touched = await db.execute(sql`
    update attachments set status = 'UPLOADED', blob_key = ${file.blobKey}, checksum = ${file.checksum},
      completed_at = ${file.at}, expires_at = ${file.expiresAt}
      ${file.isMedia ? sql`, media_due_at = ${file.at}` : empty}
      ${file.isScanned ? sql`, scan = 'PENDING', scan_due_at = ${file.at}` : empty}
    where id = ${id} and status = 'PENDING' and expires_at > ${file.at}`);
  return touched === 1;
}

/**
 * Takes attachments whose time is over; from here on they cannot be sent or fetched. One that is being read waits for
 * the end of that: it may be about to get smaller sizes.
 */
export async function takeExpired(
  db: Queryable,
  now: string,
  limit: number,
): Promise<{ id: string; blobKey: string; status: AttachmentStatus; hasSizes: boolean; isShared: boolean }[]> {
  return db.query(sql`
    update attachments a set status = 'EXPIRED', expires_at = ${now}, media_due_at = null, scan_due_at = null
    where a.id in (select id from attachments
                   where expires_at < ${now} and (media_tries = 0 or coalesce(media_due_at <= ${now}, true))
                   order by expires_at limit ${limit} for update skip locked)
    returning a.id, a.blob_key as "blobKey", a.status, a.media_tries > 0 as "hasSizes", a.shared as "isShared"`);
}

/**
 * Those of the files that another message holds. Asked after the expiry is stored: of two rows that expire at once, the
 * later sees that it is the last.
 */
export async function findHeld(db: Queryable, blobKeys: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ blobKey: string }>(sql`
    select distinct blob_key as "blobKey" from attachments
    where shared and blob_key = any(${blobKeys}) and status <> 'EXPIRED'`);
  return new Set(rows.map(({ blobKey }) => blobKey));
}

/** What a deleted file took up, and of whose quota. */
export interface FreedFile extends ProjectScope {
  uploaderId: string | null;
  size: number;
}

export async function deleteAttachments(tx: Tx, ids: readonly string[]): Promise<FreedFile[]> {
  return tx.query(sql`
    delete from attachments a using conversations c
    where c.id = a.conversation_id and a.id = any(${ids}) and a.status = 'EXPIRED'
    returning c.project_id as "projectId", c.environment, a.uploader_id as "uploaderId", a.size`);
}
