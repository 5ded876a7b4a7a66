import type { DataJobKind } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Log } from '../../core/log.ts';
import type { UnitOfWork } from '../../core/unit-of-work.ts';
import { claimJob, finishJob, holdJob, isJobDue, releaseJob, type StoredJob } from './job-store.ts';

/** What a runner may ask of its job. */
export interface Hold {
  /** Says how far it is; throws when the job is another's, or the process stops. Called between steps. */
  keep(progress: number): Promise<void>;
  readonly signal: AbortSignal;
}

interface Result {
  progress: number;
  size?: number;
  expiresAt?: string;
  isNameless?: true;
  /** Takes the result away: somebody else has the job. */
  discard?: () => Promise<void>;
}

/** Does a job from its beginning: done twice it has the same result as once. */
export type Runner = (job: StoredJob, hold: Hold) => Promise<Result>;

/** A failure that no retry can mend. The message is for its owner. */
export class PermanentJobFailure extends Error {
  override name = 'PermanentJobFailure';
}

class LostJob extends Error {
  override name = 'LostJob';
}

export interface WorkerDeps {
  db: Db;
  clock: Clock;
  log: Log;
  unitOfWork: UnitOfWork;
  runners: Readonly<Record<DataJobKind, Runner>>;
}

const holdMs = 60_000;
const attemptsMax = 10;
const backoffMs = (attempts: number): number => Math.min(600_000, 5_000 * 2 ** (attempts - 1));

/** Works on jobs, one at a time in each process. */
export function createWorker({ db, clock, log, unitOfWork, runners }: WorkerDeps) {
  const stopping = new AbortController();
  let working: Promise<void> | null = null;

  const until = (): string => iso(clock.now() + holdMs);

  function holdOf(job: StoredJob): Hold {
    return {
      signal: stopping.signal,
      async keep(progress) {
        if (stopping.signal.aborted || !(await holdJob(db, job, progress, until()))) throw new LostJob();
      },
    };
  }

  /** A step may take longer than a hold. */
  async function keepHolding(job: StoredJob, ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await clock.sleep(holdMs / 4, ended);
      if (!ended.aborted) await holdJob(db, job, 0, until()).catch(() => false);
    }
  }

  async function finish(job: StoredJob, state: 'DONE' | 'FAILED', result: Result, error: string | null): Promise<void> {
    const at = iso(clock.now());
    const { progress, size = null, isNameless = false } = result;
    // What was uploaded has served: the sweep takes it.
    const expiresAt = job.kind === 'IMPORT' ? at : (result.expiresAt ?? null);
    await unitOfWork(job, async (tx, emit) => {
      const ending = { state, progress, error, size, at, expiresAt, isNameless };
      if (!(await finishJob(tx, job, ending))) throw new LostJob();
      const data = { jobId: job.id, kind: job.kind, progress, error, at };
      emit({ type: state === 'DONE' ? 'data_job.done' : 'data_job.failed', data });
    });
  }

  async function run(job: StoredJob): Promise<void> {
    const ended = new AbortController();
    void keepHolding(job, ended.signal);
    try {
      const result = await runners[job.kind](job, holdOf(job));
      await finish(job, 'DONE', result, null).catch(async (error) => {
        if (error instanceof LostJob) await result.discard?.();
        throw error;
      });
    } catch (error) {
      await fallBack(job, error);
    } finally {
      ended.abort();
    }
  }

  /** What was interrupted is due at once, for any process; what failed later. */
  async function fallBack(job: StoredJob, error: unknown): Promise<void> {
    if (error instanceof LostJob) return releaseJob(db, job, iso(clock.now()));
    if (error instanceof PermanentJobFailure) return finish(job, 'FAILED', { progress: job.progress }, error.message);
    log.warn({ error, jobId: job.id, kind: job.kind }, 'a data job failed');
    if (job.attempts >= attemptsMax)
      return finish(job, 'FAILED', { progress: job.progress }, 'It failed too often; the log of the server says why.');
    await releaseJob(db, job, iso(clock.now() + backoffMs(job.attempts)));
  }

  async function drain(): Promise<void> {
    while (!stopping.signal.aborted) {
      const job = await claimJob(db, iso(clock.now()), until());
      if (!job) return;
      await run(job);
    }
  }

  /** Begins to work unless it does already. */
  function wake(): void {
    if (stopping.signal.aborted) return;
    working ??= drain()
      .catch((error) => log.warn({ error }, 'data jobs are not worked on; they will be'))
      .finally(() => {
        working = null;
      });
  }

  return {
    wake,
    isDue: () => isJobDue(iso(clock.now())),
    async stop(): Promise<void> {
      stopping.abort();
      await working;
    },
  };
}
