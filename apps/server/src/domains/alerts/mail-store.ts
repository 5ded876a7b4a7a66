import type { Queryable, Tx } from '../../core/db.ts';
import { hasFirst } from '../../core/due-store.ts';
import { json, type Sql, sql } from '../../core/sql.ts';

export interface AlertMail {
  id: string;
  alertId: string;
  projectId: string;
  email: string;
  subject: string;
  body: string;
  createdAt: string;
}

export async function insertMails(tx: Tx, mails: readonly AlertMail[]): Promise<void> {
  if (mails.length === 0) return;
  await tx.execute(sql`
    insert into alert_mails (id, alert_id, project_id, email, subject, body, created_at, due_at)
    select m.id, m."alertId", m."projectId", m.email, m.subject, m.body, m."createdAt", m."createdAt"
    from jsonb_to_recordset(${json(mails)}::jsonb) as m(id text, "alertId" text, "projectId" uuid, email text,
      subject text, body text, "createdAt" timestamptz)`);
}

/** True while `claimMail` finds one. */
export const isMailDue = (now: string): Sql => hasFirst(sql`from alert_mails where due_at <= ${now}`, 'due_at');

/** Takes one that is due: nobody else gets it before the time when it is tried again if it fails. */
export async function claimMail(db: Queryable, now: string, retryMs: number): Promise<AlertMail | undefined> {
  const [row] = await db.query<AlertMail>(sql`
    update alert_mails m set attempts = m.attempts + 1,
      due_at = ${now}::timestamptz + ${retryMs}::float8 * 2 ^ least(m.attempts, 10) * interval '1 ms'
    where m.id in (
      select id from alert_mails where due_at <= ${now} order by due_at limit 1 for update skip locked)
    returning m.id, m.alert_id as "alertId", m.project_id as "projectId", m.email, m.subject, m.body,
      m.created_at as "createdAt"`);
  return row;
}

export const deleteMail = (db: Queryable, id: string): Promise<number> =>
  db.execute(sql`delete from alert_mails where id = ${id}`);
