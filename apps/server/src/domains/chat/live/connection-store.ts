import type { ChatConnection, Environment } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Reader } from '../../../core/db.ts';
import { empty, json, sql } from '../../../core/sql.ts';

export interface ConnectionRow {
  id: string;
  projectId: string;
  environment: Environment;
  userId: string;
  processId: string;
  userAgent: string | null;
  ip: string | null;
  subscriptions: number;
  messagesSent: number;
  connectedAt: string;
  disconnectedAt: string | null;
  closeCode: number | null;
}

/** Notes connections as they are now: new ones, and what became of known ones. */
export async function upsertConnections(db: Queryable, rows: readonly ConnectionRow[]): Promise<void> {
  if (rows.length === 0) return;
  await db.execute(sql`
    insert into chat_connections (id, project_id, environment, user_id, process_id, user_agent, ip, subscriptions,
                                  messages_sent, connected_at, disconnected_at, close_code)
    select id, "projectId", environment, "userId", "processId", "userAgent", ip, subscriptions, "messagesSent",
           "connectedAt", "disconnectedAt", "closeCode"
    from jsonb_to_recordset(${json(rows)}::jsonb) as r (id uuid, "projectId" uuid, environment text, "userId" text,
      "processId" uuid, "userAgent" text, ip text, subscriptions int, "messagesSent" int, "connectedAt" timestamptz,
      "disconnectedAt" timestamptz, "closeCode" int)
    on conflict (id) do update set subscriptions = excluded.subscriptions, messages_sent = excluded.messages_sent,
      disconnected_at = excluded.disconnected_at, close_code = excluded.close_code`);
}

/** Processes that have open connections: hops from one to the next. */
export async function listProcesses(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    with recursive p as (
      (select process_id as id from chat_connections where disconnected_at is null order by process_id limit 1)
      union all
      select next.id from p cross join lateral (
        select process_id as id from chat_connections
        where disconnected_at is null and process_id > p.id order by process_id limit 1) next)
    select id from p`);
  return rows.map(({ id }) => id);
}

/** Closes what processes that are gone left open. */
export async function closeStrandedConnections(db: Queryable, gone: readonly string[], at: string): Promise<number> {
  return db.execute(sql`
    update chat_connections set disconnected_at = ${at}, close_code = 1006
    where disconnected_at is null and process_id = any(${gone}::uuid[])`);
}

export async function deleteOldConnections(db: Queryable, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from chat_connections where ctid = any(array(
      select ctid from chat_connections where disconnected_at < ${before} order by disconnected_at limit ${limit}))`);
}

/** Newest first. */
export async function listConnections(
  db: Reader,
  { projectId, environment }: ProjectScope,
  after: readonly [connectedAt: string, id: string] | null,
  limit: number,
): Promise<ChatConnection[]> {
  return db.query<ChatConnection>(sql`
    select id, user_id as "userId", connected_at as "connectedAt", disconnected_at as "disconnectedAt",
           close_code as "closeCode", subscriptions, messages_sent as "messagesSent", user_agent as "userAgent", ip
    from chat_connections where project_id = ${projectId} and environment = ${environment}
      ${after === null ? empty : sql`and (connected_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
    order by connected_at desc, id desc limit ${limit}`);
}
