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
  keyId: null,
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

for (const references of [{}, { replyTo: 'msg_0' }, { attachmentId: 'att_1' }])
  for (const count of [1, 2]) {
    const kind = `${count} ${Object.keys(references).join() || 'plain'}`;
    test(`[STO-15] a send goes by row, planned on empty tables too: ${kind}`, async () => {
      const items = Array.from({ length: count }, () => send(references));
      const plans = await lastingPlans(database.db, (db) => createStoreMessages({ db, dispatchedOnInsert })(items));
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

for (const count of [1, 2])
  test(`[RUN-34] the lock of a send is planned once, not with every message: ${count}`, async () => {
    const { db } = database;
    const ids = Array.from({ length: count }, (_, at) => `00000000-0000-0000-0000-00000000000${at}`);
    const { text } = lockConversations(ids);
    for (let n = 0; n < 10; n++) await db.batch([lockConversations(ids)]);
    const [lock] = await db.query(sql`
      select generic_plans > 0 as "isLasting", custom_plans as custom from pg_prepared_statements
      where statement = ${text}`);
    assert.deepEqual(lock, { isLasting: true, custom: 5 });
  });
