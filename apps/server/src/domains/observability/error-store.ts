import type { Environment } from '@parley/contract';
import type { Reader, Tx } from '../../core/db.ts';
import { empty, json, sql } from '../../core/sql.ts';
import type { After } from './connection-store.ts';

export interface ErrorRow {
  id: string;
  category: string;
  code: string;
  connection: string;
  connectionId: string;
  roomId: string;
  identity: string;
  occurredAt: string;
  createdAt: string;
  count: number;
  context: Record<string, unknown>;
}

/** The same code on the same connection is counted, not listed again. */
export async function upsertErrors(
  tx: Tx,
  rows: readonly {
    id: string;
    projectId: string;
    environment: Environment;
    connection: string;
    category: string;
    code: string;
    at: string;
    count: number;
    context: unknown;
  }[],
): Promise<void> {
  await tx.execute(sql`
    insert into classified_errors as e (id, project_id, environment, connection, category, code, occurred_at, created_at, count, context)
    select r->>'id', (r->>'projectId')::uuid, r->>'environment', (r->>'connection')::uuid, r->>'category', r->>'code',
           (r->>'at')::timestamptz, (r->>'at')::timestamptz, (r->>'count')::integer, r->'context'
    from jsonb_array_elements(${json(rows)}::jsonb) r
    on conflict (connection, code) do update
      set count = e.count + excluded.count, occurred_at = greatest(e.occurred_at, excluded.occurred_at), context = excluded.context`);
}

const columns = sql`e.id, e.category, e.code, e.connection, c.connection_id as "connectionId", c.room_id as "roomId",
  c.participant_identity as identity, e.occurred_at as "occurredAt", e.created_at as "createdAt", e.count, e.context`;

/** Newest first. */
export async function listErrors(
  db: Reader,
  projectId: string,
  environment: Environment,
  filter: { category?: string | undefined; connection?: string | undefined; after?: After; limit: number },
): Promise<ErrorRow[]> {
  const { category, connection, after = null, limit } = filter;
  return db.query<ErrorRow>(sql`
    select ${columns} from classified_errors e join connections c on c.id = e.connection
    where e.project_id = ${projectId} and e.environment = ${environment}
      ${category === undefined ? empty : sql`and e.category = ${category}`}
      ${connection === undefined ? empty : sql`and e.connection = ${connection}`}
      ${after === null ? empty : sql`and (e.occurred_at, e.id) < (${after[0]}::timestamptz, ${after[1]})`}
    order by e.occurred_at desc, e.id desc limit ${limit}`);
}

export async function findError(
  db: Reader,
  projectId: string,
  environment: Environment,
  id: string,
): Promise<ErrorRow | undefined> {
  const [row] = await db.query<ErrorRow>(sql`
    select ${columns} from classified_errors e join connections c on c.id = e.connection
    where e.project_id = ${projectId} and e.environment = ${environment} and e.id = ${id}`);
  return row;
}
