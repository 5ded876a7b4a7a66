import type { Environment, EventType } from '@parley/contract';
import type { Queryable, Tx } from './db.ts';
import { hasFirst } from './due-store.ts';
import { empty, few, json, type Sql, sql } from './sql.ts';

/** A fact, as it is recorded with the change that made it true. */
export interface StoredEvent {
  id: string;
  projectId: string;
  environment: Environment;
  type: EventType;
  /** The topic whose subscribers get it on a socket, e.g. `chat/<conversation>`; null for none. */
  topic: string | null;
  data: Record<string, unknown>;
  createdAt: string;
}

/** What it takes to dispatch an event: the rest is read from the store by who delivers it. */
export type EventRef = Pick<StoredEvent, 'id' | 'projectId' | 'environment' | 'type'>;

/**
 * SQL that is true when no endpoint waits for events of this project and environment: such an event is stored as dispatched,
 * which saves the second write. Given by the domain that delivers events.
 */
export type DispatchedOnInsert = (projectId: string, environment: string) => Sql;

/** True when neither waits. */
export const both = (one: Sql, other: Sql): Sql => sql`(${one} and ${other})`;

/** SQL that is true when an endpoint asks for the type by its name. Given by the domain that delivers events. */
export type IsAskedFor = (type: EventType, projectId: string, environment: string) => Sql;

/** The insert alone, for a statement that writes more; `condition` may speak of `e`, a row of `events`. */
export const insertingEvents = (events: readonly StoredEvent[], condition: Sql = empty): Sql => sql`
  insert into events (id, project_id, environment, type, topic, data, created_at)
  select e.id, e."projectId", e.environment, e.type, e.topic, e.data, e."createdAt"
  from jsonb_to_recordset(${json(events)}::jsonb) as e (
    id text, "projectId" uuid, environment text, type text, topic text, data text, "createdAt" timestamptz)
  ${condition}`;

export async function insertEvents(tx: Queryable, events: readonly StoredEvent[]): Promise<void> {
  if (events.length > 0) await tx.execute(insertingEvents(events));
}

/**
 * Marks events as dispatched and says which of them this call won: another process may have taken the rest. Written so
 * that it finds them by their ids (ADR 18), never by `events_undispatched`, which still holds the entries of all that
 * were dispatched since the last vacuum.
 */
export async function markDispatched(tx: Tx, ids: readonly string[], at: string): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(sql`
    with given as materialized (
      select found.place from ${few(sql`unnest(${ids}::text[]) as given (id)`, ids.length)} given
      cross join lateral (select e.ctid as place from events e where e.id = given.id limit 1) found
    )
    update events e set dispatched_at = ${at} from given
    where e.ctid = given.place and coalesce(e.dispatched_at, 'infinity') = 'infinity'
    returning e.id`);
  return new Set(rows.map((row) => row.id));
}

const stranded = (before: string): Sql => sql`dispatched_at is null and created_at < ${before}`;

export const isStranded = (before: string): Sql => hasFirst(sql`from events where ${stranded(before)}`, 'created_at');

/** Events that a killed process recorded and did not dispatch, oldest first, locked until the transaction ends. */
export async function lockStrandedEvents(tx: Tx, before: string, limit: number): Promise<StoredEvent[]> {
  return tx.query<StoredEvent>(sql`
    select id, project_id as "projectId", environment, type, topic, data::json as data, created_at as "createdAt"
    from events where ${stranded(before)}
    order by created_at limit ${limit} for update skip locked`);
}
