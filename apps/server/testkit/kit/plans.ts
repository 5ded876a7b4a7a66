import type { Db, Row } from '../../src/core/db.ts';
import { raw, type Sql } from '../../src/core/sql.ts';

/**
 * How the database would go about the statements of `work` from now on, had it planned them now, for values that it
 * does not know (ADR 18). Nothing is carried out, and `work` gets no rows.
 */
export async function lastingPlans(db: Db, work: (recorder: Db) => Promise<unknown>): Promise<string> {
  const statements: Sql[] = [];
  const recorder = recorderOf(statements);
  // Most want rows to go on; what was asked until then is recorded.
  await work(recorder).catch(() => {});
  const plans = await db.transaction(async (tx) => {
    await tx.execute(raw('set local plan_cache_mode = force_generic_plan'));
    const lines: string[] = [];
    for (const { text, values } of statements) {
      await tx.execute(raw(`prepare to_explain as ${text}`));
      const unknown = values.map(() => 'null').join();
      const rows = await tx.query(raw(`explain (costs off) execute to_explain${unknown && `(${unknown})`}`));
      lines.push(...rows.flatMap((row) => Object.values(row).map(String)));
      await tx.execute(raw('deallocate to_explain'));
    }
    return lines;
  });
  return plans.join('\n');
}

function recorderOf(statements: Sql[]): Db {
  const record = async (statement: Sql): Promise<never[]> => {
    statements.push(statement);
    return [];
  };
  const recorder: Db = {
    dialect: 'postgres',
    query: record,
    execute: async (statement) => (await record(statement)).length,
    transaction: (work) => work({ ...recorder, isTransaction: true }),
    async batch(all): Promise<Row[][]> {
      statements.push(...all);
      return all.map(() => []);
    },
    script: async () => {},
    ping: async () => 0,
    close: async () => {},
  };
  return recorder;
}
