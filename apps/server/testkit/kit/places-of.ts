import assert from 'node:assert/strict';
import type { Queryable } from '../../src/core/db.ts';
import { raw, sql } from '../../src/core/sql.ts';

/** Every column of every table that holds this text. */
export async function placesOf(db: Queryable, text: string): Promise<string[]> {
  const columns = await db.query<{ table: string; column: string }>(sql`
    select c.table_name as "table", c.column_name as "column" from information_schema.columns c
    join information_schema.tables t on t.table_name = c.table_name and t.table_schema = c.table_schema
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
      and c.data_type in ('text', 'jsonb', 'json', 'character varying', 'ARRAY', 'tsvector')`);
  assert.ok(columns.length > 150, 'saw too few columns');
  const found: string[] = [];
  for (const { table, column } of columns) {
    const [row] = await db.query<{ count: number }>(sql`
      select count(*) as count from ${raw(table)} where strpos(${raw(`"${column}"`)}::text, ${text}) > 0`);
    if ((row?.count ?? 0) > 0) found.push(`${table}.${column}`);
  }
  return found.sort();
}
