import { randomBytes } from 'node:crypto';
import { readLimits } from '@parley/contract';
import pg from 'pg';
import { iso, systemClock } from '../apps/server/src/core/clock.ts';
import { createIds } from '../apps/server/src/core/ids.ts';
import { sql } from '../apps/server/src/core/sql.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryOutcome,
  recordOutcomes,
} from '../apps/server/src/domains/webhooks/queue-store.ts';
import { tally } from '../apps/server/src/domains/webhooks/recorder.ts';
import { openTestDatabase, type TestDatabase } from '../apps/server/testkit/test-database.ts';
import { bestOf, type Row, thousands } from './ratio.ts';

const rowsPerRun = 8_000;
const batch = 200;
const webhookCount = 20;
const { limits } = readLimits({});
const adminUrl = process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';

/** Claim and complete on our table against the least a SKIP LOCKED queue can do on PostgreSQL, in batches of the same size. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const pool = new pg.Pool({ connectionString: database.url ?? '', max: 2 });
  try {
    await pool.query(
      'create table raw_queue (id bigserial primary key, payload jsonb, due_at timestamptz, done boolean)',
    );
    await pool.query('create index raw_due on raw_queue (due_at) where not done');
    const webhookIds = await addWebhooks(database);
    const { ours, raw } = await bestOf({ ours: () => runOurs(database, webhookIds), raw: () => runRaw(pool) });
    return [
      {
        question: 'webhook claim + complete / raw SKIP LOCKED loop',
        floor: { atLeast: 0.5 },
        ratio: ours / raw,
        detail: `${thousands(ours)} with fairness, log and counting against ${thousands(raw)}, batches of ${batch}`,
      },
    ];
  } finally {
    await pool.end();
    await database.close();
  }
}

async function addWebhooks({ db }: TestDatabase): Promise<string[]> {
  const ids = createIds(systemClock);
  const projectId = ids.newUuid();
  const at = iso(systemClock.now());
  await db.execute(sql`insert into projects (id, name, slug, created_at, updated_at)
                       values (${projectId}, 'bench', 'bench', ${at}, ${at})`);
  const webhookIds = Array.from({ length: webhookCount }, () => ids.newId('webhook'));
  for (const id of webhookIds) {
    await db.execute(sql`
      insert into webhooks (id, project_id, environment, url, events, header_names, secret_sealed, secret_hint, created_at, updated_at)
      values (${id}, ${projectId}, 'DEVELOPMENT', 'http://127.0.0.1/', '{}', '{}', 'x', 'x', ${at}, ${at})`);
  }
  return webhookIds;
}

async function runOurs({ db }: TestDatabase, webhookIds: readonly string[]): Promise<number> {
  await db.execute(sql`
    with e as (
      insert into events (id, project_id, environment, type, data, created_at, dispatched_at)
      select ${`evt_${randomBytes(6).toString('hex')}`} || n, w.project_id, 'DEVELOPMENT', 'live_stream.started', '{"a":1}', now(), now()
      from generate_series(1, ${rowsPerRun / webhookCount}) n, (select project_id from webhooks limit 1) w returning id)
    insert into deliveries (webhook_id, id, project_id, event_id, event_type, due_at, created_at)
    select w.id, 'whd_' || md5(e.id || w.id), w.project_id, e.id, 'live_stream.started', now() - interval '1 minute', now()
    from e cross join webhooks w`);
  const asks = webhookIds.map((webhookId) => ({ webhookId, take: batch / webhookCount }));
  return perSecond({
    claim: () =>
      claimDeliveries(db, asks, {
        now: iso(systemClock.now()),
        holdMs: 6_000,
        backoffBaseMs: limits.WEBHOOK_BACKOFF_BASE_MS,
        attemptsMax: limits.WEBHOOK_MAX_ATTEMPTS,
      }),
    complete: (claimed) => {
      const outcomes = claimed.map(delivered);
      return recordOutcomes(db, outcomes, tally(outcomes), limits.WEBHOOK_DISABLE_AFTER_FAILURES);
    },
  });
}

/** As the worker does: the next batch is claimed while the last one is recorded. The same for both sides. */
async function perSecond<T>(queue: {
  claim: () => Promise<T[]>;
  complete: (claimed: T[]) => Promise<unknown>;
}): Promise<number> {
  const started = performance.now();
  let recording: Promise<unknown> = Promise.resolve();
  let done = 0;
  while (done < rowsPerRun) {
    const claimed = await queue.claim();
    await recording;
    recording = queue.complete(claimed);
    done += claimed.length;
  }
  await recording;
  return (done / (performance.now() - started)) * 1000;
}

function delivered({ webhookId, id, place, lease, attempt }: ClaimedDelivery): DeliveryOutcome {
  const at = iso(systemClock.now());
  const entry = { number: attempt, at, statusCode: 204, error: null, durationMs: 3, responseExcerpt: null };
  return { webhookId, id, place, lease, at, status: 'DELIVERED', dueAt: null, entry };
}

async function runRaw(pool: pg.Pool): Promise<number> {
  await pool.query(
    `insert into raw_queue (payload, due_at, done) select '{"a":1}', now() - interval '1 minute', false from generate_series(1, ${rowsPerRun})`,
  );
  return perSecond<{ id: string }>({
    claim: async () =>
      (
        await pool.query(
          `update raw_queue set due_at = now() + interval '15 seconds' where id in (
             select id from raw_queue where not done and due_at <= now() order by due_at limit ${batch} for update skip locked)
           returning id, payload`,
        )
      ).rows,
    complete: (claimed) =>
      pool.query('update raw_queue set done = true where id = any($1)', [claimed.map(({ id }) => id)]),
  });
}
