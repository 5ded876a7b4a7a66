import { randomBytes } from 'node:crypto';
import {
  type DataJob,
  type DataJobMetadata,
  type EraseUser,
  fail,
  identityPattern,
  type Limits,
} from '@parley/contract';
import type { ApiKeyCaller, ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db, Tx } from '../../core/db.ts';
import { type Answer, page, recorded } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import { failQuota, ownerOf } from '../../core/quotas.ts';
import { refuse } from '../../core/validation.ts';
import type { Files } from './files.ts';
import {
  countOpenJobs,
  findJob,
  findOpenJob,
  insertJob,
  type JobOptions,
  listJobs,
  lockJobs,
  type StoredJob,
} from './job-store.ts';

export interface JobsDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  limits: Limits;
  files: Files;
  /** There is something to do. */
  wake: () => void;
}

type JobDraft = Omit<Parameters<typeof insertJob>[1], 'projectId' | 'environment' | 'at'>;
interface JobQuery {
  limit?: number;
  cursor?: string;
  kind?: DataJob['kind'];
}

export type Jobs = ReturnType<typeof createJobs>;

const noFile = { blobKey: null, size: null, expiresAt: null };
const userIdMax = 128;
const identity = new RegExp(identityPattern);

/** What is asked for, and how far it is. */
export function createJobs({ db, clock, ids, cursors, limits, files, wake }: JobsDeps) {
  /** All but a way to the file. */
  function describe(job: StoredJob): DataJobMetadata {
    return {
      id: job.id,
      kind: job.kind,
      state: job.state,
      userId: job.userId,
      progress: job.progress,
      error: job.error,
      size: job.kind === 'EXPORT' ? job.size : null,
      createdAt: job.createdAt,
      finishedAt: job.finishedAt,
      expiresAt: job.kind === 'EXPORT' ? job.expiresAt : null,
    };
  }

  async function show(job: StoredJob): Promise<DataJob> {
    const isThere = job.kind === 'EXPORT' && job.state === 'DONE' && job.blobKey !== null;
    return { ...describe(job), url: isThere && !files.isOver(job) ? await files.linkTo(job) : null };
  }

  /** Makes a job unless the environment has too many that are not done. */
  async function insert(tx: Tx, scope: ProjectScope, draft: JobDraft): Promise<StoredJob> {
    if ((await countOpenJobs(tx, scope)) >= limits.DATA_MAX_OPEN_JOBS)
      failQuota('DATA_MAX_OPEN_JOBS', limits.DATA_MAX_OPEN_JOBS);
    const { projectId, environment } = scope;
    const job = await insertJob(tx, { projectId, environment, ...draft, at: iso(clock.now()) });
    return job ?? fail('SVC_DATA_JOB_NOT_FOUND');
  }

  /** One job for a user and kind at a time: who asks again gets the one that is there. */
  async function ask(
    { projectId, environment }: ApiKeyCaller,
    kind: 'EXPORT' | 'ERASURE',
    userId: string,
    options: JobOptions,
  ): Promise<Answer<DataJob>> {
    assertUserId(userId);
    const scope = { projectId, environment };
    const { job, isKnown } = await db.transaction(async (tx) => {
      await lockJobs(tx, ownerOf(scope));
      const known = await findOpenJob(tx, scope, kind, userId);
      if (known) return { job: known, isKnown: true };
      const draft = { id: ids.newId('dataJob'), kind, state: 'QUEUED', userId, options, ...noFile } as const;
      return { job: await insert(tx, scope, draft), isKnown: false };
    });
    wake();
    const subject = isKnown ? null : { resourceId: job.id, environment, metadata: { kind } };
    return recorded(await show(job), subject, isKnown);
  }

  async function pageOf(scope: ProjectScope, { limit = pageSizeDefault, cursor, kind }: JobQuery) {
    const list = `data-jobs/${scope.projectId}/${scope.environment}`;
    const after = cursor === undefined ? null : (cursors.read(list, cursor) as [string, string]);
    const rows = await listJobs(db, scope, { kind, after, limit: limit + 1 });
    return cutPage(rows, limit, (last) => cursors.write(list, [last.createdAt, last.id]));
  }

  return {
    show,
    insert,
    exportUser: (caller: ApiKeyCaller, userId: string) => ask(caller, 'EXPORT', userId, {}),
    /** The pseudonym is made here, once: a job that begins anew goes on with it. */
    eraseUser: (caller: ApiKeyCaller, userId: string, { messages }: EraseUser) =>
      ask(caller, 'ERASURE', userId, { messages, pseudonym: `erased-${randomBytes(12).toString('hex')}` }),
    async get(scope: ProjectScope, id: string): Promise<DataJob> {
      return show((await findJob(db, scope, id)) ?? fail('SVC_DATA_JOB_NOT_FOUND'));
    },
    async list(scope: ProjectScope, query: JobQuery): Promise<Answer<DataJob[]>> {
      const { items, nextCursor } = await pageOf(scope, query);
      return page(await Promise.all(items.map(show)), nextCursor);
    },
    async listMetadata(scope: ProjectScope, query: JobQuery): Promise<Answer<DataJobMetadata[]>> {
      const { items, nextCursor } = await pageOf(scope, query);
      return page(items.map(describe), nextCursor);
    },
  };
}

function assertUserId(userId: string): void {
  if (userId.length <= userIdMax && identity.test(userId)) return;
  refuse([{ field: 'userId', rule: 'pattern', message: `userId must match ${identityPattern}, 1 to 128 characters.` }]);
}
