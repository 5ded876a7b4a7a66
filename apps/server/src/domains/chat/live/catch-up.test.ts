import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChatKit } from '../../../../testkit/chat/chat.ts';
import { lastingPlans } from '../../../../testkit/kit/plans.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { openTestDatabase } from '../../../../testkit/kit/test-database.ts';
import { findNews } from './channel-store.ts';

test('[CHATWS-17] of what is open here the look into the store gets only what differs from what is known', async () => {
  const service = await sharedService();
  const { project, conversation, user } = await createChatKit(service);
  const { db } = service.adapters;
  const [busy, quiet] = [await conversation(), await conversation()];
  const direct = await project.api.call('openDirectConversation', { body: { userIds: ['alice', 'bob'] } });
  const all = [busy, quiet, direct].map(({ uuid }) => ({ uuid, head: -1, isSilent: false }));
  const heads = new Map((await findNews(db, all)).map(({ uuid, lastChange }) => [uuid, lastChange]));
  assert.equal(heads.size, 3, 'nothing is known of any');
  const known = () => all.map(({ uuid }) => ({ uuid, head: heads.get(uuid) ?? -1, isSilent: false }));
  assert.deepEqual(await findNews(db, known()), []);

  await project.api.call('sendMessage', { room: busy.id, body: { text: 'a', senderId: 'alice' } });
  const lastChange = (heads.get(busy.uuid) ?? 0) + 1;
  const busyNews = { uuid: busy.uuid, lastChange, isSilent: false };
  assert.deepEqual(await findNews(db, known()), [busyNews]);

  await (await user('alice')).api.call('blockUser', { blockedId: 'bob' });
  const silence = { uuid: direct.uuid, lastChange: heads.get(direct.uuid), isSilent: true };
  assert.deepEqual(await findNews(db, known()), [busyNews, silence]);
  const gone = { uuid: '00000000-0000-0000-0000-000000000000', head: 0, isSilent: false };
  assert.deepEqual(await findNews(db, [{ uuid: direct.uuid, head: -1, isSilent: true }, gone]), [silence]);
});

test('[CHATWS-17] what is open here is looked up by row, planned on empty tables too', async (t) => {
  const { db, close } = await openTestDatabase();
  t.after(close);
  const plans = await lastingPlans(db, (recorder) => findNews(recorder, [{ uuid: '', head: 0, isSilent: false }]));
  assert.match(plans, /using conversations_pkey/, plans);
  assert.doesNotMatch(plans, /Seq Scan/, plans);
});
