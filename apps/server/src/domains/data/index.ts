import type { dataRoutes } from '@parley/contract';
import { iso } from '../../core/clock.ts';
import { deleteInBatches, type Turn, withoutDeadline } from '../../core/delete-in-batches.ts';
import type { Domain } from '../../core/part.ts';
import { type EraseStep, type Person, type PersonalData, untilNone } from '../../core/personal-data.ts';
import type { Chat } from '../chat/index.ts';
import { createErasure } from './erasure.ts';
import { createExport } from './export.ts';
import { createFiles, type Files, type FilesDeps } from './files.ts';
import { createImport } from './import.ts';
import { createImports } from './imports.ts';
import { deleteOldJobs, listExpiredJobs, markFileGone, takeExportsOf } from './job-store.ts';
import { createJobs, type JobsDeps } from './jobs.ts';
import { createWorker, type WorkerDeps } from './worker.ts';

interface DataDeps extends FilesDeps, Omit<JobsDeps, 'files' | 'wake'>, Omit<WorkerDeps, 'runners'> {
  importer: Chat['importer'];
  /** Voids what was issued to a user. */
  cutOffUser: (person: Person) => Promise<void>;
  /** What each domain has of a user; events last, since the others leave some. */
  personalData: readonly PersonalData[];
}

interface Data extends Domain<typeof dataRoutes> {
  files: Pick<Files, 'serve' | 'receive'>;
  /** Removes files and jobs whose time is over. */
  sweep(turn?: Turn): Promise<void>;
}

const keptMs = 30 * 24 * 60 * 60_000;
const expiredMax = 100;

/** Whose data it is: export and erasure of a user, and histories from elsewhere, as jobs. */
export function createData(deps: DataDeps): Data {
  const { db, blobs, clock, personalData } = deps;
  const files = createFiles(deps);
  const steps = personalData.flatMap(({ erasures }) => erasures);
  const worker = createWorker({
    ...deps,
    runners: {
      EXPORT: createExport({ ...deps, files, parts: personalData.flatMap(({ exports }) => exports) }),
      ERASURE: createErasure({ ...deps, steps: [eraseExports(), ...steps] }),
      IMPORT: createImport(deps),
    },
  });
  const jobs = createJobs({ ...deps, files, wake: worker.wake });
  const imports = createImports({ ...deps, files, jobs, wake: worker.wake });

  /** What was exported of the user is theirs too. */
  function eraseExports(): EraseStep {
    return untilNone('exports', async (erasure) => {
      const taken = await takeExportsOf(db, erasure, iso(clock.now()));
      for (const job of taken) await removeFile(job);
      return taken.length;
    });
  }

  async function removeFile({ id, blobKey }: { id: string; blobKey: string | null }): Promise<void> {
    if (blobKey !== null) await blobs.delete(blobKey);
    await markFileGone(db, id, iso(clock.now()));
  }

  async function sweep(turn = withoutDeadline): Promise<void> {
    for (const job of await listExpiredJobs(db, iso(clock.now()), expiredMax)) await removeFile(job);
    await deleteInBatches({ turn }, (limit) => deleteOldJobs(db, iso(clock.now() - keptMs), limit));
  }

  return {
    files,
    sweep,
    chores: [
      // The process that makes a job wakes the worker: this finds what another process left.
      {
        name: 'data-jobs',
        everyMs: 5_000,
        run: async () => worker.wake(),
        onEveryProcess: true,
        isDue: worker.isDue,
      },
      { name: 'data-files', everyMs: 60_000, run: sweep, onDatabaseAlone: true },
    ],
    stop: worker.stop,
    handlers: {
      exportUser: ({ caller, params }) => jobs.exportUser(caller, params.userId),
      eraseUser: ({ caller, params, body }) => jobs.eraseUser(caller, params.userId, body),
      importConversations: ({ caller, body }) => imports.request(caller, body),
      startImport: ({ caller, params }) => imports.start(caller, params.jobId),
      listDataJobs: ({ caller, query }) => jobs.list(caller, query),
      listProjectDataJobs: ({ caller, query }) => jobs.listMetadata(caller, query),
      getDataJob: ({ caller, params }) => jobs.get(caller, params.jobId),
    },
  };
}
