import { Readable } from 'node:stream';
import type { AuditEntry, AuditExportQuery } from '@parley/contract';
import type { Static } from 'typebox';
import { type Clock, iso } from '../../core/clock.ts';
import type { Reader } from '../../core/db.ts';
import { Stream } from '../../core/handlers.ts';
import { refuse } from '../../core/validation.ts';
import { listRange } from './audit-store.ts';

const pageSize = 500;
const dayMs = 24 * 60 * 60_000;
const rangeDays = 30;
const rangeDaysMax = 366;

/** Exports read page by page as the reader takes them: a slow one holds neither memory nor a connection. */
export function createExport({ db, clock }: { db: Reader; clock: Clock }) {
  async function* lines(
    projectId: string,
    filter: Static<typeof AuditExportQuery> & { from: string; to: string },
  ): AsyncGenerator<string> {
    for (let after: AuditEntry | undefined; ; ) {
      const rows: AuditEntry[] = await listRange(db, projectId, { ...filter, after, limit: pageSize });
      if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      if (rows.length < pageSize) return;
      after = rows.at(-1);
    }
  }

  return {
    stream(projectId: string, query: Static<typeof AuditExportQuery>): Stream {
      const content = Readable.from(lines(projectId, { ...query, ...rangeOf(query, clock.now()) }), {
        objectMode: false,
        highWaterMark: 64 * 1024,
      });
      // It has an end of its own: a stop waits for it as for any request, then cuts it, and its reader sees that.
      return new Stream(content, () => {});
    },
  };
}

function rangeOf(query: { from?: string; to?: string }, now: number): { from: string; to: string } {
  // An entry of this very moment is in.
  const to = query.to === undefined ? now + 1 : Date.parse(query.to);
  const from = query.from === undefined ? to - rangeDays * dayMs : Date.parse(query.from);
  if (from >= 0 && from < to && to - from <= rangeDaysMax * dayMs) return { from: iso(from), to: iso(to) };
  const message = `from must be before to, and at most ${rangeDaysMax} days before it.`;
  return refuse([{ field: 'from', rule: 'range', message }]);
}
