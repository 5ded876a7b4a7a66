import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastingPlans } from '../../../../testkit/kit/plans.ts';
import { openTestDatabase, type TestDatabase } from '../../../../testkit/kit/test-database.ts';
import type { Db } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';
import { dispatchedOnInsert } from '../../webhooks/index.ts';
import { isBetween } from '../blocks/block-store.ts';
import { countParts } from '../dashboard/dashboard-store.ts';
import { listUserMetadata } from '../dashboard/user-metadata-store.ts';
import { countUnread, findInboxEntry, listInbox } from '../inbox/inbox-store.ts';
import { settle, settleLocked } from '../inbox/settle-store.ts';
import { markMessageDeleted } from '../messages/message-store.ts';
import { type ReactionItem, storeReactions } from '../messages/reaction-store.ts';
import { createStoreMessages, type SendItem } from '../messages/send-store.ts';
import { findReport, listReports } from '../moderation/report-store.ts';
import { findEntry, lockConversations } from './conversation-store.ts';
import { findReadState } from './read-store.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const at = '2026-11-15T12:00:00.000Z';
const conversationId = '00000000-0000-0000-0000-000000000000';

const send = (references: Partial<SendItem['draft']>): SendItem => ({
  scope: { projectId: conversationId, environment: 'DEVELOPMENT' },
  keyId: null,
  name: null,
  conversationId,
  publicId: 'conv_1',
  eventId: 'evt_1',
  mentionEventId: references.mentions && 'evt_2',
  isUser: true,
  isDirect: true,
  draft: {
    id: 'msg_1',
    type: 'text',
    text: 'hello',
    senderId: 'alice',
    replyTo: undefined,
    clientMessageId: 'first',
    attachmentId: undefined,
    attachmentIds: undefined,
    link: undefined,
    metadata: undefined,
    clientSentAt: undefined,
    createdAt: at,
    mentions: undefined,
    poll: undefined,
    pollClosesAt: undefined,
    forwarded: undefined,
    ...references,
  },
});

const reaction: ReactionItem = {
  isAdd: true,
  eventId: 'evt_1',
  conversationId,
  messageId: 'msg_1',
  emoji: '👍',
  userId: 'alice',
  isUser: true,
  isShadowed: false,
  at,
};

const readsTable = /Seq Scan on (conversations|conversation_members|messages|reactions|attachments|events)/;

const forwarded = { messageId: 'msg_0', senderId: 'bob', createdAt: at };
const mentions = { users: ['bob'], here: true, all: false, present: ['carl'] };
const several = { attachmentId: 'att_1', attachmentIds: ['att_1', 'att_2'] };
const link = 'https://example.com/';
const kinds = [{}, { replyTo: 'msg_0' }, { attachmentId: 'att_1' }, several, { mentions }, { forwarded }, { link }];
for (const references of kinds)
  for (const count of [1, 2]) {
    const kind = `${count} ${Object.keys(references).join() || 'plain'}`;
    test(`[STO-15] a send goes by row, planned on empty tables too: ${kind}`, async () => {
      const items = Array.from({ length: count }, () => send(references));
      const plans = await lastingPlans(database.db, (db) => createStoreMessages({ db, dispatchedOnInsert })(items));
      assert.match(plans, /Insert on messages/);
      assert.doesNotMatch(plans, readsTable, plans);
    });
  }

/** Blocks of everybody in the environment, or everybody who has blocked somebody. */
const readsBlocks = /Scan[^\n]* on chat_blocks\b(?![^\n]*\n\s*Index Cond: [^\n]*\buser_id\b)/;

const badge = { userId: 'alice', listed: null, after: null, now: at };

test('[STO-15] a badge goes by row, planned on empty tables too', async () => {
  const scope = { projectId: conversationId, environment: 'DEVELOPMENT' as const };
  const plans = await lastingPlans(database.db, (db) => countUnread(db, scope, badge));
  assert.match(plans, /on message_mentions/, plans);
  assert.doesNotMatch(plans, /Seq Scan/, plans);
});

test('[INB-9] the dormant of a page are read in their order, planned on empty tables too', async () => {
  const viewer = { userId: 'alice', retentionDefault: null, now: at, listed: null, limit: 21, type: undefined };
  const all = { isUnread: false, isPinned: false, isArchived: false, isHidden: false };
  const scope = { projectId: conversationId, environment: 'DEVELOPMENT' as const };
  for (const after of [null, [0, at, conversationId] as const]) {
    const plans = await lastingPlans(database.db, (db) => listInbox(db, scope, { ...viewer, ...all, after }));
    assert.match(plans, /Index Cond: [^\n]*user_id = [^\n]*dormant/, plans);
    assert.match(plans, /Limit\n(\s+->\s+Nested Loop\n)+\s+->\s+Index Scan Backward using dormant_entries_pkey/, plans);
    assert.doesNotMatch(plans, /Seq Scan/, plans);
  }
});

test('[INB-9] who settles is found by row, planned on empty tables too', async () => {
  const scope = { projectId: conversationId, environment: 'DEVELOPMENT' as const };
  const settled = { userId: 'alice', conversationIds: [conversationId], before: at, now: at };
  const locks = await lastingPlans(database.db, (db) => db.transaction((tx) => settle(tx, scope, settled)));
  assert.match(locks, /LockRows/, locks);
  const plans = await lastingPlans(database.db, (db) => db.transaction((tx) => settleLocked(tx, scope, settled)));
  assert.match(plans, /dormant_entries_woken/, plans);
  for (const plan of [locks, plans]) assert.doesNotMatch(plan, /Seq Scan/, plan);
});

test('[STO-15] whom a user has blocked is found by the user, planned on empty tables too', async () => {
  const viewer = { userId: 'alice', retentionDefault: null, now: at };
  const scope = { projectId: conversationId, environment: 'DEVELOPMENT' as const };
  const works: Record<string, (db: Db) => Promise<unknown>> = {
    send: (db) => createStoreMessages({ db, dispatchedOnInsert })([send({})]),
    reaction: (db) => storeReactions(db, [reaction], 200),
    entry: (db) => findEntry(db, scope, { by: 'uuid', value: conversationId }, 'alice'),
    'opening a direct one': (db) => isBetween(db, scope, 'alice', 'bob'),
    'read state': (db) => findReadState(db, conversationId, 'alice'),
    badge: (db) => countUnread(db, scope, badge),
    inbox: (db) => findInboxEntry(db, scope, conversationId, viewer),
  };
  for (const [name, work] of Object.entries(works)) {
    const plans = await lastingPlans(database.db, work);
    assert.match(plans, /on chat_blocks/, name);
    assert.doesNotMatch(plans, readsBlocks, `${name}\n${plans}`);
  }
});

test('[STO-15] a reaction goes by row, planned on empty tables too', async () => {
  const plans = await lastingPlans(database.db, (db) => storeReactions(db, [reaction], 200));
  assert.match(plans, /Insert on reactions/, plans);
  assert.doesNotMatch(plans, readsTable, plans);
});

test('[STO-15] a deletion goes by row, planned on empty tables too', async () => {
  const entry = { conversationUuid: conversationId, position: 1, id: 'msg_1', threadRootId: 'msg_0' };
  const plans = await lastingPlans(database.db, (db) =>
    db.transaction((tx) => markMessageDeleted(tx, entry, { change: 2, by: null, at })),
  );
  assert.match(plans, /Update on attachments/, plans);
  assert.doesNotMatch(plans, readsTable, plans);
});

for (const count of [1, 2])
  test(`[RUN-34] the lock of a send is planned once, not with every message: ${count}`, async () => {
    const { db } = database;
    const ids = Array.from({ length: count }, (_, at) => `00000000-0000-0000-0000-00000000000${at}`);
    const { text } = lockConversations(ids);
    for (let n = 0; n < 10; n++) await db.query(lockConversations(ids));
    const [lock] = await db.query(sql`
      select generic_plans > 0 as "isLasting", custom_plans as custom from pg_prepared_statements
      where statement = ${text}`);
    assert.deepEqual(lock, { isLasting: true, custom: 5 });
  });

test("[MOD-29] a moderator's reports are found by indexes, planned on empty tables too", async () => {
  const scope = { projectId: conversationId, environment: 'DEVELOPMENT' } as const;
  const page = { status: 'OPEN', conversationId: null, after: null, limit: 51 } as const;
  const viewer = { userId: 'mod', conversations: null };
  const list = await lastingPlans(database.db, (db) => listReports(db, scope, page, viewer));
  assert.match(list, /chat_reports_of_conversation/, list);
  assert.doesNotMatch(list, /Seq Scan|chat_reports_listed/, list);
  const one = await lastingPlans(database.db, (db) => findReport(db, scope, 'rpt_1', viewer));
  assert.match(one, /conversations_public_id/, one);
  assert.doesNotMatch(one, /Seq Scan|conversation_members_by_user/, one);
});

test('[DASH-100] the numbers of a conversation are of indexes, planned on empty tables too', async () => {
  const plans = await lastingPlans(database.db, (db) => countParts(db, conversationId));
  for (const index of ['messages_polls', 'scheduled_messages_waiting', 'message_pins_pkey'])
    assert.match(plans, new RegExp(index), plans);
  assert.doesNotMatch(plans, /Seq Scan/, plans);
});

test('[DASH-102] who there is and when they were last seen is found by indexes, planned on empty tables too', async () => {
  const scope = { projectId: conversationId, environment: 'DEVELOPMENT' } as const;
  const plans = await lastingPlans(database.db, (db) =>
    listUserMetadata(db, scope, { by: 'page', after: '', limit: 50 }),
  );
  for (const index of ['chat_connections_of_user', 'chat_users_pkey']) assert.match(plans, new RegExp(index), plans);
  assert.doesNotMatch(plans, /Seq Scan|chat_connections_of_project/, plans);
});
