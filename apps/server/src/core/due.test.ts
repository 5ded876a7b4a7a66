import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { lastingPlans } from '../../testkit/kit/plans.ts';
import { openTestDatabase, type TestDatabase } from '../../testkit/kit/test-database.ts';
import { claimMail, isMailDue } from '../domains/alerts/mail-store.ts';
import { claimLinks, isLinkDue } from '../domains/chat/links/link-store.ts';
import { claimMedia, isMediaDue } from '../domains/chat/media/media-store.ts';
import { isAnyRunning, listRunning } from '../domains/chat/moderation/deletion-store.ts';
import { isAnyDue as isPollDue, listDue } from '../domains/chat/polls/poll-store.ts';
import { claimScans, isScanDue } from '../domains/chat/scan/scan-store.ts';
import { claimDue, isAnyDue as isScheduledDue } from '../domains/chat/scheduled/scheduled-store.ts';
import { findWaiting, isAnyWaiting } from '../domains/chat/search/index-store.ts';
import { claimJob, isJobDue } from '../domains/data/job-store.ts';
import { isAnySilent, listSilentProcesses } from '../domains/fleet/watch-store.ts';
import { isSweepDue, listUnfinalized } from '../domains/live-streams/stream-store.ts';
import { isJobWaiting, listJobLanes } from '../domains/push/fan-out-store.ts';
import { isWaiting as isPushWaiting, listLanes as listPushLanes } from '../domains/push/queue-store.ts';
import { hasLost, listRoomsWithLost } from '../domains/rooms/session-store.ts';
import { isAnyUnmetered, meterEnded } from '../domains/usage/usage-store.ts';
import { isWaiting, listLanes } from '../domains/webhooks/queue-store.ts';
import { iso } from './clock.ts';
import type { Db, Tx } from './db.ts';
import { findDue } from './due-store.ts';
import { isStranded, lockStrandedEvents } from './event-store.ts';
import { join, raw, type Sql, sql } from './sql.ts';

let database: TestDatabase;
let db: Db;
before(async () => {
  database = await openTestDatabase();
  db = database.db;
  // Rows here have the columns that a chore looks at, and anything in the others.
  const checks = await db.query<{ table: string; name: string }>(sql`
    select conrelid::regclass::text as "table", conname as name from pg_constraint where contype in ('c', 'f') and conrelid <> 0`);
  for (const { table, name } of checks) await db.execute(sql`alter table ${raw(table)} drop constraint ${raw(name)}`);
});
after(() => database.close());

const now = Date.parse('2026-11-18T12:00:00Z');
const at = iso(now);
const past = iso(now - 60_000);
const future = iso(now + 60_000);
const environment = 'DEVELOPMENT';
const conversation = { id: randomUUID(), environment, type: 'GROUP', status: 'ACTIVE' };
const webhook = { id: 'wh_1', environment };
const range = { now: at, until: future, limit: 10 };

type Values = Record<string, unknown>;

interface Probed {
  table: string;
  isDue: Sql;
  /** What the chore takes. */
  claim(db: Db): Promise<unknown[]>;
  /** A row that is to be taken, and one that is not. */
  due: Values;
  idle: Values;
}

const one = async (row: Promise<object | undefined>): Promise<object[]> => [(await row) ?? []].flat();
const inTx = (work: (tx: Tx) => Promise<unknown[]>) => (given: Db) => given.transaction(work);

const file = { conversation_id: conversation.id, status: 'UPLOADED' };
const stay = { environment, kind: 'MEMBER' };
const job = { environment, kind: 'EXPORT', state: 'QUEUED' };
const scheduled = { conversation_id: conversation.id, environment };

const probed: Record<string, Probed> = {
  'stranded events': {
    table: 'events',
    isDue: isStranded(at),
    claim: inTx((tx) => lockStrandedEvents(tx, at, 10)),
    due: { environment, data: '{}', created_at: past },
    idle: { environment, data: '{}', created_at: future },
  },
  webhooks: {
    table: 'deliveries',
    isDue: isWaiting,
    claim: (given) => listLanes(given, at),
    due: { webhook_id: webhook.id, status: 'RETRYING', due_at: future },
    idle: { webhook_id: webhook.id, status: 'DELIVERED' },
  },
  'messages for devices': {
    table: 'push_jobs',
    isDue: isJobWaiting,
    claim: (given) => listJobLanes(given, at),
    due: { environment },
    idle: {},
  },
  notifications: {
    table: 'push_deliveries',
    isDue: isPushWaiting,
    claim: (given) => listPushLanes(given, at),
    due: {},
    idle: {},
  },
  'lost participants': {
    table: 'participant_sessions',
    isDue: hasLost(at),
    claim: (given) => listRoomsWithLost(given, at),
    due: { ...stay, signal_lost_at: past },
    idle: { ...stay, signal_lost_at: future },
  },
  'dead processes': {
    table: 'server_processes',
    isDue: isAnySilent(at, iso(now - 90_000)),
    claim: (given) => listSilentProcesses(given, at),
    due: { seen_at: past },
    idle: { seen_at: future },
  },
  'stays to meter': {
    table: 'participant_sessions',
    isDue: isAnyUnmetered,
    claim: inTx(async (tx) => Array.from({ length: await meterEnded(tx, at, 10) })),
    due: { ...stay, joined_at: past, left_at: at },
    idle: { ...stay, joined_at: past },
  },
  search: {
    table: 'search_pending',
    isDue: isAnyWaiting,
    claim: async (given) => Object.values(await findWaiting(given)).filter(Boolean),
    due: {},
    idle: {},
  },
  'scheduled messages': {
    table: 'scheduled_messages',
    isDue: isScheduledDue(at),
    claim: (given) => claimDue(given, range),
    due: { ...scheduled, status: 'SENDING', send_at: past, claimed_until: past },
    idle: { ...scheduled, status: 'SENDING', send_at: past, claimed_until: future },
  },
  polls: {
    table: 'messages',
    isDue: isPollDue(at),
    claim: (given) => listDue(given, at, 10),
    due: { conversation_id: conversation.id, type: 'text', poll_closes_at: past },
    idle: { conversation_id: conversation.id, type: 'text', poll_closes_at: future },
  },
  deletions: {
    table: 'chat_deletions',
    isDue: isAnyRunning,
    claim: (given) => listRunning(given, 10),
    due: { environment, status: 'RUNNING' },
    idle: { environment, status: 'DONE' },
  },
  media: {
    table: 'attachments',
    isDue: isMediaDue(at),
    claim: (given) => claimMedia(given, range),
    due: { ...file, media_due_at: past },
    idle: { ...file, media_due_at: future },
  },
  scans: {
    table: 'attachments',
    isDue: isScanDue(at),
    claim: (given) => claimScans(given, range),
    due: { ...file, scan_due_at: past },
    idle: { ...file, status: 'EXPIRED', scan_due_at: past },
  },
  links: {
    table: 'link_previews',
    isDue: isLinkDue(at),
    claim: (given) => claimLinks(given, range),
    due: { conversation_id: conversation.id, due_at: past },
    idle: { conversation_id: conversation.id, due_at: future },
  },
  'mails of alerts': {
    table: 'alert_mails',
    isDue: isMailDue(at),
    claim: (given) => one(claimMail(given, at, 1_000)),
    due: { due_at: past },
    idle: { due_at: future },
  },
  'data jobs': {
    table: 'data_jobs',
    isDue: isJobDue(at),
    claim: (given) => one(claimJob(given, at, future)),
    due: { ...job, due_at: past },
    idle: { ...job, due_at: past, claimed_until: future },
  },
  'live streams': {
    table: 'live_streams',
    isDue: isSweepDue,
    claim: (given) => listUnfinalized(given, 10),
    due: { environment, status: 'ENDED', ended_at: past },
    idle: { environment, status: 'CREATED' },
  },
};

/** A row of which only these columns matter: the rest has any value, and nothing that it refers to need be there. */
async function insert(table: string, given: Values): Promise<void> {
  const fillers: Record<string, Sql> = {
    uuid: sql`gen_random_uuid()`,
    jsonb: sql`'{}'`,
    json: sql`'{}'`,
    boolean: sql`false`,
    'timestamp with time zone': sql`now()`,
    text: sql`'x'`,
    bytea: sql`''`,
    ARRAY: sql`'{}'`,
  };
  await db.transaction(async (tx) => {
    const needed = await tx.query<{ name: string; type: string }>(sql`
      select column_name as name, data_type as type from information_schema.columns
      where table_schema = 'public' and table_name = ${table} and is_nullable = 'NO' and column_default is null
        and is_generated = 'NEVER' and is_identity = 'NO'`);
    const values = new Map(needed.map(({ name, type }) => [name, fillers[type] ?? sql`1`]));
    for (const [name, value] of Object.entries(given)) values.set(name, sql`${value}`);
    await tx.execute(sql`set local session_replication_role = replica`);
    const names = join([...values.keys()].map(raw));
    await tx.execute(
      values.size === 0
        ? sql`insert into ${raw(table)} default values`
        : sql`insert into ${raw(table)} (${names}) values (${join([...values.values()])})`,
    );
  });
}

const remove = (table: string): Promise<unknown> =>
  db.transaction(async (tx) => {
    await tx.execute(sql`set local session_replication_role = replica`);
    await tx.execute(sql`delete from ${raw(table)}`);
  });

// Before there are rows: a table of one page is read as fast as its index.
test('[RUN-48] they are asked in one statement, with what is known without the database, and no table is read whole', async () => {
  const conditions = Object.values(probed).map(({ isDue }) => isDue);
  assert.deepEqual(await findDue(db, [true, ...conditions, false]), [true, ...conditions.map(() => false), false]);
  const plan = await lastingPlans(db, (recorder) => findDue(recorder, conditions));
  assert.match(plan, /participant_sessions_lost/);
  assert.doesNotMatch(
    plan,
    /Seq Scan on (events|deliveries|participant_sessions|messages|attachments|conversations)\b/,
  );
});

test('[RUN-48] what a chore would find is due, and nothing else is', async () => {
  await insert('conversations', conversation);
  await insert('webhooks', webhook);
  for (const [name, { table, isDue, claim, due, idle }] of Object.entries(probed)) {
    assert.deepEqual(await findDue(db, [isDue]), [false], `${name}: nothing is there`);
    // Of some every row is due.
    if (Object.keys(idle).length > 0) {
      await insert(table, idle);
      assert.deepEqual([await findDue(db, [isDue]), await claim(db)], [[false], []], `${name}: not due`);
      await remove(table);
    }
    await insert(table, due);
    assert.deepEqual(await findDue(db, [isDue]), [true], `${name}: due`);
    assert.equal((await claim(db)).length, 1, `${name}: claimed`);
    await remove(table);
  }
});
