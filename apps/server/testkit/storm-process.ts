/** A whole service in a process of its own that puts events on record when told to, so that it can be killed in the act. */
import { openAdapters } from '../src/adapters/open.ts';
import { compose } from '../src/compose.ts';
import { readConfig } from '../src/config.ts';
import { systemClock } from '../src/core/clock.ts';
import { createLog } from '../src/core/log.ts';
import { sql } from '../src/core/sql.ts';
import { record, streamEvents } from './webhooks.ts';

export type StormOrder =
  | { order: 'emit'; projectId: string; count: number; prefix: string }
  | { order: 'progress' }
  | { order: 'pairs'; projectId: string; after: string; limit: number };

/** How far everything is. */
export interface StormProgress {
  events: number;
  undispatched: number;
  open: number;
}

/** One event and one endpoint, and what became of them; status null when there is no delivery at all. */
export interface StormPair {
  eventId: string;
  webhookId: string;
  status: string | null;
  attempts: number | null;
}

const config = readConfig(process.env);
const log = createLog(config.logLevel);
const adapters = await openAdapters(config, { clock: systemClock, log });
const service = await compose({ config, adapters, clock: systemClock, log });
await service.start();
process.send?.({ url: service.address().url });

const answers = {
  async emit({ projectId, count, prefix }: Extract<StormOrder, { order: 'emit' }>) {
    const events = streamEvents(count, prefix);
    for (let at = 0; at < count; at += 50) await record({ service }, { id: projectId }, events.slice(at, at + 50));
    return { emitted: count };
  },
  async progress(): Promise<StormProgress> {
    const [row] = await adapters.db.query<StormProgress>(sql`
      select (select count(*) from events) as events,
             (select count(*) from events where dispatched_at is null) as undispatched,
             (select count(*) from deliveries where status in ('PENDING', 'RETRYING')) as open`);
    if (!row) throw new Error('no row');
    return row;
  },
  /** Every pair there has to be, from the events and endpoints themselves: a delivery that is missing shows. */
  async pairs({ projectId, after, limit }: Extract<StormOrder, { order: 'pairs' }>): Promise<StormPair[]> {
    // Only this question looks a delivery up by its event, 200,000 times: the service itself has no such index.
    await adapters.db.execute(sql`create index if not exists storm_pairs on deliveries (webhook_id, event_id)`);
    return adapters.db.query<StormPair>(sql`
      select e.id as "eventId", w.id as "webhookId", d.status, d.attempts
      from (select id from events where project_id = ${projectId} and id > ${after} order by id limit ${limit}) e
      cross join webhooks w left join deliveries d on d.webhook_id = w.id and d.event_id = e.id
      where w.project_id = ${projectId} order by e.id`);
  },
};

process.on('message', (message: StormOrder & { id: number }) => {
  const run = answers[message.order] as (order: StormOrder) => Promise<unknown>;
  run(message).then(
    (answer) => process.send?.({ id: message.id, answer }),
    (error) => process.send?.({ id: message.id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
