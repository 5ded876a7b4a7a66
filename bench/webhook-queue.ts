import { readLimits } from '@parley/contract';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { iso, systemClock } from '../apps/server/src/core/clock.ts';
import { insertEvents, type StoredEvent } from '../apps/server/src/core/event-store.ts';
import { createIds } from '../apps/server/src/core/ids.ts';
import { sql } from '../apps/server/src/core/sql.ts';
import { tally } from '../apps/server/src/domains/webhooks/outcomes.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryOutcome,
  insertDeliveries,
  recordOutcomes,
} from '../apps/server/src/domains/webhooks/queue-store.ts';
import { openTestDatabase, type TestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { bestOf, type Row, thousands } from './ratio.ts';

/** Long enough for each side's code and plans to be warm before half of a run is over. */
const rowsPerRun = 20_000;
const rounds = 4;
const batch = 200;
const webhookCount = 20;
const eventsPerCommit = 50;
const { limits } = readLimits({});
const adminUrl = process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';

/** Claim and complete on our table against the least a SKIP LOCKED queue can do on PostgreSQL, in batches of the same size. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const pool = new pg.Pool({ connectionString: database.url ?? '', max: 2 });
  const boss = new PgBoss({ connectionString: database.url ?? '', max: 2, supervise: false, schedule: false });
  try {
    await boss.start();
    await boss.createQueue(bossQueue);
    await pool.query(
      'create table raw_queue (id bigserial primary key, payload jsonb, due_at timestamptz, done boolean)',
    );
    await pool.query('create index raw_due on raw_queue (due_at) where not done');
    const endpoints = await addWebhooks(database);
    const sides = { ours: () => runOurs(database, endpoints), raw: () => runRaw(pool), peer: () => runBoss(boss) };
    return rowsOf(await bestOf(sides, rounds));
  } finally {
    await boss.stop({ graceful: false });
    await pool.end();
    await database.close();
  }
}

const unit = 'deliveries/s';

function rowsOf({ ours, raw, peer }: Record<'ours' | 'raw' | 'peer', number>): Row[] {
  return [
    {
      question: 'webhook claim + complete / raw SKIP LOCKED loop',
      floor: { atLeast: 0.5 },
      ratio: ours / raw,
      detail: `${thousands(ours)} with fairness, log and counting against ${thousands(raw)}, batches of ${batch}`,
      bars: { unit, sides: { Parley: ours, 'raw loop': raw } },
    },
    {
      question: 'webhook claim + complete / pg-boss fetch + complete',
      floor: null,
      ratio: ours / peer,
      detail: `${thousands(ours)} against ${thousands(peer)}, batches of ${batch}`,
      bars: { unit, sides: { Parley: ours, 'pg-boss': peer } },
    },
  ];
}

interface Endpoints {
  projectId: string;
  webhookIds: readonly string[];
}

async function addWebhooks({ db }: TestDatabase): Promise<Endpoints> {
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
  return { projectId, webhookIds };
}

/** As the dispatcher queues them: some events a commit, a delivery for each endpoint. */
async function queueDeliveries({ db }: TestDatabase, projectId: string): Promise<void> {
  const ids = createIds(systemClock);
  const createdAt = iso(systemClock.now());
  const newEvent = (): StoredEvent => ({
    id: ids.newId('event'),
    projectId,
    environment: 'DEVELOPMENT',
    type: 'live_stream.started',
    topic: null,
    data: { a: 1 },
    createdAt,
  });
  for (let queued = 0; queued < rowsPerRun; queued += eventsPerCommit * webhookCount) {
    const events = Array.from({ length: eventsPerCommit }, newEvent);
    await db.transaction(async (tx) => {
      await insertEvents(tx, events);
      await insertDeliveries(tx, events, createdAt);
    });
  }
}

async function runOurs(database: TestDatabase, { projectId, webhookIds }: Endpoints): Promise<number> {
  const { db } = database;
  await queueDeliveries(database, projectId);
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

/** As the worker does: the next batch is claimed while the last one is recorded. The same for every side. */
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

const bossQueue = 'deliveries';

async function runBoss(boss: PgBoss): Promise<number> {
  for (let queued = 0; queued < rowsPerRun; queued += 1_000) {
    await boss.insert(
      bossQueue,
      Array.from({ length: 1_000 }, () => ({ data: { a: 1 } })),
    );
  }
  return perSecond({
    claim: () => boss.fetch(bossQueue, { batchSize: batch }),
    complete: (claimed) =>
      boss.complete(
        bossQueue,
        claimed.map(({ id }) => id),
      ),
  });
}
