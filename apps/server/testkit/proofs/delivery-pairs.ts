import type { Db } from '../../src/core/db.ts';
import { sql } from '../../src/core/sql.ts';

/** How far everything is. */
export interface DeliveryProgress {
  events: number;
  undispatched: number;
  open: number;
}

/** One event and one endpoint, and what became of them; status null when there is no delivery at all. */
export interface DeliveryPair {
  eventId: string;
  webhookId: string;
  status: string | null;
  attempts: number | null;
}

export async function progressOf(db: Db): Promise<DeliveryProgress> {
  const [row] = await db.query<DeliveryProgress>(sql`
    select (select count(*) from events) as events,
           (select count(*) from events where dispatched_at is null) as undispatched,
           (select count(*) from deliveries where status in ('PENDING', 'RETRYING')) as open`);
  if (!row) throw new Error('no row');
  return row;
}

/** Every pair there has to be, from the events and endpoints themselves: a delivery that is missing shows. */
export async function pairsOf(
  db: Db,
  projectId: string,
  { after, limit }: { after: string; limit: number },
): Promise<DeliveryPair[]> {
  // Only this question looks a delivery up by its event, 200,000 times: the service itself has no such index.
  await db.execute(sql`create index if not exists storm_pairs on deliveries (webhook_id, event_id)`);
  return db.query<DeliveryPair>(sql`
    select e.id as "eventId", w.id as "webhookId", d.status, d.attempts
    from (select id from events where project_id = ${projectId} and id > ${after} order by id limit ${limit}) e
    cross join webhooks w left join deliveries d on d.webhook_id = w.id and d.event_id = e.id
    where w.project_id = ${projectId} order by e.id`);
}
