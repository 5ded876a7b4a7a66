import type { Alert, AlertChange, AlertState } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable, Tx } from '../../core/db.ts';
import { empty, join, raw, type Sql, sql } from '../../core/sql.ts';
import type { Verdict } from './judge.ts';

/** With what only evaluations need. */
export interface StoredAlert extends Alert {
  isBreached: boolean;
  isTold: boolean;
  streak: number;
}

const columns = sql`a.id, a.project_id as "projectId", a.environment, a.name, a.kind, a.bound,
  a.window_minutes as "windowMinutes", a.meter, a.period, a.target, a.emails, a.webhook, a.state, a.since,
  a.silenced_until as "silencedUntil", a.is_breached as "isBreached", a.is_told as "isTold", a.streak, a.value, a.detail,
  a.evaluated_at as "evaluatedAt", a.created_at as "createdAt", a.updated_at as "updatedAt"`;

export type AlertCondition = Pick<
  Alert,
  'name' | 'kind' | 'bound' | 'windowMinutes' | 'meter' | 'period' | 'target' | 'emails' | 'webhook'
>;

export async function insertAlert(
  tx: Tx,
  { projectId, environment }: ProjectScope,
  id: string,
  alert: AlertCondition,
  at: string,
): Promise<StoredAlert> {
  const [row] = await tx.query<StoredAlert>(sql`
    insert into alerts as a (id, project_id, environment, name, kind, bound, window_minutes, meter, period, target, emails,
      webhook, since, created_at, updated_at)
    values (${id}, ${projectId}, ${environment}, ${alert.name}, ${alert.kind}, ${alert.bound}, ${alert.windowMinutes},
      ${alert.meter}, ${alert.period}, ${alert.target}, ${alert.emails}::text[], ${alert.webhook}, ${at}, ${at}, ${at})
    returning ${columns}`);
  return row as StoredAlert;
}

const isOurs = ({ projectId, environment }: ProjectScope): Sql =>
  sql`a.project_id = ${projectId} and a.environment = ${environment}`;

export async function findAlert(db: Queryable, scope: ProjectScope, id: string): Promise<StoredAlert | undefined> {
  const [row] = await db.query<StoredAlert>(
    sql`select ${columns} from alerts a where ${isOurs(scope)} and a.id = ${id}`,
  );
  return row;
}

/** Newest first: ids begin with their time. */
export function listAlerts(
  db: Queryable,
  scope: ProjectScope,
  { state, before, limit }: { state: AlertState | null; before: string | null; limit: number },
): Promise<StoredAlert[]> {
  return db.query<StoredAlert>(sql`
    select ${columns} from alerts a where ${isOurs(scope)}
      ${state === null ? empty : sql`and a.state = ${state}`} ${before === null ? empty : sql`and a.id < ${before}`}
    order by a.id desc limit ${limit}`);
}

/** Another condition starts counting anew. */
export async function updateAlert(
  db: Queryable,
  scope: ProjectScope,
  id: string,
  change: Partial<AlertCondition>,
  at: string,
): Promise<StoredAlert | undefined> {
  const names = {
    name: 'name',
    bound: 'bound',
    windowMinutes: 'window_minutes',
    meter: 'meter',
    period: 'period',
    target: 'target',
    emails: 'emails',
    webhook: 'webhook',
  } as const;
  const sets = (Object.keys(names) as (keyof typeof names)[])
    .filter((name) => change[name] !== undefined)
    .map((name) => sql`${raw(names[name])} = ${change[name]}`);
  const [row] = await db.query<StoredAlert>(sql`
    update alerts a set ${join([...sets, sql`streak = 0`, sql`updated_at = ${at}`])}
    where ${isOurs(scope)} and a.id = ${id} returning ${columns}`);
  return row;
}

export async function deleteAlert(tx: Tx, scope: ProjectScope, id: string): Promise<boolean> {
  return (await tx.execute(sql`delete from alerts a where ${isOurs(scope)} and a.id = ${id}`)) === 1;
}

/** Moves it into or out of silence; undefined when there is no such alert. */
export async function updateSilence(
  tx: Tx,
  scope: ProjectScope,
  id: string,
  until: string | null,
  at: string,
): Promise<StoredAlert | undefined> {
  const [row] = await tx.query<StoredAlert>(sql`
    update alerts a set silenced_until = ${until}, updated_at = ${at},
      state = case when ${until}::timestamptz is not null then 'SILENCED' when a.is_breached then 'FIRING' else 'OK' end,
      since = case when (a.state = 'SILENCED') = (${until}::timestamptz is not null) then a.since else ${at} end
    where ${isOurs(scope)} and a.id = ${id} returning ${columns}`);
  return row;
}

/** Those of active projects that nobody has evaluated since `before`, by id from after one. */
export function listDue(
  db: Queryable,
  { before, after, limit, projectId }: { before: string; after: string; limit: number; projectId: string | null },
): Promise<StoredAlert[]> {
  return db.query<StoredAlert>(sql`
    select ${columns} from alerts a join projects p on p.id = a.project_id and p.status = 'ACTIVE'
    where a.id > ${after} and (a.evaluated_at is null or a.evaluated_at <= ${before})
      ${projectId === null ? empty : sql`and a.project_id = ${projectId}`}
    order by a.id limit ${limit}`);
}

/** The alert as it was read, for this transaction; undefined when another process has evaluated it or somebody changed it. */
export async function lockUnchanged(tx: Tx, read: StoredAlert): Promise<StoredAlert | undefined> {
  const [row] = await tx.query<StoredAlert>(sql`
    select ${columns} from alerts a
    where a.id = ${read.id} and a.updated_at = ${read.updatedAt} and a.evaluated_at is not distinct from ${read.evaluatedAt}::timestamptz
    for update`);
  return row;
}

export async function saveVerdict(
  tx: Tx,
  id: string,
  verdict: Verdict & { since: string; value: number | null; detail: string | null },
  at: string,
): Promise<void> {
  await tx.execute(sql`
    update alerts set state = ${verdict.state}, since = ${verdict.since}, silenced_until = ${verdict.silencedUntil},
      is_breached = ${verdict.isBreached}, is_told = ${verdict.isTold}, streak = ${verdict.streak},
      value = ${verdict.value}, detail = ${verdict.detail}, evaluated_at = ${at}
    where id = ${id}`);
}

export async function insertChange(
  tx: Tx,
  alertId: string,
  { at, state, value, detail, notified }: Omit<AlertChange, 'id'>,
): Promise<void> {
  await tx.execute(sql`
    insert into alert_changes (alert_id, at, state, value, detail, told)
    values (${alertId}, ${at}, ${state}, ${value}, ${detail}, ${notified})`);
}

/** Newest first. */
export function listChanges(
  db: Queryable,
  alertId: string,
  { before, limit }: { before: string | null; limit: number },
): Promise<AlertChange[]> {
  return db.query<AlertChange>(sql`
    select id::text, at, state, value, detail, told as notified from alert_changes
    where alert_id = ${alertId} ${before === null ? empty : sql`and id < ${before}::bigint`}
    order by alert_changes.id desc limit ${limit}`);
}

export const deleteOldChanges = (db: Queryable, before: string, limit: number): Promise<number> =>
  db.execute(sql`
    delete from alert_changes where id in (select id from alert_changes where at < ${before} order by at limit ${limit})`);
