import type { Db, Row, Tx } from '../../src/core/db.ts';
import { raw, Sql } from '../../src/core/sql.ts';

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

interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

const rowsIn = (plan: Plan, table: string): number =>
  (plan['Relation Name'] === table
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0) + (plan.Plans ?? []).reduce((total, inner) => total + rowsIn(inner, table), 0);

/**
 * How many rows of a table the statements of `work` read, as in the table of a whole deployment, which nobody reads from
 * its beginning. Each is carried out, those that only read twice.
 */
export function rowsRead(db: Db, table: string, work: (tx: Tx) => Promise<unknown>): Promise<number> {
  return db.transaction(async (tx) => {
    let total = 0;
    await tx.execute(raw('set local enable_seqscan = off'));
    async function explain({ strings, values }: Sql): Promise<void> {
      const text = `explain (analyze, timing off, summary off, format json) ${strings[0]}`;
      const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(new Sql([text, ...strings.slice(1)], values));
      total += row ? rowsIn(row['QUERY PLAN'][0].Plan, table) : 0;
    }
    await work({
      ...tx,
      async query<T extends object>(statement: Sql): Promise<T[]> {
        await explain(statement);
        return tx.query<T>(statement);
      },
      async execute(statement) {
        await explain(statement);
        return 0;
      },
    });
    return total;
  });
}
