import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastingPlans } from '../../../../testkit/kit/plans.ts';
import { openTestDatabase, type TestDatabase } from '../../../../testkit/kit/test-database.ts';
import { sql } from '../../../core/sql.ts';
import { dispatchedOnInsert } from '../../webhooks/index.ts';
import { markMessageDeleted } from '../messages/message-store.ts';
import { type ReactionItem, storeReactions } from '../messages/reaction-store.ts';
import { createStoreMessages, type SendItem } from '../messages/send-store.ts';
import { lockConversations } from './conversation-store.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const at = '2026-11-15T12:00:00.000Z';
const conversationId = '00000000-0000-0000-0000-000000000000';

const send = (references: Partial<SendItem['draft']>): SendItem => ({
  scope: { projectId: conversationId, environment: 'DEVELOPMENT' },
  name: null,
  conversationId,
  publicId: 'conv_1',
  eventId: 'evt_1',
  isUser: true,
  draft: {
    id: 'msg_1',
    type: 'text',
    text: 'hello',
    senderId: 'alice',
    replyTo: undefined,
    clientMessageId: 'first',
    attachmentId: undefined,
    metadata: undefined,
    clientSentAt: undefined,
    createdAt: at,
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
  at,
};

const readsTable = /Seq Scan on (conversations|conversation_members|messages|reactions|attachments|events)/;

for (const references of [{}, { replyTo: 'msg_0' }, { attachmentId: 'att_1' }]) {
  const kind = Object.keys(references).join() || 'plain';
  test(`[STO-15] a send goes by row, planned on empty tables too: ${kind}`, async () => {
    const plans = await lastingPlans(database.db, (db) =>
      createStoreMessages({ db, dispatchedOnInsert })([send(references)]),
    );
    assert.match(plans, /Insert on messages/);
    assert.doesNotMatch(plans, readsTable, plans);
  });
}

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

test('[RUN-34] the lock of a send is planned once, not with every message', async () => {
  const { db } = database;
  for (let n = 0; n < 10; n++) await db.batch([lockConversations(['00000000-0000-0000-0000-000000000001'])]);
  const [lock] = await db.query(sql`
    select generic_plans > 0 as "isLasting", custom_plans as custom from pg_prepared_statements
    where statement like '%unnest(%for update%' and statement not like '%pg_prepared_statements%'`);
  assert.deepEqual(lock, { isLasting: true, custom: 5 });
});
