import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';

/** The line with which a migration says that its indexes are built or dropped while others write, and why. */
const saysSo = /^--\s*concurrently:\s+\S/m;
const made = /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+([a-z0-9_]+)\s+on\s/i;
const dropped = /^drop\s+index\s+concurrently\s+if\s+exists\s+([a-z0-9_]+)$/i;
const lookEveryMs = 200;

interface ConcurrentIndex {
  name: string;
  statement: string;
  isDropped: boolean;
}

export const isConcurrent = (text: string): boolean => saysSo.test(text);

/** Its statements; undefined when one of them is something else, which would be done by halves if it failed. */
export function concurrentIndexes(text: string): ConcurrentIndex[] | undefined {
  const statements = text
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const indexes = statements.map((statement) => {
    const isDropped = dropped.test(statement);
    const name = (isDropped ? dropped : made).exec(statement)?.[1] ?? '';
    return { name, statement, isDropped };
  });
  return indexes.every(({ name }) => name !== '') ? indexes : undefined;
}

/** For a database in which nobody else writes: a build of that kind needs a session and a transaction to itself. */
export const asPlain = (text: string): string => text.replace(/\bindex\s+concurrently\b/gi, 'index');

/** Whatever a killed process or another one has done of it already. */
export const applyIndex = (db: Db, index: ConcurrentIndex): Promise<void> =>
  index.isDropped ? dropIndex(db, index) : buildIndex(db, index);

/** Of two processes at once one finds nothing any more. */
async function dropIndex(db: Db, { name, statement }: ConcurrentIndex): Promise<void> {
  while ((await stateOf(db, name)) !== undefined)
    await withoutTimeout(db, statement).catch(async (error) => {
      if ((await stateOf(db, name)) !== undefined) throw error;
    });
}

/**
 * Builds an index, or waits for the process that does. Without a lock: who waits for one holds a snapshot, and
 * the build waits for those. What a killed process left unfinished is dropped and built anew.
 */
async function buildIndex(db: Db, { name, statement }: ConcurrentIndex): Promise<void> {
  for (;;) {
    const state = await stateOf(db, name);
    if (state === 'valid') return;
    if (state === 'building') await wait(lookEveryMs);
    else if (state === 'broken') await withoutTimeout(db, `drop index concurrently if exists ${name}`);
    // Another process may have been first: what it did is seen at the next look.
    else await withoutTimeout(db, statement).catch(async (error) => void ((await stateOf(db, name)) ?? raise(error)));
  }
}

const withoutTimeout = (db: Db, statement: string): Promise<void> =>
  db.script('set statement_timeout = 0', statement, 'reset statement_timeout');

async function stateOf(db: Db, name: string): Promise<'valid' | 'building' | 'broken' | undefined> {
  const [row] = await db.query<{ isValid: boolean; isBuilding: boolean }>(sql`
    select i.indisvalid as "isValid",
      exists (select from pg_stat_progress_create_index p
              where p.datname = current_database() and p.relid = i.indrelid) as "isBuilding"
    from pg_index i where i.indexrelid = to_regclass(${name})`);
  if (!row) return undefined;
  if (row.isValid) return 'valid';
  return row.isBuilding ? 'building' : 'broken';
}

function raise(error: unknown): never {
  throw error;
}
