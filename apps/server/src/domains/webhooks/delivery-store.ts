import type { Delivery, DeliveryStatus, Environment } from '@parley/contract';
import type { Queryable, Reader } from '../../core/db.ts';
import { empty, raw, type Sql, sql } from '../../core/sql.ts';
import { takes } from './queue-store.ts';

/** A delivery as it is stored; how many attempts there can be is a limit, not a column. */
export type DeliveryRow = Omit<Delivery, 'maxAttempts'>;

const columns = sql`d.id, d.webhook_id as "webhookId", d.event_id as "eventId", d.event_type as "eventType", d.status,
  d.attempts, ('[' || array_to_string(d.attempt_log, ',') || ']')::json as "attemptLog", d.created_at as "createdAt", d.delivered_at as "deliveredAt",
  d.failed_at as "failedAt", (last.entry->>'statusCode')::int as "lastStatusCode",
  last.entry->>'error' as "lastError", (last.entry->>'durationMs')::int as "lastDurationMs",
  case when d.status in ('PENDING', 'RETRYING') and w.status = 'ENABLED' then greatest(d.due_at, d.claimed_until) end as "nextAttemptAt"`;

const ofWebhook = (projectId: string, webhookId: string): Sql => sql`
  from deliveries d join webhooks w on w.id = d.webhook_id
  cross join lateral (select d.attempt_log[cardinality(d.attempt_log)]::json as entry) last
  where d.webhook_id = ${webhookId} and d.project_id = ${projectId}`;

interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  eventType?: string | undefined;
  eventId?: string | undefined;
  before: string | null;
  limit: number;
}

/** Newest first. */
export function listDeliveries(
  db: Reader,
  projectId: string,
  webhookId: string,
  { status, eventType, eventId, before, limit }: DeliveryFilter,
): Promise<DeliveryRow[]> {
  return db.query<DeliveryRow>(sql`
    select ${columns} ${ofWebhook(projectId, webhookId)}
      ${status === undefined ? empty : sql`and d.status = ${status}`}
      ${eventType === undefined ? empty : sql`and d.event_type = ${eventType}`}
      ${eventId === undefined ? empty : sql`and d.event_id = ${eventId}`}
      ${before === null ? empty : sql`and d.id < ${before}`}
    order by d.id desc limit ${limit}`);
}

export async function findDelivery(
  db: Queryable,
  projectId: string,
  webhookId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  const [row] = await db.query<DeliveryRow>(sql`select ${columns} ${ofWebhook(projectId, webhookId)} and d.id = ${id}`);
  return row;
}

/** Queues what was queued before once more, under a new id; false when its event is no longer kept. */
export async function copyDelivery(
  db: Queryable,
  projectId: string,
  webhookId: string,
  id: string,
  copy: { id: string; at: string },
): Promise<boolean> {
  const copied = await db.execute(sql`
    insert into deliveries (webhook_id, id, project_id, event_id, event_type, test_body, due_at, created_at)
    select d.webhook_id, ${copy.id}, d.project_id, d.event_id, d.event_type, d.test_body, ${copy.at}::timestamptz,
           ${copy.at}::timestamptz
    from deliveries d
    where d.webhook_id = ${webhookId} and d.project_id = ${projectId} and d.id = ${id}
      and (d.test_body is not null or exists (select from events e where e.id = d.event_id))`);
  return copied === 1;
}

export async function insertTestDelivery(
  db: Queryable,
  projectId: string,
  webhookId: string,
  test: { id: string; eventId: string; eventType: string; body: string; at: string },
): Promise<void> {
  await db.execute(sql`
    insert into deliveries (webhook_id, id, project_id, event_id, event_type, test_body, due_at, created_at)
    values (${webhookId}, ${test.id}, ${projectId}, ${test.eventId}, ${test.eventType}, ${test.body}, ${test.at}, ${test.at})`);
}

interface RecoverRange {
  environment: Environment;
  /** Types the endpoint receives; empty for all. */
  events: readonly string[];
  since: string;
  until: string;
  limit: number;
  at: string;
  /** A fresh id: its time and its randomness go into the ids that are made here. */
  seed: string;
}

/** Queues the events of a range that the endpoint neither got nor is about to get, oldest first; says how many. */
export function recoverDeliveries(
  db: Queryable,
  projectId: string,
  webhookId: string,
  { environment, events, since, until, limit, at, seed }: RecoverRange,
): Promise<number> {
  return db.execute(sql`
    insert into deliveries (webhook_id, id, project_id, event_id, event_type, due_at, created_at)
    select ${webhookId}, ${seed.slice(0, 14)} || left(md5(e.id || ${seed}), 14), e.project_id, e.id, e.type,
           ${at}::timestamptz, ${at}::timestamptz
    from events e
    where e.project_id = ${projectId} and e.environment = ${environment}
      and e.created_at >= ${since} and e.created_at < ${until} and e.dispatched_at is not null
      and ${takes(sql`${events}::text[]`, raw('e.type'))}
      and not exists (
        select from deliveries d
        where d.webhook_id = ${webhookId} and d.event_id = e.id and d.status in ('PENDING', 'RETRYING', 'DELIVERED'))
    order by e.created_at, e.id limit ${limit}`);
}
