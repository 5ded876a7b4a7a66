import type { AuditEntry } from '@parley/contract';
import type { Db } from '../../core/db.ts';
import { empty, json, sql } from '../../core/sql.ts';

export type NewAuditEntry = Omit<AuditEntry, 'publicId'>;

/** Writing the same entry again, after a write whose outcome is unknown, changes nothing. */
export async function insertEntry(db: Db, projectId: string, entry: NewAuditEntry): Promise<void> {
  await db.execute(sql`
    insert into audit_entries (id, project_id, environment, actor_id, actor_email, action, resource_type, resource_id,
                               metadata, request_id, ip_address, user_agent, created_at)
    values (${entry.id}, ${projectId}, ${entry.environment}, ${entry.actorId}, ${entry.actorEmail}, ${entry.action},
            ${entry.resourceType}, ${entry.resourceId}, ${json(entry.metadata)}::jsonb, ${entry.requestId},
            ${entry.ipAddress}, ${entry.userAgent}, ${entry.createdAt})
    on conflict (id) do nothing`);
}

interface AuditFilter {
  action?: string | undefined;
  actorId?: string | undefined;
  resourceId?: string | undefined;
  before?: string | undefined;
  limit: number;
}

/** Newest first. */
export async function listEntries(db: Db, projectId: string, filter: AuditFilter): Promise<AuditEntry[]> {
  const { action, actorId, resourceId, before, limit } = filter;
  return db.query<AuditEntry>(sql`
    select id, id as "publicId", project_id as "projectId", environment, actor_id as "actorId",
           actor_email as "actorEmail", action, resource_type as "resourceType", resource_id as "resourceId", metadata,
           request_id as "requestId", ip_address as "ipAddress", user_agent as "userAgent", created_at as "createdAt"
    from audit_entries
    where project_id = ${projectId}
      ${action === undefined ? empty : sql`and action = ${action}`}
      ${actorId === undefined ? empty : sql`and actor_id::text = ${actorId}`}
      ${resourceId === undefined ? empty : sql`and resource_id = ${resourceId}`}
      ${before === undefined ? empty : sql`and (created_at, id) < (select created_at, id from audit_entries where project_id = ${projectId} and id = ${before})`}
    order by created_at desc, id desc
    limit ${limit}`);
}

export async function hasEntry(db: Db, projectId: string, id: string): Promise<boolean> {
  const rows = await db.query(sql`select 1 as one from audit_entries where project_id = ${projectId} and id = ${id}`);
  return rows.length === 1;
}
