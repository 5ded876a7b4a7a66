import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type ChatOf, createChatKit, refusal } from '../../../../apps/server/testkit/chat/chat.ts';
import { sharedService } from '../../../../apps/server/testkit/kit/shared-service.ts';
import { Chat } from '../chat/index.ts';
import { createModeration } from './index.ts';

let url: string;
let kit: ChatOf;
before(async () => {
  const service = await sharedService();
  url = service.url;
  kit = await createChatKit(service);
});

const moderationOf = (userId: string) =>
  createModeration(new Chat({ url, token: async () => (await kit.user(userId)).token }));
const roomOf = async (...members: string[]): Promise<string> =>
  (await kit.conversation([{ userId: 'mod', role: 'MODERATOR' }, ...members])).id;

test('[SDK-144] a moderator bans and mutes, until a time or for good, and lifts it', async () => {
  const eve = 'auth0|eve/1';
  const room = await roomOf(eve);
  const moderation = moderationOf('mod');
  const { api } = await kit.user(eve);
  const send = () => api.call('sendMessage', { room, body: { text: 'hello' } });
  const until = new Date(Date.now() + 3_600_000);
  const muted = await moderation.mute(room, eve, { until, reason: 'Calm down.' });
  assert.deepEqual(
    [muted.kind, muted.userId, muted.imposedBy, muted.reason, Date.parse(muted.until ?? '')],
    ['MUTE', eve, 'mod', 'Calm down.', until.getTime()],
  );
  assert.equal((await refusal(send())).code, 'SVC_CHAT_MUTED');
  assert.deepEqual((await moderation.mutes(room)).items, [muted]);
  await moderation.unmute(room, eve);
  await send();
  assert.deepEqual((await moderation.mutes(room)).items, []);

  const banned = await moderation.ban(room, eve);
  assert.deepEqual([banned.kind, banned.until, banned.reason], ['BAN', null, null]);
  assert.equal((await refusal(send())).code, 'SVC_CHAT_BANNED');
  assert.deepEqual((await moderation.bans(room)).items, [banned]);
  await moderation.unban(room, eve);
  assert.deepEqual((await moderation.bans(room)).items, []);
});

test('[SDK-144] a moderator puts members in the shadow, reads what they send there page by page, and lifts it', async () => {
  const room = await roomOf('eve', 'ada');
  const moderation = moderationOf('mod');
  const { api } = await kit.user('eve');
  const shadowed = await moderation.shadow(room, 'eve', { reason: 'Spam' });
  assert.deepEqual([shadowed.kind, shadowed.reason], ['SHADOW', 'Spam']);
  assert.deepEqual((await moderation.shadows(room)).items, [shadowed]);
  for (const text of ['one', 'two']) await api.call('sendMessage', { room, body: { text } });
  const first = await moderation.shadowMessages(room, { limit: 1 });
  const second = await moderation.shadowMessages(room, {
    limit: 1,
    cursor: first.nextCursor ?? assert.fail('one page'),
  });
  assert.deepEqual(
    [...first.items, ...second.items].map(({ text, senderId }) => [text, senderId]),
    [
      ['two', 'eve'],
      ['one', 'eve'],
    ],
  );
  await moderation.unshadow(room, 'eve');
  assert.deepEqual((await moderation.shadows(room)).items, []);
  await api.call('sendMessage', { room, body: { text: 'for all' } });
  const { messages } = await (await kit.user('ada')).api.call('listMessages', { room });
  assert.deepEqual(
    messages.map(({ text }) => text),
    ['for all'],
  );
});

test('[SDK-144] members neither impose nor list, and moderators only over those below them', async () => {
  const room = await roomOf('eve', 'ada');
  const [member, moderation] = [moderationOf('ada'), moderationOf('mod')];
  const refused = { code: 'SVC_FORBIDDEN' };
  await assert.rejects(member.ban(room, 'eve'), refused);
  await assert.rejects(member.unmute(room, 'eve'), refused);
  await assert.rejects(member.shadows(room), refused);
  await kit.project.api.call('addConversationMember', { room, body: { userId: 'own', role: 'OWNER' } });
  await assert.rejects(moderation.mute(room, 'own'), refused);
});

test('[SDK-146] a moderator lists reports of their conversations page by page, and resolves them', async () => {
  const [room, other] = [await roomOf('zoe', 'ada'), await roomOf('zoe', 'ada')];
  const [zoe, ada] = [await kit.user('zoe'), await kit.user('ada')];
  const moderation = moderationOf('mod');
  const report = async (place: string) => {
    const { id: messageId } = await zoe.api.call('sendMessage', { room: place, body: { text: 'spam' } });
    return (await ada.api.call('reportMessage', { messageId, body: { reason: 'spam', note: 'again' } })).id;
  };
  const reports = [await report(room), await report(other), await report(room)].reverse();
  const first = await moderation.reports({ limit: 2 });
  const second = await moderation.reports({ limit: 2, cursor: first.nextCursor ?? assert.fail('one page') });
  assert.deepEqual(
    [...first.items, ...second.items].map(({ id }) => id),
    reports,
  );
  assert.deepEqual(
    (await moderation.reports({ conversation: other })).items.map(({ id, note }) => [id, note]),
    [[reports[1], 'again']],
  );
  const until = new Date(Date.now() + 3_600_000);
  const [newest = '', , oldest = ''] = reports;
  const muted = await moderation.resolveReport(newest, { action: 'mute', until, reason: 'Calm down.' });
  assert.deepEqual([muted.status, muted.action], ['RESOLVED', 'mute']);
  const [mute] = (await moderation.mutes(room)).items;
  assert.deepEqual([mute?.userId, mute?.reason, Date.parse(mute?.until ?? '')], ['zoe', 'Calm down.', until.getTime()]);
  await assert.rejects(moderation.resolveReport(newest, { action: 'none' }), { code: 'SVC_REPORT_RESOLVED' });
  await moderation.resolveReport(oldest, { action: 'delete_message' });
  const { items } = await moderation.reports({ status: 'RESOLVED' });
  assert.deepEqual(items.map(({ id }) => id).sort(), [newest, oldest].sort());
  assert.deepEqual((await moderationOf('ada').reports()).items, []);
  await assert.rejects(moderationOf('ada').reports({ conversation: room }), { code: 'SVC_FORBIDDEN' });
});
