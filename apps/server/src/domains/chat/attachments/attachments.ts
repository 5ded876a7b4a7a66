import type { Readable } from 'node:stream';
import { type Attachment, type AttachmentUpload, fail, type Limits, type RequestAttachment } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Keyring } from '../../../core/keyring.ts';
import { BlobSizeMismatch, type Blobs } from '../../../core/ports.ts';
import { ownerOf, type Quotas } from '../../../core/quotas.ts';
import { metadataJson } from '../../../core/safe-json.ts';
import type { UsageCounts } from '../../../core/usage-counts.ts';
import { refuse } from '../../../core/validation.ts';
import { assertMember, assertScope, type ChatCaller, isListed, userOf } from '../callers.ts';
import type { Entries } from '../conversations/entries.ts';
import { createKeyedQueue } from '../conversations/keyed-queue.ts';
import { mediaKindOf } from '../media/kinds.ts';
import type { Admission } from '../moderation/admission.ts';
import {
  type AttachmentEntry,
  findAttachment,
  findSignedAttachment,
  insertAttachment,
  markCompleted,
  markUploaded,
  type NewAttachment,
} from './attachment-store.ts';
import { createDownloads } from './downloads.ts';
import { cleanFilename } from './filenames.ts';
import { createSignedUrls, type SignedQuery } from './signed-urls.ts';
import { createStorageCheck } from './storage-check.ts';
import { createStorageQuota } from './storage-quota.ts';
import { createSweep, uploadKey } from './sweep.ts';

interface AttachmentDeps {
  db: Db;
  quotas: Quotas;
  blobs: Blobs;
  entries: Entries;
  clock: Clock;
  ids: Ids;
  keyring: Keyring;
  limits: Limits;
  publicUrl: string;
  usageCounts: UsageCounts;
  admission: Admission;
  /** Whether files of an environment are scanned before they can be fetched. */
  isScanned: (scope: ProjectScope) => Promise<boolean>;
  /** A file is there: its media are read, and it is scanned, after the answer. */
  onCompleted: (file: { isMedia: boolean; isScanned: boolean }) => void;
}

export type Attachments = ReturnType<typeof createAttachments>;

/** Uploads that were asked for and never completed. */
const pendingQuota = { perUploader: 50, perEnvironment: 5_000 };
/** A completed file that no message takes. */
const unusedMs = 24 * 60 * 60 * 1000;

export function createAttachments(deps: AttachmentDeps) {
  const { db, blobs, entries, clock, ids, limits, admission } = deps;
  const signedUrls = createSignedUrls(deps);
  const storage = createStorageQuota(deps.quotas);
  const assertStorage = createStorageCheck(deps);
  const inOrder = createKeyedQueue();
  const uploadTtl = limits.STORAGE_UPLOAD_URL_TTL_SECONDS;

  async function request(caller: ChatCaller, reference: string, draft: RequestAttachment): Promise<AttachmentUpload> {
    const { size, mimeType, waveform = null } = draft;
    checkDraft(draft, limits);
    const needs = { scope: 'chat:attach', action: 'attach', isWrite: true } as const;
    const conversation = await entries.enter(caller, reference, needs);
    await assertStorage('write');
    const id = ids.newId('attachment');
    const now = clock.now();
    const row = {
      id,
      conversationUuid: conversation.id,
      filename: cleanFilename(draft.filename),
      mimeType,
      size,
      uploaderId: userOf(caller) ?? draft.uploaderId ?? null,
      metadata: draft.metadata ?? {},
      blobKey: uploadKey(id),
      at: iso(now),
      expiresAt: iso(now + 2 * uploadTtl * 1000),
      waveform,
    };
    await insert(caller, row);
    const upload = { contentType: mimeType, size, expiresInSeconds: uploadTtl };
    const presigned = await blobs.presignUpload(row.blobKey, upload);
    const attachment = (await findAttachment(db, caller, id, null)) ?? fail('SVC_ATTACHMENT_NOT_FOUND');
    return {
      attachment,
      uploadUrl: presigned?.url ?? signedUrls.upload(attachment, uploadTtl),
      method: 'PUT',
      headers: presigned?.headers ?? { 'Content-Type': mimeType },
      expiresAt: iso(now + uploadTtl * 1000),
    };
  }

  async function insert(caller: ChatCaller, row: NewAttachment): Promise<void> {
    const isInserted = await inOrder(ownerOf(caller), () =>
      db.transaction(async (tx) => {
        if (!(await insertAttachment(tx, caller, row, pendingQuota))) return false;
        await storage.take(tx, { ...caller, ...row });
        return true;
      }),
    );
    if (isInserted) return;
    const message = 'Too many uploads were begun and not completed.';
    fail('SVC_RATE_LIMITED', { retryAfterSeconds: uploadTtl, message });
  }

  /** The attachment that a URL names: its id comes from the URL alone, and the database takes no NUL. */
  async function findSigned(id: string) {
    const canBeStored = id.isWellFormed() && !id.includes('\u0000');
    return (canBeStored && (await findSignedAttachment(db, id))) || fail('SVC_FORBIDDEN');
  }

  /** Takes the bytes of one upload at its signed URL; for stores that cannot do it themselves. */
  async function receive(
    id: string,
    query: SignedQuery,
    upload: { contentType: string | undefined; contentLength: number | null; content: Readable },
  ): Promise<void> {
    const entry = await findSigned(id);
    signedUrls.check('PUT', entry, query);
    if (entry.status !== 'PENDING' || entry.isUploaded)
      fail('SVC_FORBIDDEN', { message: 'This URL was used already.' });
    if (upload.contentType?.toLowerCase() !== entry.mimeType.toLowerCase()) {
      fail('SVC_FORBIDDEN', { message: 'The Content-Type is not the one the URL was signed for.' });
    }
    if (upload.contentLength !== null && upload.contentLength !== entry.size) fail('SVC_ATTACHMENT_SIZE_MISMATCH');
    // A key of its own for each attempt: a late one can never overwrite what was completed.
    const key = `chat/${id}/${ids.newUuid()}`;
    try {
      await blobs.write(key, upload.content, entry.size);
    } catch (error) {
      if (error instanceof BlobSizeMismatch) fail('SVC_ATTACHMENT_SIZE_MISMATCH');
      throw error;
    }
    if (await markUploaded(db, id, key, iso(clock.now()))) return;
    await blobs.delete(key);
    fail('SVC_FORBIDDEN', { message: 'This URL was used already.' });
  }

  /** The uploader, or an API key; for others it is not there. */
  async function own(caller: ChatCaller, id: string): Promise<AttachmentEntry> {
    const entry = await find(caller, id);
    if (caller.kind === 'chatToken' && entry.uploaderId !== caller.userId) fail('SVC_ATTACHMENT_NOT_FOUND');
    return entry;
  }

  async function find(caller: ChatCaller, id: string): Promise<AttachmentEntry> {
    const entry = (await findAttachment(db, caller, id, userOf(caller))) ?? fail('SVC_ATTACHMENT_NOT_FOUND');
    if (!isListed(caller, entry.conversationId)) fail('SVC_ATTACHMENT_NOT_FOUND');
    await admission.assertMember(db, caller, { publicId: entry.conversationId, role: entry.role }, 'read');
    const isOver = entry.expiresAt !== null && Date.parse(entry.expiresAt) <= clock.now();
    if (entry.status === 'EXPIRED' || isOver) fail('SVC_ATTACHMENT_NOT_FOUND');
    return entry;
  }

  async function complete(caller: ChatCaller, id: string): Promise<Attachment> {
    assertScope(caller, 'chat:attach');
    const entry = await own(caller, id);
    if (entry.status !== 'PENDING') return entry;
    assertMember(caller, entry.role, 'attach');
    if (entry.isArchived) fail('SVC_CONVERSATION_ARCHIVED');
    const blobKey = await settledKey(entry);
    const isCopy = blobKey !== entry.blobKey;
    const stored = blobKey === null ? null : await blobs.stat(blobKey);
    if (blobKey === null || stored === null) return completed(caller, id);
    if (stored.size !== entry.size) {
      if (isCopy) await blobs.delete(blobKey);
      fail('SVC_ATTACHMENT_SIZE_MISMATCH');
    }
    const now = clock.now();
    const { checksum } = stored;
    const next = { isMedia: mediaKindOf(entry) !== null, isScanned: await deps.isScanned(caller) };
    const file = { blobKey, checksum, at: iso(now), expiresAt: iso(now + unusedMs), ...next };
    const isFirst = await markCompleted(db, id, file);
    if (isFirst) deps.onCompleted(next);
    if (isCopy) await blobs.delete(isFirst ? entry.blobKey : blobKey);
    return completed(caller, id);
  }

  /** Another request may have completed it first. */
  async function completed(caller: ChatCaller, id: string): Promise<Attachment> {
    const entry = await own(caller, id);
    return entry.status === 'PENDING' ? fail('SVC_ATTACHMENT_NOT_UPLOADED') : entry;
  }

  /** A store's own URL can be used until it expires: what is completed lies where it does not lead. Null without a file. */
  async function settledKey({ id, blobKey, isUploaded }: AttachmentEntry): Promise<string | null> {
    if (isUploaded) return blobKey;
    const key = `chat/${id}/${ids.newUuid()}`;
    return (await blobs.copy(blobKey, key)) ? key : null;
  }

  const downloads = createDownloads({ ...deps, signedUrls, assertStorage, find, findSigned });
  return { request, receive, complete, ...downloads, sweep: createSweep({ ...deps, storage }) };
}

function checkDraft(draft: RequestAttachment, limits: Limits): void {
  const { size, waveform = null, metadata } = draft;
  if (waveform !== null && mediaKindOf(draft) !== 'audio')
    refuse([{ field: 'waveform', rule: 'audio', message: 'Only a sound has a wave.' }]);
  const limit = limits.STORAGE_MAX_ATTACHMENT_BYTES;
  if (size > limit) fail('SVC_ATTACHMENT_TOO_LARGE', { limit, actual: size });
  if (metadata) metadataJson(metadata, limits.CHAT_MAX_METADATA_BYTES);
}
