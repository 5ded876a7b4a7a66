import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Limits } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { ExportPart, Person } from '../../core/personal-data.ts';
import type { Blobs } from '../../core/ports.ts';
import type { Files } from './files.ts';
import { readWhole, withFile, writeWhole } from './folder.ts';
import { noteFile } from './job-store.ts';
import { type Hold, PermanentJobFailure, type Runner } from './worker.ts';

interface ExportDeps {
  db: Db;
  blobs: Blobs;
  clock: Clock;
  limits: Limits;
  files: Pick<Files, 'newKey'>;
  parts: readonly ExportPart[];
}

/** Records that are in memory at a time. */
const pageMax = 500;

/** Everything of a user as lines of JSON: a disk takes them, since a store wants to know the size before the first byte. */
export function createExport({ db, blobs, clock, limits, files, parts }: ExportDeps): Runner {
  async function* linesOf(person: Person, hold: Hold, count: { lines: number }): AsyncGenerator<string> {
    yield line({ kind: 'export', userId: person.userId, environment: person.environment, at: iso(clock.now()) });
    for (const { kind, page } of parts) {
      let place: string | null = null;
      do {
        const { rows, next } = await page(person, place, pageMax);
        yield rows.map((row) => line({ kind, ...row })).join('');
        count.lines += rows.length;
        place = next;
        await hold.keep(count.lines);
      } while (place !== null);
    }
  }

  return async (job, hold) => {
    const { id, projectId, environment, userId } = job;
    if (userId === null) throw new PermanentJobFailure('The user was erased.');
    // Left by an attempt that was killed.
    if (job.blobKey !== null) await blobs.delete(job.blobKey);
    return withFile(async (file) => {
      const count = { lines: 0 };
      const person = { projectId, environment, userId };
      await pipeline(Readable.from(linesOf(person, hold, count)), writeWhole(file));
      const { size } = await file.stat();
      const key = files.newKey(id);
      if (!(await noteFile(db, job, key))) await hold.keep(count.lines);
      await blobs.write(key, readWhole(file), size);
      const expiresAt = iso(clock.now() + limits.DATA_EXPORT_SECONDS * 1000);
      return { progress: count.lines, size, expiresAt, discard: () => blobs.delete(key) };
    });
  };
}

const line = (record: object): string => `${JSON.stringify(record)}\n`;
