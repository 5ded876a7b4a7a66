import type { Readable } from 'node:stream';
import { fail, type Limits } from '@parley/contract';
import { create as contentDisposition } from 'content-disposition';
import type { Clock } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import type { Keyring } from '../../core/keyring.ts';
import { BlobSizeMismatch, type Blobs, BlobsUnavailable, type SignedRequest } from '../../core/ports.ts';
import { findSignedJob, type StoredJob } from './job-store.ts';

export interface FilesDeps {
  db: Db;
  blobs: Blobs;
  clock: Clock;
  ids: Ids;
  keyring: Keyring;
  limits: Limits;
  publicUrl: string;
}

interface SignedQuery {
  exp?: string;
  sig?: string;
}

interface Upload {
  contentLength: number | null;
  content: Readable;
}

export type Files = ReturnType<typeof createFiles>;

const contentType = 'application/x-ndjson';
const filenameOf = ({ id }: Pick<StoredJob, 'id'>): string => `${id}.ndjson`;

/** The files of jobs: where they lie, and links to them that end. */
export function createFiles({ db, blobs, clock, ids, keyring, limits, publicUrl }: FilesDeps) {
  const ttlSeconds = limits.STORAGE_DOWNLOAD_URL_TTL_SECONDS;

  const textOf = (method: string, id: string, exp: number): string => JSON.stringify(['data-job', method, id, exp]);

  const isOver = ({ expiresAt }: Pick<StoredJob, 'expiresAt'>): boolean =>
    expiresAt !== null && Date.parse(expiresAt) <= clock.now();

  function urlOf(method: 'GET' | 'PUT', id: string, seconds: number): string {
    const exp = Math.floor(clock.now() / 1000) + seconds;
    const sig = keyring.mac('signed-url', textOf(method, id, exp)).toString('base64url');
    return `${publicUrl}/v1/data-files/${id}?exp=${exp}&sig=${sig}`;
  }

  function assertSigned(method: 'GET' | 'PUT', id: string, { exp = '', sig = '' }: SignedQuery): void {
    const refuse = (): never => fail('SVC_FORBIDDEN', { message: 'This signed URL is not valid, or not any more.' });
    if (!/^\d{1,12}$/.test(exp)) refuse();
    const given = Buffer.from(sig, 'base64url');
    if (!keyring.isMac('signed-url', textOf(method, id, Number(exp)), given)) refuse();
    if (given.toString('base64url') !== sig || clock.now() / 1000 >= Number(exp)) refuse();
  }

  return {
    isOver,
    /** A key of its own for each attempt: a late one never overwrites what another has finished. */
    newKey: (id: string): string => `data/${id}/${ids.newUuid()}`,

    async linkTo(job: StoredJob): Promise<string> {
      const left = Math.ceil((Date.parse(job.expiresAt ?? '') - clock.now()) / 1000) || ttlSeconds;
      const expiresInSeconds = Math.max(1, Math.min(ttlSeconds, left));
      const file = { filename: filenameOf(job), contentType, isInline: false, expiresInSeconds };
      const presigned = await blobs.presignDownload(job.blobKey ?? '', file);
      return presigned?.url ?? urlOf('GET', job.id, expiresInSeconds);
    },

    async uploadTo(job: StoredJob, expiresInSeconds: number): Promise<Pick<SignedRequest, 'url' | 'headers'>> {
      const upload = { contentType, size: job.size ?? 0, expiresInSeconds };
      const presigned = await blobs.presignUpload(job.blobKey ?? '', upload);
      return presigned ?? { url: urlOf('PUT', job.id, expiresInSeconds), headers: { 'Content-Type': contentType } };
    },

    /** Takes the file of an import; for stores that cannot do it themselves. Until it is started another may follow. */
    async receive(id: string, query: SignedQuery, upload: Upload): Promise<void> {
      assertSigned('PUT', id, query);
      const job = (await findSignedJob(db, id)) ?? fail('SVC_DATA_JOB_NOT_FOUND');
      const { blobKey, size } = job;
      if (job.kind !== 'IMPORT' || job.state !== 'WAITING' || blobKey === null || size === null || isOver(job))
        return fail('SVC_FORBIDDEN', { message: 'This URL was used already.' });
      if (upload.contentLength !== null && upload.contentLength !== size) fail('SVC_ATTACHMENT_SIZE_MISMATCH');
      try {
        await blobs.write(blobKey, upload.content, size);
      } catch (error) {
        if (error instanceof BlobSizeMismatch) fail('SVC_ATTACHMENT_SIZE_MISMATCH');
        throw error;
      }
    },

    /** For stores that do not serve files themselves. */
    async serve(id: string, query: SignedQuery): Promise<{ content: Readable; headers: Record<string, string> }> {
      assertSigned('GET', id, query);
      const job = (await findSignedJob(db, id)) ?? fail('SVC_DATA_JOB_NOT_FOUND');
      if (job.kind !== 'EXPORT' || job.state !== 'DONE' || job.blobKey === null || isOver(job))
        return fail('SVC_DATA_JOB_NOT_FOUND');
      const content = await blobs.read(job.blobKey);
      if (content === null) throw new BlobsUnavailable('the store does not have a file that was made');
      return {
        content,
        headers: {
          'content-type': contentType,
          'content-length': String(job.size),
          'content-disposition': contentDisposition(filenameOf(job), { type: 'attachment' }),
          'x-content-type-options': 'nosniff',
          'cache-control': 'private, no-store',
        },
      };
    },
  };
}
