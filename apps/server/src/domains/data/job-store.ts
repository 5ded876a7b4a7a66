import type { DataJobKind, DataJobState } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable, Tx } from '../../core/db.ts';
import { hasFirst } from '../../core/due-store.ts';
import type { Erasure } from '../../core/personal-data.ts';
import { lockByName } from '../../core/quotas.ts';
import { empty, json, type Sql, sql } from '../../core/sql.ts';

export interface JobOptions {
  /** Of an erasure. */
  messages?: Erasure['messages'];
  pseudonym?: string;
}

export interface StoredJob extends ProjectScope {
  id: string;
  kind: DataJobKind;
  state: DataJobState;
  userId: string | null;
  options: JobOptions;
  progress: number;
  error: string | null;
  blobKey: string | null;
  size: number | null;
  /** Counts the claims: whose claim is older has lost it. */
  attempts: number;
  createdAt: string;
  finishedAt: string | null;
  expiresAt: string | null;
}

const columns = sql`j.id, j.project_id as "projectId", j.environment, j.kind, j.state, j.user_id as "userId", j.options,
  j.progress, j.error, j.blob_key as "blobKey", j.size, j.attempts, j.created_at as "createdAt",
  j.finished_at as "finishedAt", j.expires_at as "expiresAt"`;

const inScope = ({ projectId, environment }: ProjectScope) =>
  sql`j.project_id = ${projectId} and j.environment = ${environment}`;

interface NewJob extends ProjectScope {
  id: string;
  kind: DataJobKind;
  state: 'WAITING' | 'QUEUED';
  userId: string | null;
  options: JobOptions;
  blobKey: string | null;
  size: number | null;
  at: string;
  expiresAt: string | null;
}

/** Inserts, unless the same is to be done already; undefined then. */
export async function insertJob(tx: Tx, job: NewJob): Promise<StoredJob | undefined> {
  const [row] = await tx.query<StoredJob>(sql`
    insert into data_jobs as j (id, project_id, environment, kind, state, user_id, options, blob_key, size, due_at,
                                created_at, expires_at)
    values (${job.id}, ${job.projectId}, ${job.environment}, ${job.kind}, ${job.state}, ${job.userId},
            ${json(job.options)}::jsonb, ${job.blobKey}, ${job.size}, ${job.at}, ${job.at}, ${job.expiresAt})
    on conflict (project_id, environment, kind, user_id) where state in ('QUEUED', 'RUNNING') and user_id is not null
      do nothing
    returning ${columns}`);
  return row;
}

export async function countOpenJobs(db: Queryable, scope: ProjectScope): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*) as count from data_jobs j where ${inScope(scope)} and j.finished_at is null`);
  return row?.count ?? 0;
}

export async function findOpenJob(
  db: Queryable,
  scope: ProjectScope,
  kind: DataJobKind,
  userId: string,
): Promise<StoredJob | undefined> {
  const [row] = await db.query<StoredJob>(sql`
    select ${columns} from data_jobs j
    where ${inScope(scope)} and j.kind = ${kind} and j.user_id = ${userId} and j.state in ('QUEUED', 'RUNNING')`);
  return row;
}

export async function findJob(db: Queryable, scope: ProjectScope, id: string): Promise<StoredJob | undefined> {
  const [row] = await db.query<StoredJob>(sql`
    select ${columns} from data_jobs j where ${inScope(scope)} and j.id = ${id}`);
  return row;
}

/** By id alone: for a signed URL, which is the right to it. */
export async function findSignedJob(db: Queryable, id: string): Promise<StoredJob | undefined> {
  const [row] = await db.query<StoredJob>(sql`select ${columns} from data_jobs j where j.id = ${id}`);
  return row;
}

/** Newest first. */
export async function listJobs(
  db: Queryable,
  scope: ProjectScope,
  { kind, after, limit }: { kind: DataJobKind | undefined; after: readonly [string, string] | null; limit: number },
): Promise<StoredJob[]> {
  return db.query<StoredJob>(sql`
    select ${columns} from data_jobs j
    where ${inScope(scope)} ${kind === undefined ? empty : sql`and j.kind = ${kind}`}
      ${after === null ? empty : sql`and (j.created_at, j.id) < (${after[0]}::timestamptz, ${after[1]})`}
    order by j.created_at desc, j.id desc limit ${limit}`);
}

/** The file is there: it is to be read. False when it was started before, or its time was over. */
export async function startJob(db: Queryable, id: string, blobKey: string, at: string): Promise<boolean> {
  const touched = await db.execute(sql`
    update data_jobs set state = 'QUEUED', blob_key = ${blobKey}, due_at = ${at}, expires_at = null
    where id = ${id} and state = 'WAITING' and expires_at > ${at}`);
  return touched === 1;
}

const due = (now: string): Sql =>
  sql`state in ('QUEUED', 'RUNNING') and due_at <= ${now} and (claimed_until is null or claimed_until <= ${now})`;

/** True while `claimJob` finds one. */
export const isJobDue = (now: string): Sql => hasFirst(sql`from data_jobs where ${due(now)}`, 'due_at');

/** Takes the job that is due longest and that nobody works on. */
export async function claimJob(db: Queryable, now: string, until: string): Promise<StoredJob | undefined> {
  const [row] = await db.query<StoredJob>(sql`
    update data_jobs j set state = 'RUNNING', claimed_until = ${until}, attempts = j.attempts + 1
    where j.id = (
      select id from data_jobs
      where ${due(now)}
      order by due_at limit 1 for update skip locked)
    returning ${columns}`);
  return row;
}

/** A claim that still holds: by the number of claims there were. */
type Claim = Pick<StoredJob, 'id' | 'attempts'>;

const isHeld = ({ id, attempts }: Claim) => sql`j.id = ${id} and j.attempts = ${attempts} and j.state = 'RUNNING'`;

/** Goes on holding it, and says how far it is; false when somebody else has it. */
export async function holdJob(db: Queryable, claim: Claim, progress: number, until: string): Promise<boolean> {
  const touched = await db.execute(sql`
    update data_jobs j set claimed_until = ${until}, progress = greatest(j.progress, ${progress}) where ${isHeld(claim)}`);
  return touched === 1;
}

/** Says where the file will be before it is there: the next process finds it, and takes it away. */
export async function noteFile(db: Queryable, claim: Claim, blobKey: string | null): Promise<boolean> {
  const touched = await db.execute(sql`update data_jobs j set blob_key = ${blobKey} where ${isHeld(claim)}`);
  return touched === 1;
}

/** Lets go of it: it is due again at a time. */
export async function releaseJob(db: Queryable, claim: Claim, dueAt: string): Promise<void> {
  await db.execute(sql`
    update data_jobs j set claimed_until = null, due_at = ${dueAt} where ${isHeld(claim)}`);
}

interface Ending {
  state: 'DONE' | 'FAILED';
  progress: number;
  error: string | null;
  size: number | null;
  at: string;
  expiresAt: string | null;
  /** Nothing may say any more whose job it was. */
  isNameless: boolean;
}

/** Ends it, once; false when somebody else has it. */
export async function finishJob(tx: Tx, claim: Claim, ending: Ending): Promise<boolean> {
  const touched = await tx.execute(sql`
    update data_jobs j set state = ${ending.state}, progress = ${ending.progress}, error = ${ending.error},
      size = coalesce(${ending.size}, j.size), finished_at = ${ending.at}, expires_at = ${ending.expiresAt}, claimed_until = null
      ${ending.isNameless ? sql`, user_id = null, options = '{}'` : empty}
    where ${isHeld(claim)}`);
  return touched === 1;
}

/** Exports of a user that are done, and those that are being made, which their workers then find taken away. */
export async function takeExportsOf(
  db: Queryable,
  { projectId, environment, userId }: Erasure,
  at: string,
): Promise<{ id: string; blobKey: string | null }[]> {
  return db.query(sql`
    update data_jobs set state = case when state = 'DONE' then 'DONE' else 'FAILED' end, user_id = null,
      error = case when state = 'DONE' then null else 'The user was erased.' end,
      finished_at = coalesce(finished_at, ${at}), expires_at = ${at}, claimed_until = null
    where project_id = ${projectId} and environment = ${environment} and user_id = ${userId} and kind = 'EXPORT'
    returning id, blob_key as "blobKey"`);
}

/** Jobs whose file is to go. */
export async function listExpiredJobs(
  db: Queryable,
  now: string,
  limit: number,
): Promise<{ id: string; blobKey: string | null }[]> {
  return db.query(sql`
    select id, blob_key as "blobKey" from data_jobs where expires_at <= ${now} order by expires_at limit ${limit}`);
}

/** The file is gone; a process that waited for one has waited long enough. */
export async function markFileGone(db: Queryable, id: string, at: string): Promise<void> {
  await db.execute(sql`
    update data_jobs set blob_key = null, expires_at = null, finished_at = coalesce(finished_at, ${at}),
      error = case when state = 'WAITING' then 'No file came in its time.' else error end,
      state = case when state = 'WAITING' then 'FAILED' else state end
    where id = ${id} and state not in ('QUEUED', 'RUNNING')`);
}

export async function deleteOldJobs(db: Queryable, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from data_jobs where ctid = any(array(
      select ctid from data_jobs where finished_at < ${before} and expires_at is null order by finished_at limit ${limit}))`);
}

/** Until the transaction ends nobody else of the environment asks for a job: the ceiling is exact. */
export async function lockJobs(tx: Tx, owner: string): Promise<void> {
  await tx.query(lockByName(`data-jobs ${owner}`));
}
