import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../../apps/server/testkit/chat/chat.ts';
import { sharedService } from '../../../../apps/server/testkit/kit/shared-service.ts';
import { Chat } from '../chat/index.ts';
import { createPeople } from './index.ts';

let url: string;
let kit: ChatOf;
before(async () => {
  const service = await sharedService();
  url = service.url;
  kit = await createChatKit(service);
});

const peopleOf = (userId: string) => createPeople(new Chat({ url, token: async () => (await kit.user(userId)).token }));

test('[SDK-143] people reads the user and those they share a conversation with, in the order asked for', async () => {
  const { api } = kit.project;
  // Ids as directories have them: they need escaping in a path and in a query.
  const ben = 'auth0|ben+1/north';
  await kit.conversation(['ada', ben]);
  for (const [userId, name] of [
    ['ada', 'Ada L.'],
    [ben, 'Ben'],
    ['zoe', 'Zoe'],
  ] as const)
    await api.call('putChatUser', { userId, body: { name } });
  const people = peopleOf('ada');
  const names = async (userIds?: string[]) => (await people.list(userIds)).map(({ name }) => name);
  assert.deepEqual(await names([ben, 'zoe', 'ada']), ['Ben', 'Ada L.']);
  assert.deepEqual(await names(), ['Ada L.'], 'the user of the token');
  assert.deepEqual(await names([]), []);
  assert.deepEqual(await people.get(ben), await api.call('getChatUser', { userId: ben }));
  await assert.rejects(people.get('zoe'), { code: 'SVC_USER_NOT_FOUND' });
});

test('[SDK-143] openDirect finds or makes the one conversation of exactly these people, for one of them', async () => {
  const people = peopleOf('cem');
  const made = await people.openDirect(['cem', 'dia']);
  assert.deepEqual([made.type, made.memberCount, made.myRole], ['DIRECT', 2, 'MEMBER']);
  assert.equal((await peopleOf('dia').openDirect(['dia', 'cem'])).id, made.id);
  assert.notEqual((await people.openDirect(['cem', 'dia', 'eli'])).id, made.id);
  await assert.rejects(people.openDirect(['dia', 'eli']), { code: 'SVC_FORBIDDEN' });
});
