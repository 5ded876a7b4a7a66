import type { Reader } from './db.ts';
import { join, raw, Sql, sql } from './sql.ts';

/** SQL that is true when there is something to do, or the answer where it is known without the database. */
export type Due = Sql | boolean;

/**
 * True when there is such a row: the first in an order that an index has. PostgreSQL takes an `exists` whose values it does
 * not know for one that soon meets a row, and reads what is large and mostly not due (ADR 18).
 */
export const hasFirst = (rows: Sql, order: string): Sql =>
  sql`(select true ${rows} order by ${raw(order)} limit 1) is not null`;

/** Which of them are true, in one row. What is known goes along as a value, so that the text stays the same one. */
export async function findDue(db: Reader, conditions: readonly Due[]): Promise<boolean[]> {
  if (!conditions.some((due) => due instanceof Sql)) return conditions.map((due) => due === true);
  const columns = conditions.map(
    (due, at) => sql`${due instanceof Sql ? due : sql`${due}::boolean`} as ${raw(`"${at}"`)}`,
  );
  const [row] = await db.query<Record<string, boolean>>(sql`select ${join(columns)}`);
  return conditions.map((_, at) => row?.[at] === true);
}
