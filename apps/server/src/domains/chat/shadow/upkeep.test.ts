import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { say, uploaded, withEve } from '../../../../testkit/chat/shadow.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

const clock = createFakeClock();
const env = { CHAT_SEND_RATE_LIMIT: '1000', CHAT_HISTORY_RATE_LIMIT: '1000' };
let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ clock, env });
  chat = await createChatKit(service);
});
after(() => service.stop());

const stored = (uuid: string) =>
  service.adapters.db.query<{
    text: string | null;
    isDeleted: boolean;
    status: string | null;
  }>(sql`
    select m.text, m.deleted_at is not null as "isDeleted", a.status
    from shadow_messages m left join attachments a on a.message_id = m.id
    where m.conversation_id = ${uuid} order by m.n`);

test('[MOD-27] retention, the end of a conversation and the deletion of what a user wrote take it too', async () => {
  const { api } = chat.project;
  const { room, uuid, eve, put } = await withEve(chat);
  await put();
  const old = await say(eve, room, 'old', { attachmentId: await uploaded(eve, room) });
  await eve.api.call('addReaction', { messageId: old.id, body: { emoji: '👍' } });
  await api.call('updateConversation', { room, body: { retentionDays: 1 } });
  clock.jump(25 * 3_600_000);
  const fresh = await chat.user('eve');
  await say(fresh, room, 'new', { attachmentId: await uploaded(fresh, room) });
  await service.service.chat.sweep.retention();
  assert.deepEqual(
    (await stored(uuid)).map(({ text, status }) => [text, status]),
    [['new', 'ATTACHED']],
  );
  await assertRefused(fresh.api.call('getMessage', { messageId: old.id }), 404, 'SVC_MESSAGE_NOT_FOUND');

  for (let at = 0; at < 60; at++) await say(fresh, room, `spam ${at}`);
  // Each is a millisecond later than the one before, also while the clock stands.
  clock.jump(1_000);
  const { id: deletionId } = await api.call('deleteUserMessages', { userId: 'eve', body: { conversation: room } });
  await service.service.chat.sweep.deletions();
  assert.equal((await api.call('getChatDeletion', { deletionId })).deleted, 61);
  assert.deepEqual(await api.call('listShadowMessages', { room }), []);
  assert.ok(
    (await stored(uuid)).every(({ text, isDeleted, status }) => text === null && isDeleted && status !== 'ATTACHED'),
  );
  assert.deepEqual((await fresh.api.call('listMessages', { room })).messages, []);

  const last = await say(fresh, room, 'last');
  await fresh.api.call('addReaction', { messageId: last.id, body: { emoji: '👍' } });
  await api.call('deleteConversation', { room });
  await service.service.chat.sweep.retention();
  assert.deepEqual(await stored(uuid), []);
  const left = await service.adapters.db.query(sql`select 1 as one from reactions where message_id = ${last.id}`);
  assert.deepEqual(left, []);
});

test('[MOD-27] an export of a user holds what they sent in the shadow', async () => {
  const { api } = chat.project;
  const { room, eve, put } = await withEve(chat);
  await put();
  const sent = await say(eve, room, 'mine');
  const asked = await api.call('exportUser', { userId: 'eve' });
  const { url } = await eventually(
    async () => {
      const job = await api.call('getDataJob', { jobId: asked.id });
      assert.equal(job.state, 'DONE');
      return job;
    },
    { withinMs: 30_000 },
  );
  const lines = (await (await fetch(url ?? '')).text()).trimEnd().split('\n');
  const messages = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'message');
  assert.ok(messages.some(({ id, text }) => id === sent.id && text === 'mine'));
});
