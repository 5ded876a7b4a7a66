import { sql } from '../../../core/sql.ts';
import { createPostgres } from '../postgres/postgres.ts';
import { readMigrations } from './migrate.ts';

export interface DatabaseFacts {
  latencyMs: number;
  /** 150004 is 15.4. */
  version: number;
  /** The database's clock, in milliseconds. */
  now: number;
  pending: readonly string[];
}

/** What an operator wants to know of a PostgreSQL before a process relies on it. Changes nothing. */
export async function diagnosePostgres(url: string, migrations: string): Promise<DatabaseFacts> {
  const db = createPostgres({ url, poolSize: 1 });
  try {
    const latencyMs = await db.ping();
    const [facts] = await db.query<{ version: number; now: number; migrated: boolean }>(
      sql`select current_setting('server_version_num')::int as version,
            (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
            to_regclass('schema_migrations') is not null as migrated`,
    );
    const done = facts?.migrated ? await db.query<{ name: string }>(sql`select name from schema_migrations`) : [];
    const known = new Set(done.map(({ name }) => name));
    const pending = readMigrations(migrations).filter(({ name }) => !known.has(name));
    return {
      latencyMs,
      version: facts?.version ?? 0,
      now: facts?.now ?? 0,
      pending: pending.map(({ name }) => name),
    };
  } finally {
    await db.close();
  }
}
