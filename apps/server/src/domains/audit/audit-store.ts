import type { AuditEntry } from '@parley/contract';
import type { Db, Reader } from '../../core/db.ts';
import { type IsAskedFor, insertingEvents, type StoredEvent } from '../../core/event-store.ts';
import { empty, json, type Sql, sql } from '../../core/sql.ts';

export type NewAuditEntry = Omit<AuditEntry, 'publicId'>;

/** Selected, so that a condition can follow. */
const insert = (entry: NewAuditEntry): Sql => sql`
  insert into audit_entries (id, project_id, environment, actor_id, actor_email, action, resource_type, resource_id,
                             metadata, request_id, ip_address, user_agent, created_at)
  select ${entry.id}, ${entry.projectId}::uuid, ${entry.environment}, ${entry.actorId}::uuid, ${entry.actorEmail},
         ${entry.action}, ${entry.resourceType}, ${entry.resourceId}, ${json(entry.metadata)}::jsonb,
         ${entry.requestId}, ${entry.ipAddress}, ${entry.userAgent}, ${entry.createdAt}::timestamptz`;

/** An entry and what it is as an event, in each of its environments. */
export interface RecordedEntry {
  entry: NewAuditEntry;
  events: readonly StoredEvent[];
  isAskedFor: IsAskedFor;
}

/**
 * Writes the entry and, if this call is the one that did, its events where an endpoint asks for them: one statement, so
 * both are stored or neither is. Gives the ids of the events.
 */
async function write(db: Db, before: Sql, entry: Sql, { events, isAskedFor }: RecordedEntry): Promise<Set<string>> {
  const isWanted = sql`where exists (select from written) and ${isAskedFor('audit.recorded', 'e."projectId"', 'e.environment')}`;
  const rows = await db.query<{ id: string }>(sql`
    with ${before} written as (${entry} on conflict (id) do nothing returning 1)
    ${insertingEvents(events, isWanted)}
    returning id`);
  return new Set(rows.map(({ id }) => id));
}

/** Writing the same entry again, after a write whose outcome is unknown, changes nothing. */
export const insertEntry = (db: Db, recorded: RecordedEntry): Promise<Set<string>> =>
  write(db, empty, insert(recorded.entry), recorded);

/** Writes the entry when the network is new to the key and the key has not been in too many: once, whichever call is first. */
export function insertNetworkEntry(
  db: Db,
  { keyId, network, networksMax }: { keyId: string; network: string; networksMax: number },
  recorded: RecordedEntry,
): Promise<Set<string>> {
  const { entry } = recorded;
  const fresh = sql`
    fresh as (
      insert into api_key_networks (key_id, network, first_used_at)
      select ${keyId}::uuid, ${network}, ${entry.createdAt}::timestamptz
      where (select count(*) from api_key_networks where key_id = ${keyId}) < ${networksMax}
      on conflict do nothing
      returning 1),`;
  return write(db, fresh, sql`${insert(entry)} from fresh`, recorded);
}

interface AuditFilter {
  action?: string | undefined;
  actorId?: string | undefined;
  resourceId?: string | undefined;
}

/** Newest first. */
function select(projectId: string, { action, actorId, resourceId }: AuditFilter, range: Sql, limit: number): Sql {
  return sql`
    select id, id as "publicId", project_id as "projectId", environment, actor_id as "actorId",
           actor_email as "actorEmail", action, resource_type as "resourceType", resource_id as "resourceId", metadata,
           request_id as "requestId", ip_address as "ipAddress", user_agent as "userAgent", created_at as "createdAt"
    from audit_entries
    where project_id = ${projectId}
      ${action === undefined ? empty : sql`and action = ${action}`}
      ${actorId === undefined ? empty : sql`and actor_id::text = ${actorId}`}
      ${resourceId === undefined ? empty : sql`and resource_id = ${resourceId}`}
      ${range}
    order by created_at desc, id desc
    limit ${limit}`;
}

export async function listEntries(
  db: Reader,
  projectId: string,
  filter: AuditFilter & { before?: string | undefined; limit: number },
): Promise<AuditEntry[]> {
  const { before, limit } = filter;
  const range =
    before === undefined
      ? empty
      : sql`and (created_at, id) < (select created_at, id from audit_entries where project_id = ${projectId} and id = ${before})`;
  return db.query<AuditEntry>(select(projectId, filter, range, limit));
}

/** A page of a time range; `after` is the last entry of the page before. */
export async function listRange(
  db: Reader,
  projectId: string,
  filter: AuditFilter & { from: string; to: string; after: AuditEntry | undefined; limit: number },
): Promise<AuditEntry[]> {
  const { from, to, after, limit } = filter;
  const range = sql`and created_at >= ${from} and created_at < ${to}
    ${after === undefined ? empty : sql`and (created_at, id) < (${after.createdAt}::timestamptz, ${after.id})`}`;
  return db.query<AuditEntry>(select(projectId, filter, range, limit));
}

export async function hasEntry(db: Reader, projectId: string, id: string): Promise<boolean> {
  const rows = await db.query(sql`select 1 as one from audit_entries where project_id = ${projectId} and id = ${id}`);
  return rows.length === 1;
}
