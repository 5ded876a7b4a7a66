import type { AttachmentMedia, Waveform } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Db, Queryable, Tx } from '../../../core/db.ts';
import { hasFirst } from '../../../core/due-store.ts';
import { json, type Sql, sql } from '../../../core/sql.ts';
import { fairly } from '../upkeep/fair-store.ts';
import type { ClaimRange } from '../upkeep/triggered-work.ts';

/** A file that one process looks at until its claim runs out. */
export interface ClaimedFile extends ProjectScope {
  id: string;
  conversationUuid: string;
  conversationId: string;
  blobKey: string;
  mimeType: string;
  size: number;
  /** As its uploader gave it. */
  waveform: Waveform | null;
  tries: number;
  /** Other rows may have the same bytes. */
  isShared: boolean;
}

const due = (now: string): Sql => sql`media_due_at <= ${now} and status in ('UPLOADED', 'ATTACHED')`;

/** True while `claimMedia` finds any. */
export const isMediaDue = (now: string): Sql => hasFirst(sql`from attachments where ${due(now)}`, 'media_due_at');

/** Takes what is due, and what another process began and did not end. */
export async function claimMedia(db: Db, { now, until, limit }: ClaimRange): Promise<ClaimedFile[]> {
  const next = fairly(
    sql`select id, conversation_id, uploader_id as owner, media_due_at as at from attachments
      where ${due(now)} order by media_due_at`,
    limit,
  );
  return db.query<ClaimedFile>(sql`
    with claimed as (
      update attachments set media_due_at = ${until}, media_tries = media_tries + 1
      where id in (
        select id from attachments where id = any(array(${next})) and media_due_at <= ${now}
        for update skip locked)
      returning *)
    select a.id, c.id as "conversationUuid", c.public_id as "conversationId", c.project_id as "projectId",
      c.environment, a.blob_key as "blobKey", a.mime_type as "mimeType", a.size, a.waveform, a.media_tries as tries, a.shared as "isShared"
    from claimed a join conversations c on c.id = a.conversation_id order by a.created_at`);
}

/** Another row of the same bytes that was read. */
export async function findRead(
  db: Queryable,
  { id, blobKey }: Pick<ClaimedFile, 'id' | 'blobKey'>,
): Promise<{ id: string; media: AttachmentMedia } | undefined> {
  const [row] = await db.query<{ id: string; media: AttachmentMedia }>(sql`
    select id, media from attachments where shared and blob_key = ${blobKey} and id <> ${id} and media is not null
      and status in ('UPLOADED', 'ATTACHED') limit 1`);
  return row;
}

/** The end of a claim; undefined when the file is gone or another has ended it. */
export async function endMedia(
  tx: Tx,
  id: string,
  media: AttachmentMedia | null,
): Promise<{ messageId: string | null } | undefined> {
  const [row] = await tx.query<{ messageId: string | null }>(sql`
    update attachments set media = ${media && json(media)}::jsonb, media_due_at = null
    where id = ${id} and media_due_at is not null and status in ('UPLOADED', 'ATTACHED')
    returning message_id as "messageId"`);
  return row;
}

/** Once more later, as if it had not been tried: the store was away. */
export async function postponeMedia(db: Queryable, id: string, until: string): Promise<void> {
  await db.execute(sql`
    update attachments set media_due_at = ${until}, media_tries = greatest(1, media_tries - 1)
    where id = ${id} and media_due_at is not null`);
}
