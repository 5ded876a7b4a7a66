import type { Attachment, AttachmentScan } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Db, Queryable, Tx } from '../../../core/db.ts';
import { hasFirst } from '../../../core/due-store.ts';
import { empty, type Sql, sql } from '../../../core/sql.ts';
import { fairly } from '../upkeep/fair-store.ts';
import type { ClaimRange } from '../upkeep/triggered-work.ts';

/** A file that a scanner is asked about. */
export interface ScannedFile
  extends ProjectScope,
    Pick<Attachment, 'id' | 'filename' | 'mimeType' | 'size' | 'checksum' | 'uploaderId'> {
  conversationUuid: string;
  conversationId: string;
  blobKey: string;
  tries: number;
}

/** What its end needs of it. */
export type EndingFile = ProjectScope & Pick<ScannedFile, 'id' | 'conversationUuid' | 'conversationId' | 'blobKey'>;

const columns = sql`a.id, c.id as "conversationUuid", c.public_id as "conversationId", c.project_id as "projectId",
  c.environment, a.filename, a.mime_type as "mimeType", a.size, a.checksum, a.uploader_id as "uploaderId",
  a.blob_key as "blobKey", a.scan_tries as tries`;

const due = (now: string): Sql => sql`scan_due_at <= ${now} and status in ('UPLOADED', 'ATTACHED')`;

/** True while `claimScans` finds any. */
export const isScanDue = (now: string): Sql => hasFirst(sql`from attachments where ${due(now)}`, 'scan_due_at');

/** Takes what is due, and what another process began and did not end. */
export async function claimScans(db: Db, { now, until, limit }: ClaimRange): Promise<ScannedFile[]> {
  const next = fairly(
    sql`select id, conversation_id, uploader_id as owner, scan_due_at as at from attachments
      where ${due(now)} order by scan_due_at`,
    limit,
  );
  return db.query<ScannedFile>(sql`
    with claimed as (
      update attachments set scan_due_at = ${until}, scan_tries = scan_tries + 1
      where id in (
        select id from attachments where id = any(array(${next})) and scan_due_at <= ${now}
        for update skip locked)
      returning *)
    select ${columns} from claimed a join conversations c on c.id = a.conversation_id`);
}

/** Asked again then; null: not again. */
export async function postponeScan(db: Queryable, id: string, until: string | null): Promise<void> {
  await db.execute(sql`update attachments set scan_due_at = ${until} where id = ${id} and scan = 'PENDING'`);
}

interface EndedScan {
  messageId: string | null;
  uploaderId: string | null;
}

/** Undefined when the file is gone, or that was known already; of a hook also when somebody else has said it. */
export async function endScan(
  tx: Tx,
  id: string,
  end: { scan: AttachmentScan; reason: string | null; isOfHook: boolean },
): Promise<EndedScan | undefined> {
  const [row] = await tx.query<EndedScan>(sql`
    update attachments set scan = ${end.scan}, scan_reason = ${end.reason}, scan_due_at = null
    where id = ${id} and status in ('UPLOADED', 'ATTACHED') and scan is distinct from ${end.scan}
      ${end.isOfHook ? sql`and scan = 'PENDING'` : empty}
    returning message_id as "messageId", uploader_id as "uploaderId"`);
  return row;
}

/** The rows of other messages that the same file was passed on to. */
export async function listCopies(db: Queryable, id: string, blobKey: string): Promise<EndingFile[]> {
  return db.query<EndingFile>(sql`
    select ${columns} from attachments a join conversations c on c.id = a.conversation_id
    where a.shared and a.blob_key = ${blobKey} and a.id <> ${id} and a.status in ('UPLOADED', 'ATTACHED')`);
}

/** Those that wait for a hook that is no more are asked for at once, which lets them go. */
export async function makeScansDue(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  now: string,
): Promise<void> {
  await db.execute(sql`
    update attachments a set scan_due_at = ${now} from conversations c
    where c.id = a.conversation_id and c.project_id = ${projectId} and c.environment = ${environment}
      and a.scan = 'PENDING' and a.status in ('UPLOADED', 'ATTACHED')`);
}
