/** What `retention.ts` measures: the tables that grow with use, as retention removes their rows. */
import type { Db } from '../../apps/server/src/core/db.ts';
import { type DeleteSome, onwards } from '../../apps/server/src/core/delete-in-batches.ts';
import { raw, type Sql, sql } from '../../apps/server/src/core/sql.ts';
import { deleteOldConnections } from '../../apps/server/src/domains/observability/connection-store.ts';
import {
  deleteOldDeliveries,
  deleteOldEvents,
  listDeliveredTo,
} from '../../apps/server/src/domains/webhooks/queue-store.ts';

const project = '00000000-0000-0000-0000-000000000001';
const endpoints = 20;
/** Of a usual call: joined, published, some samples, left. */
const eventsOfConnection = 40;

/** Rows from number `from` on, `age` days old at first, all within `span` days. */
export interface Filling {
  from: number;
  total: number;
  age: number;
  span: number;
}

export interface GrownTable {
  table: string;
  /** What a partition of a day would go by. */
  time: string;
  /** Which a partitioned table would have. */
  primaryKey: string;
  indexes: readonly string[];
  /** As the table has them. */
  storage?: string;
  /** What one call of `remove` takes at most, as retention asks for it. */
  batchMax: number;
  remove(db: Db, before: string): Promise<DeleteSome>;
  fill(table: string, filling: Filling): readonly string[];
  /** What is done to one row all the time, by its number. */
  work: readonly Step[];
  reads: readonly Step[];
}

type Step = readonly [what: string, statement: (table: string, n: number) => Sql];

const idOf = (prefix: string, n: number): string => `${prefix}_${n.toString(16).padStart(24, '0')}`;
const uuidOf = (n: number): string => n.toString(16).padStart(32, '0');
const id = (prefix: string, n: string | number): string => `'${prefix}_' || lpad(to_hex(${n}), 24, '0')`;
const uuid = (n: string | number): string => `lpad(to_hex(${n}), 32, '0')::uuid`;
const moment = ({ total, age, span }: Filling, g = 'g'): string =>
  `now() - interval '${age} days' + ${g} * (interval '${span} days' / ${total})`;

export const events: GrownTable = {
  table: 'events',
  time: 'created_at',
  primaryKey: 'id, created_at',
  indexes: ['(project_id, environment, created_at, id)', '(created_at) where dispatched_at is null'],
  batchMax: 1_000,
  remove: async (db, before) => onwards((limit, after) => deleteOldEvents(db, before, limit, after)),
  // Of a message of usual length.
  fill: (table, filling) => [
    `insert into ${table} (id, project_id, environment, type, topic, data, created_at, dispatched_at)
     select ${id('evt', `${filling.from} + g`)}, '${project}', 'DEVELOPMENT', 'message.created',
       'chat/conv_000000000000000000000000', '{"message":"' || repeat('x', 420) || '"}', ${moment(filling)}, now()
     from generate_series(1, ${filling.total}) g`,
  ],
  work: [
    [
      'marked as dispatched by id',
      (table, n) => sql`update ${raw(table)} set dispatched_at = now() where id = ${idOf('evt', n)}`,
    ],
  ],
  reads: [['one found by its id', (table, n) => sql`select from ${raw(table)} where id = ${idOf('evt', n)}`]],
};

export const deliveries: GrownTable = {
  table: 'deliveries',
  time: 'created_at',
  primaryKey: 'webhook_id, id, created_at',
  storage: 'with (fillfactor = 50)',
  indexes: [`(webhook_id, due_at) where status in ('PENDING', 'RETRYING')`],
  batchMax: 1_000,
  async remove(db, before) {
    const webhookIds = await listDeliveredTo(db);
    return onwards((limit, after) => deleteOldDeliveries(db, webhookIds, before, limit, after));
  },
  fill: (table, filling) => [
    `insert into ${table} (webhook_id, id, project_id, event_id, event_type, status, attempts, due_at, attempt_log,
       created_at, delivered_at)
     select 'wh_' || g % ${endpoints}, ${id('whd', `${filling.from} + g`)}, '${project}', ${id('evt', `${filling.from} + g`)},
       'message.created', 'DELIVERED', 1, ${moment(filling)},
       array['{"number":1,"statusCode":200,"error":null,"durationMs":12,"responseExcerpt":"ok"}'], ${moment(filling)}, now()
     from generate_series(1, ${filling.total}) g`,
  ],
  work: [
    [
      'outcome recorded by key',
      (table, n) => sql`update ${raw(table)} set attempts = attempts + 1
        where webhook_id = ${`wh_${n % endpoints}`} and id = ${idOf('whd', n)}`,
    ],
  ],
  reads: [
    [
      'the first that is due of an endpoint',
      (table, n) => sql`select due_at from ${raw(table)} where webhook_id = ${`wh_${n % endpoints}`}
        and status in ('PENDING', 'RETRYING') order by due_at limit 1`,
    ],
    [
      'the newest page of an endpoint',
      (table, n) =>
        sql`select * from ${raw(table)} where webhook_id = ${`wh_${n % endpoints}`} order by id desc limit 50`,
    ],
  ],
};

/** Their connections go by age, and each takes its timeline with it. */
export const connectionEvents: GrownTable = {
  table: 'connection_events',
  time: 'received_at',
  primaryKey: 'id, received_at',
  indexes: ['(connection, received_at, id)'],
  batchMax: 100,
  remove: async (db, before) => (limit) => deleteOldConnections(db, before, limit),
  fill: (table, filling) => [
    `insert into connections (id, project_id, environment, connection_id, room_id, participant_identity, state,
       started_at, connected_at, ended_at, last_event_at)
     select ${uuid(`${filling.from} + g`)}, '${project}', 'DEVELOPMENT', 'c' || (${filling.from} + g), 'room_' || g % 1000,
       'user-' || g, 'DISCONNECTED', at, at, at, at
     from (select g, ${moment(filling)} as at from generate_series(${eventsOfConnection}, ${filling.total + eventsOfConnection - 1}, ${eventsOfConnection}) g) c
     on conflict do nothing`,
    `insert into ${table} (id, connection, type, source, timestamp, received_at, data)
     select ${id('cev', `${filling.from} + g`)},
       ${uuid(`${filling.from} + (g + ${eventsOfConnection - 1}) / ${eventsOfConnection} * ${eventsOfConnection}`)},
       'stats.report', 'CLIENT', at, at, '{"rttMs":42.5,"packetLossPercent":0.1,"jitterMs":3.2,"mos":4.2}'
     from (select g, ${moment(filling)} as at from generate_series(1, ${filling.total}) g) e`,
  ],
  work: [],
  reads: [
    [
      'the timeline of a connection',
      (table, n) => sql`select * from ${raw(table)}
        where connection = ${uuidOf(Math.ceil(n / eventsOfConnection) * eventsOfConnection)} order by received_at, id`,
    ],
  ],
};
