import type { Environment, Webhook, WebhookStatus } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Db, Queryable, Tx } from '../../core/db.ts';
import { lockByName } from '../../core/quotas.ts';
import { empty, join, raw, type Sql, sql } from '../../core/sql.ts';

const columns = sql`id, project_id as "projectId", environment, url, events, status,
  consecutive_failures as "consecutiveFailures", last_delivery_at as "lastDeliveryAt", last_error as "lastError",
  description, header_names as "headerNames", secret_hint as "secretHint",
  previous_secret_expires_at as "previousSecretExpiresAt", created_at as "createdAt", updated_at as "updatedAt",
  disabled_at as "disabledAt"`;

interface NewWebhookRow {
  id: string;
  environment: Environment;
  url: string;
  events: readonly string[];
  description: string | null;
  headersSealed: string | null;
  headerNames: readonly string[];
  secretSealed: string;
  secretHint: string;
  at: string;
}

/** Undefined when the project is archived, or has `max` of them already. */
export async function insertWebhook(
  db: Db,
  projectId: string,
  row: NewWebhookRow,
  max: number,
): Promise<Webhook | undefined> {
  const [webhook] = await db.transaction(async (tx) => {
    await tx.query(lockByName(`webhooks ${projectId}`));
    return tx.query<Webhook>(sql`
    insert into webhooks (id, project_id, environment, url, events, description, headers_sealed, header_names,
                          secret_sealed, secret_hint, created_at, updated_at)
    select ${row.id}, p.id, ${row.environment}, ${row.url}, ${row.events}::text[], ${row.description},
           ${row.headersSealed}, ${row.headerNames}::text[], ${row.secretSealed}, ${row.secretHint}, ${row.at}::timestamptz,
           ${row.at}::timestamptz
    from projects p where p.id = ${projectId} and p.status = 'ACTIVE'
      and (select count(*) from webhooks where project_id = ${projectId}) < ${max}
    returning ${columns}`);
  });
  return webhook;
}

export async function countWebhooks(db: Queryable, projectId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::int as count from webhooks where project_id = ${projectId}`);
  return row?.count ?? 0;
}

export async function findWebhook(db: Queryable, projectId: string, id: string): Promise<Webhook | undefined> {
  const [webhook] = await db.query<Webhook>(
    sql`select ${columns} from webhooks where project_id = ${projectId} and id = ${id}`,
  );
  return webhook;
}

/** Newest first: ids begin with their time. */
export function listWebhooks(
  db: Queryable,
  projectId: string,
  { environment, before, limit }: { environment: Environment | null; before: string | null; limit: number },
): Promise<Webhook[]> {
  return db.query<Webhook>(sql`
    select ${columns} from webhooks
    where project_id = ${projectId} ${environment === null ? empty : sql`and environment = ${environment}`}
      ${before === null ? empty : sql`and id < ${before}`}
    order by id desc limit ${limit}`);
}

/** Endpoints that failed at least so often in a row, or were disabled for it. */
export function listFailing(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  failures: number,
  id: string | null,
): Promise<{ id: string; consecutiveFailures: number }[]> {
  return db.query(sql`
    select id, consecutive_failures as "consecutiveFailures" from webhooks
    where project_id = ${projectId} and environment = ${environment} ${id === null ? empty : sql`and id = ${id}`}
      and (status = 'AUTO_DISABLED' or (status = 'ENABLED' and consecutive_failures >= ${failures}::float8))
    order by consecutive_failures desc, id limit 20`);
}

export interface WebhookChange {
  url?: string;
  events?: readonly string[];
  description?: string | null;
  headersSealed?: string | null;
  headerNames?: readonly string[];
}

export async function updateWebhook(
  db: Queryable,
  projectId: string,
  id: string,
  change: WebhookChange,
  at: string,
): Promise<Webhook | undefined> {
  const names = {
    url: 'url',
    events: 'events',
    description: 'description',
    headersSealed: 'headers_sealed',
    headerNames: 'header_names',
  } as const;
  const sets: Sql[] = (Object.keys(names) as (keyof WebhookChange)[])
    .filter((name) => change[name] !== undefined)
    .map((name) => sql`${raw(names[name])} = ${change[name]}`);
  const [webhook] = await db.query<Webhook>(sql`
    update webhooks set ${join([...sets, sql`updated_at = ${at}`])}
    where project_id = ${projectId} and id = ${id} returning ${columns}`);
  return webhook;
}

/** Moves to a status; undefined when it was there already. Enabling forgets the failures. */
export async function setWebhookStatus(
  db: Queryable,
  projectId: string,
  id: string,
  status: Exclude<WebhookStatus, 'AUTO_DISABLED'>,
  at: string,
): Promise<Webhook | undefined> {
  const change =
    status === 'ENABLED'
      ? sql`consecutive_failures = 0, disabled_at = null, last_error = null`
      : sql`disabled_at = ${at}`;
  const [webhook] = await db.query<Webhook>(sql`
    update webhooks set status = ${status}, updated_at = ${at}, ${change}
    where project_id = ${projectId} and id = ${id} and status <> ${status} returning ${columns}`);
  return webhook;
}

export async function rotateSecret(
  db: Queryable,
  projectId: string,
  id: string,
  next: { sealed: string; hint: string; previousExpiresAt: string | null; at: string },
): Promise<Webhook | undefined> {
  const keeps = next.previousExpiresAt !== null;
  const [webhook] = await db.query<Webhook>(sql`
    update webhooks
    set previous_secret_sealed = ${keeps ? raw('secret_sealed') : null}, secret_sealed = ${next.sealed},
        previous_secret_expires_at = ${next.previousExpiresAt}, secret_hint = ${next.hint}, updated_at = ${next.at}
    where project_id = ${projectId} and id = ${id} returning ${columns}`);
  return webhook;
}

/** Deletes the endpoint and cancels what was queued for it; false when there is none. */
export async function deleteWebhook(tx: Tx, projectId: string, id: string): Promise<boolean> {
  const removed = await tx.execute(sql`delete from webhooks where project_id = ${projectId} and id = ${id}`);
  if (removed === 0) return false;
  await cancelDeliveries(tx, projectId, id, null);
  return true;
}

/** Cancels what is queued for the endpoint; of these types only, unless null. */
export async function cancelDeliveries(
  tx: Tx,
  projectId: string,
  id: string,
  types: readonly string[] | null,
): Promise<void> {
  await tx.execute(sql`
    update deliveries set status = 'CANCELLED'
    where webhook_id = ${id} and project_id = ${projectId} and status in ('PENDING', 'RETRYING')
      ${types === null ? empty : sql`and event_type = any(${types})`}`);
}

/** What an endpoint has that is sealed. */
export interface SealedColumns {
  secret: string;
  previousSecret: string | null;
  headers: string | null;
}

export function listSealed(db: Queryable, after: string, limit: number): Promise<({ id: string } & SealedColumns)[]> {
  return db.query(sql`
    select id, secret_sealed as secret, previous_secret_sealed as "previousSecret", headers_sealed as headers
    from webhooks where id > ${after} order by id limit ${limit}`);
}

/** Unless somebody has changed it meanwhile: then it is sealed anew already. Gives 1 or 0. */
export function replaceSealed(db: Queryable, id: string, before: SealedColumns, after: SealedColumns): Promise<number> {
  return db.execute(sql`
    update webhooks set secret_sealed = ${after.secret}, previous_secret_sealed = ${after.previousSecret},
      headers_sealed = ${after.headers}
    where id = ${id} and secret_sealed = ${before.secret}
      and previous_secret_sealed is not distinct from ${before.previousSecret}
      and headers_sealed is not distinct from ${before.headers}`);
}
