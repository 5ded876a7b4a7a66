import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { addWebhook, settle } from '../../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { eventIn, startReceiver, type TestReceiver } from '../../../../testkit/peers/receiver.ts';

let service: TestService;
let chat: ChatOf;
let receiver: TestReceiver;
before(async () => {
  service = await sharedService();
  receiver = await startReceiver();
});
after(() => receiver.close());

const audited = async (): Promise<Record<string, number>> => {
  const { id: projectId, owner } = chat.project;
  const entries = await owner.api.call('listAuditLogs', { projectId, query: { limit: 100 } });
  const actions = entries.map(({ action }) => action).filter((action) => action.startsWith('chat.'));
  return Object.fromEntries(
    Object.entries(Object.groupBy(actions, (one) => one)).map(([name, all]) => [name, all?.length ?? 0]),
  );
};

async function arrived(types: readonly string[]) {
  await settle(service);
  return eventually(() => {
    const events = receiver.requests.map((request) => eventIn(request));
    assert.deepEqual(events.map(({ type }) => type).sort(), types.toSorted());
    return events;
  });
}

test('[MOD-28] each act of moderation is an event and an audit entry, settings and hooks among them', async () => {
  chat = await createChatKit(service);
  const { api } = chat.project;
  const events = {
    'user.banned': 'chat.user_banned',
    'user.unbanned': 'chat.user_unbanned',
    'user.muted': 'chat.user_muted',
    'user.unmuted': 'chat.user_unmuted',
    'user.shadowed': 'chat.user_shadowed',
    'user.unshadowed': 'chat.user_unshadowed',
    'user.blocked': 'chat.user_blocked',
    'user.unblocked': 'chat.user_unblocked',
    'report.resolved': 'chat.report_resolved',
    'user.messages_deleted': 'chat.messages_deleted',
    'conversation.updated': 'chat.slow_mode_changed',
    'moderation.updated': 'chat.moderation_updated',
  };
  await addWebhook(chat.project, { url: receiver.url, events: Object.keys(events) });
  const { id: room } = await chat.conversation(['ann', 'eve']);
  const [ann, userId] = [await chat.user('ann'), 'eve'];
  const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'spam', senderId: userId } });
  const { id: reportId } = await ann.api.call('reportMessage', { messageId, body: { reason: 'spam' } });
  await api.call('resolveChatReport', { reportId, body: { action: 'none' } });
  await api.call('muteInConversation', { room, userId });
  await api.call('unmuteInConversation', { room, userId });
  await api.call('shadowInConversation', { room, userId });
  await api.call('unshadowInConversation', { room, userId });
  await api.call('banFromChat', { userId });
  await api.call('unbanFromChat', { userId });
  await api.call('blockUser', { blockedId: userId, query: { userId: 'ann' } });
  await api.call('unblockUser', { blockedId: userId, query: { userId: 'ann' } });
  await api.call('updateConversation', { room, body: { slowModeSeconds: 30 } });
  await api.call('deleteUserMessages', { userId });
  await service.service.chat.sweep.deletions();
  await api.call('setChatModeration', { body: { links: 'forbidden' } });
  await arrived(Object.keys(events));
  assert.deepEqual(await audited(), Object.fromEntries(Object.values(events).map((action) => [action, 1])));
});

test('[MOD-28] events of settings and hooks have names, counts and origins: no word, path or secret', async () => {
  chat = await createChatKit(service);
  const { api } = chat.project;
  receiver.requests.length = 0;
  await addWebhook(chat.project, { url: receiver.url, events: ['moderation.updated', 'moderation_hook.updated'] });
  const wordLists = [
    { name: 'rude', action: 'mask' as const, words: ['unspeakable', 'darn'], patterns: ['\\d{4}'] },
    { name: 'never', action: 'reject' as const },
  ];
  await api.call('setChatModeration', { body: { wordLists, links: 'moderators' } });
  const url = 'https://hooks.example.com:8443/hidden-path?token=hidden-token';
  const made = await api.call('setModerationHook', { body: { url, timeoutMs: 300 } });
  const rotated = await api.call('rotateModerationHook');
  await api.call('setScanHook', { body: { url } });
  await api.call('removeModerationHook');
  // There is none any more: nothing has changed.
  await api.call('removeModerationHook');
  const hookEvents = Array.from({ length: 4 }, () => 'moderation_hook.updated');
  const events = await arrived(['moderation.updated', ...hookEvents]);
  const dataOf = (type: string) => events.flatMap((event) => (event.type === type ? [event.data] : []));
  const [settings] = dataOf('moderation.updated');
  assert.deepEqual(settings?.['settings'], {
    wordLists: [
      { name: 'rude', action: 'mask', words: 2, patterns: 1 },
      { name: 'never', action: 'reject', words: 0, patterns: 0 },
    ],
    links: 'moderators',
  });
  const origin = 'https://hooks.example.com:8443';
  const hook = { origin, timeoutMs: 300, onFailure: 'open' };
  assert.deepEqual(
    dataOf('moderation_hook.updated')
      .map(({ at: _, ...data }) => data)
      .sort((one, other) => `${one['asked']} ${one['action']}`.localeCompare(`${other['asked']} ${other['action']}`)),
    [
      { asked: 'attachment.scan', action: 'set', hook: { origin, timeoutMs: 5_000, onFailure: 'closed' } },
      { asked: 'message.pre_send', action: 'removed', hook: null },
      { asked: 'message.pre_send', action: 'rotated', hook },
      { asked: 'message.pre_send', action: 'set', hook },
    ],
  );
  const bodies = receiver.requests.map(({ body }) => body.toString()).join();
  for (const secret of [made.secret, rotated.secret, 'unspeakable', '\\\\d{4}', 'hidden'])
    assert.ok(secret && !bodies.includes(secret), String(secret));
  assert.deepEqual(await audited(), { 'chat.moderation_updated': 5 });
});
