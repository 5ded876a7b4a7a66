import type { PushContent, PushLevel } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable } from '../../core/db.ts';
import { join, raw, type Sql, sql } from '../../core/sql.ts';

/** How an environment sends. What is sealed is opened only to send. */
export interface SettingsRow {
  content: PushContent;
  level: PushLevel;
  vapidPublic: string;
  vapidSealed: string;
  vapidSubject: string | null;
  fcmProject: string | null;
  fcmEmail: string | null;
  fcmSealed: string | null;
  apnsTeam: string | null;
  apnsKeyId: string | null;
  apnsSealed: string | null;
  updatedAt: string;
}

export type SettingsChange = Partial<Omit<SettingsRow, 'vapidPublic' | 'vapidSealed' | 'updatedAt'>>;

const names = {
  content: 'content',
  level: 'level',
  vapidPublic: 'vapid_public',
  vapidSealed: 'vapid_sealed',
  vapidSubject: 'vapid_subject',
  fcmProject: 'fcm_project',
  fcmEmail: 'fcm_email',
  fcmSealed: 'fcm_sealed',
  apnsTeam: 'apns_team',
  apnsKeyId: 'apns_key_id',
  apnsSealed: 'apns_sealed',
  updatedAt: 'updated_at',
} as const satisfies Record<keyof SettingsRow, string>;

const columns = raw(
  Object.entries(names)
    .map(([name, column]) => `${column} as "${name}"`)
    .join(', '),
);

const of = ({ projectId, environment }: ProjectScope): Sql =>
  sql`project_id = ${projectId} and environment = ${environment}`;

export async function findSettings(db: Queryable, scope: ProjectScope): Promise<SettingsRow | undefined> {
  const [row] = await db.query<SettingsRow>(sql`select ${columns} from push_settings where ${of(scope)}`);
  return row;
}

/** Unless they are there: the keys of an environment are made once, for the first that asks for them. */
export async function insertSettings(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  { vapidPublic, vapidSealed, at }: { vapidPublic: string; vapidSealed: string; at: string },
): Promise<void> {
  await db.execute(sql`
    insert into push_settings (project_id, environment, vapid_public, vapid_sealed, updated_at)
    values (${projectId}, ${environment}, ${vapidPublic}, ${vapidSealed}, ${at}) on conflict do nothing`);
}

export async function updateSettings(
  db: Queryable,
  scope: ProjectScope,
  change: SettingsChange,
  at: string,
): Promise<void> {
  const sets = (Object.keys(change) as (keyof SettingsChange)[]).map(
    (name) => sql`${raw(names[name])} = ${change[name]}`,
  );
  await db.execute(sql`
    update push_settings set ${join([...sets, sql`updated_at = ${at}`])} where ${of(scope)}`);
}

/** What is sealed in a row. */
type SealedSettings = Pick<SettingsRow, 'vapidSealed' | 'fcmSealed' | 'apnsSealed'>;

export function listSealedSettings(db: Queryable): Promise<(ProjectScope & SealedSettings)[]> {
  return db.query(sql`
    select project_id as "projectId", environment, vapid_sealed as "vapidSealed", fcm_sealed as "fcmSealed",
           apns_sealed as "apnsSealed"
    from push_settings`);
}

/** Unless somebody has changed it meanwhile: then it is sealed anew already. Gives 1 or 0. */
export function replaceSealedSettings(
  db: Queryable,
  scope: ProjectScope,
  before: SealedSettings,
  after: SealedSettings,
): Promise<number> {
  return db.execute(sql`
    update push_settings set vapid_sealed = ${after.vapidSealed}, fcm_sealed = ${after.fcmSealed},
      apns_sealed = ${after.apnsSealed}
    where ${of(scope)} and vapid_sealed = ${before.vapidSealed}
      and fcm_sealed is not distinct from ${before.fcmSealed} and apns_sealed is not distinct from ${before.apnsSealed}`);
}
