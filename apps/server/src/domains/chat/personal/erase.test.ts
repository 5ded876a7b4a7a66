import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChatKit } from '../../../../testkit/chat/chat.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { sql } from '../../../core/sql.ts';
import { forgetMentions } from './erase-store.ts';

test('[DATA-1] mentions of a user go some at a time: a conversation is not held for all of them', async () => {
  const service = await sharedService();
  const chat = await createChatKit(service);
  const { id: room } = await chat.conversation(['ann', 'bot']);
  for (const text of ['one', 'two', 'three'])
    await chat.project.api.call('sendMessage', { room, body: { text, mentions: { users: ['ann', 'bot'] } } });
  const { db } = service.adapters;
  const [found] = await db.query<{ id: string }>(sql`select id from conversations where public_id = ${room}`);
  const id = found?.id ?? '';
  const scope = { projectId: chat.project.id, environment: 'DEVELOPMENT' } as const;
  const erasure = { ...scope, userId: 'bot', messages: 'anonymize', pseudonym: 'erased-1' } as const;
  const forget = () => db.transaction((tx) => forgetMentions(tx, id, erasure, 2));
  assert.deepEqual([await forget(), await forget(), await forget()], [2, 1, 0]);
  const { messages } = await chat.project.api.call('listMessages', { room });
  assert.ok(messages.every(({ mentions }) => !mentions?.users.includes('bot') && mentions?.users.includes('ann')));
  const left = await db.query(sql`select from message_mentions where conversation_id = ${id}`);
  assert.equal(left.length, 3);
});
