import { type DataJob, fail, type ImportConversations, type ImportUpload, type Limits } from '@parley/contract';
import type { ApiKeyCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { type Answer, recorded } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import type { Blobs } from '../../core/ports.ts';
import { ownerOf } from '../../core/quotas.ts';
import type { Files } from './files.ts';
import { findJob, lockJobs, startJob } from './job-store.ts';
import type { Jobs } from './jobs.ts';

interface ImportsDeps {
  db: Db;
  blobs: Blobs;
  clock: Clock;
  ids: Ids;
  limits: Limits;
  files: Files;
  jobs: Pick<Jobs, 'show' | 'insert'>;
  wake: () => void;
}

/** A file comes as attachments do: by a signed URL, past the limits of a request. */
export function createImports({ db, blobs, clock, ids, limits, files, jobs, wake }: ImportsDeps) {
  const ttlSeconds = limits.STORAGE_UPLOAD_URL_TTL_SECONDS;

  return {
    async request(caller: ApiKeyCaller, { size }: ImportConversations): Promise<Answer<ImportUpload>> {
      const limit = limits.DATA_IMPORT_MAX_BYTES;
      if (size > limit)
        fail('SVC_ATTACHMENT_TOO_LARGE', { limit, actual: size, message: `An import has at most ${limit} bytes.` });
      const now = clock.now();
      const job = await db.transaction(async (tx) => {
        await lockJobs(tx, ownerOf(caller));
        const id = ids.newId('dataJob');
        const expiresAt = iso(now + 2 * ttlSeconds * 1000);
        const file = { blobKey: files.newKey(id), size, expiresAt };
        return jobs.insert(tx, caller, { id, kind: 'IMPORT', state: 'WAITING', userId: null, options: {}, ...file });
      });
      const { url, headers } = await files.uploadTo(job, ttlSeconds);
      const upload = { uploadUrl: url, method: 'PUT', headers, expiresAt: iso(now + ttlSeconds * 1000) } as const;
      const subject = { resourceId: job.id, environment: caller.environment, metadata: { kind: job.kind } };
      return recorded({ job: await jobs.show(job), ...upload }, subject);
    },

    async start(caller: ApiKeyCaller, id: string): Promise<DataJob> {
      const job = (await findJob(db, caller, id)) ?? fail('SVC_DATA_JOB_NOT_FOUND');
      if (job.kind !== 'IMPORT' || job.blobKey === null) return fail('SVC_DATA_JOB_NOT_FOUND');
      if (job.state !== 'WAITING') return jobs.show(job);
      // A store's own URL can be used until it expires: what is read lies where it does not lead.
      const key = files.newKey(id);
      if (!(await blobs.copy(job.blobKey, key))) fail('SVC_ATTACHMENT_NOT_UPLOADED');
      const isWhole = (await blobs.stat(key))?.size === job.size;
      const isOurs = isWhole && (await startJob(db, id, key, iso(clock.now())));
      await blobs.delete(isOurs ? job.blobKey : key);
      if (!isWhole) fail('SVC_ATTACHMENT_SIZE_MISMATCH');
      wake();
      return jobs.show((await findJob(db, caller, id)) ?? fail('SVC_DATA_JOB_NOT_FOUND'));
    },
  };
}
