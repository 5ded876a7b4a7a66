import type { Readable } from 'node:stream';
import { type AttachmentDownload, type DownloadQuery, fail, type Limits, roleCan } from '@parley/contract';
import { create as contentDisposition } from 'content-disposition';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Blobs, BlobsUnavailable } from '../../../core/ports.ts';
import type { UsageCounts } from '../../../core/usage-counts.ts';
import { assertScope, type ChatCaller } from '../callers.ts';
import type { AttachmentEntry } from './attachment-store.ts';
import { isInlineType } from './filenames.ts';
import { assertFetchable, fileIn, scannersForm } from './forms.ts';
import type { SignedQuery, SignedUrls } from './signed-urls.ts';
import type { StorageCheck } from './storage-check.ts';

interface DownloadDeps {
  blobs: Blobs;
  clock: Clock;
  limits: Limits;
  usageCounts: UsageCounts;
  signedUrls: SignedUrls;
  assertStorage: StorageCheck;
  /** A file that the caller may know of. */
  find: (caller: ChatCaller, id: string) => Promise<AttachmentEntry>;
  /** By a signed URL. */
  findSigned: (id: string) => Promise<AttachmentEntry>;
}

/** What the endpoint that serves bytes needs. */
interface ServedFile {
  content: Readable;
  headers: Record<string, string>;
}

type LinkedFile = Pick<AttachmentEntry, 'id' | 'environment' | 'size' | 'mimeType' | 'filename' | 'blobKey'>;

/** How files leave: by links, and for stores that do not serve them by themselves through us. */
export function createDownloads(deps: DownloadDeps) {
  const { blobs, clock, limits, usageCounts, signedUrls, assertStorage, find, findSigned } = deps;
  const downloadTtl = limits.STORAGE_DOWNLOAD_URL_TTL_SECONDS;

  async function download(caller: ChatCaller, id: string, { size: asked }: DownloadQuery): Promise<AttachmentDownload> {
    assertScope(caller, 'chat:read');
    const entry = await find(caller, id);
    // Before a message carries it, a file is its uploader's own.
    const isOwn = caller.kind === 'apiKey' || entry.uploaderId === caller.userId;
    const isHidden = entry.isShadow && !(entry.role && roleCan(entry.role, 'moderate'));
    if (!isOwn && (isHidden || entry.status !== 'ATTACHED')) fail('SVC_ATTACHMENT_NOT_FOUND');
    if (entry.status === 'PENDING') fail('SVC_ATTACHMENT_NOT_READY');
    assertFetchable(entry);
    await assertStorage('read');
    const { blobKey, filename, mimeType, size, as } = fileIn(entry, { size: asked });
    const presigned = await blobs.presignDownload(blobKey, {
      filename,
      contentType: mimeType,
      isInline: isInlineType(mimeType),
      expiresInSeconds: downloadTtl,
    });
    return {
      url: presigned?.url ?? signedUrls.download(entry, downloadTtl, as),
      expiresAt: iso(clock.now() + downloadTtl * 1000),
      filename,
      mimeType,
      size,
    };
  }

  /** Where a file can be fetched for so long, by anyone who has the link; that of a scanner leads to it before its scan. */
  async function linkTo(file: LinkedFile, expiresInSeconds: number, as?: typeof scannersForm): Promise<string> {
    const { filename, mimeType, blobKey } = file;
    const download = { filename, contentType: mimeType, isInline: false, expiresInSeconds };
    return (await blobs.presignDownload(blobKey, download))?.url ?? signedUrls.download(file, expiresInSeconds, as);
  }

  /** The bytes behind a signed URL, with headers that keep them from doing anything in a browser. */
  async function serve(id: string, query: SignedQuery): Promise<ServedFile> {
    const entry = await findSigned(id);
    signedUrls.check('GET', entry, query);
    if (entry.status !== 'UPLOADED' && entry.status !== 'ATTACHED') fail('SVC_ATTACHMENT_NOT_FOUND');
    if (query.as !== scannersForm) assertFetchable(entry);
    const file = fileIn(entry, query);
    const content = await blobs.read(file.blobKey);
    // It was there when it was completed: the store is away, or has lost it.
    if (content === null) throw new BlobsUnavailable('the store does not have a file that was completed');
    usageCounts.add('sentBytes', entry, null, file.size);
    return {
      content,
      headers: {
        'content-type': file.mimeType,
        'content-length': String(file.size),
        'content-disposition': contentDisposition(file.filename, {
          type: isInlineType(file.mimeType) ? 'inline' : 'attachment',
        }),
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
        'cache-control': `private, max-age=${downloadTtl}`,
      },
    };
  }

  return { download, linkTo, serve };
}
