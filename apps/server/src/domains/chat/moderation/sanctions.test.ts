import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertRefused,
  type ChatOf,
  chatAs,
  createChatKit,
  refusal,
  subscribe,
} from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

const clock = createFakeClock();
let service: TestService;
let second: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ clock });
  second = await startService({ clock, beside: service });
  chat = await createChatKit(service);
});
after(async () => {
  await second.stop();
  await service.stop();
});

const inMs = (ms: number): string => new Date(clock.now() + ms).toISOString();

test('[MOD-1] a ban ends membership and subscriptions on every process, and keeps out until it is lifted', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['ann', 'eve']);
  const eve = await chat.user('eve');
  const { id: messageId } = await eve.api.call('sendMessage', { room, body: { text: 'hello' } });
  const sockets = [await eve.connect(), await chatAs(second, eve.token)];
  for (const socket of sockets) await subscribe(socket, room);
  const ban = await api.call('banFromConversation', { room, userId: 'eve', body: { reason: 'spam' } });
  assert.deepEqual(
    [ban.kind, ban.userId, ban.conversationId, ban.until, ban.reason, ban.imposedBy],
    ['BAN', 'eve', room, null, 'spam', 'server'],
  );
  for (const socket of sockets) assert.equal((await socket.take('unsubscribed'))['reason'], 'REMOVED');

  const denied = [
    () => eve.api.call('getConversation', { room }),
    () => eve.api.call('listMessages', { room }),
    () => eve.api.call('listChanges', { room }),
    () => eve.api.call('sendMessage', { room, body: { text: 'more' } }),
    () => eve.api.call('getMessage', { messageId }),
    () => eve.api.call('editMessage', { messageId, body: { text: 'x' } }),
    () => eve.api.call('addReaction', { messageId, body: { emoji: '👍' } }),
    () => second.as(eve.token).call('sendMessage', { room, body: { text: 'more' } }),
    () => api.call('addConversationMember', { room, body: { userId: 'eve' } }),
  ];
  for (const call of denied) {
    const { status, code, body } = await refusal(call());
    assert.deepEqual(
      [status, code, body['until'], body['reason'], body['conversationId']],
      [403, 'SVC_CHAT_BANNED', null, 'spam', room],
    );
  }
  const [socket] = sockets;
  assert.equal((await subscribe(socket ?? assert.fail(), room))['svcCode'], 'SVC_CHAT_BANNED');
  const listed = await api.call('listConversationBans', { room });
  assert.deepEqual(
    listed.map(({ userId }) => userId),
    ['eve'],
  );
  // Not a banned one, and not in another conversation.
  await assertRefused((await chat.user('zoe')).api.call('getConversation', { room }), 403, 'SVC_NOT_A_MEMBER');
  const { id: other } = await chat.conversation(['eve']);
  await eve.api.call('sendMessage', { room: other, body: { text: 'elsewhere' } });

  await api.call('unbanFromConversation', { room, userId: 'eve' });
  assert.deepEqual(await api.call('listConversationBans', { room }), []);
  await api.call('addConversationMember', { room, body: { userId: 'eve' } });
  await eve.api.call('sendMessage', { room, body: { text: 'back' } });
  for (const one of sockets) await one.close();
});

test('[MOD-2] a ban ends by itself at its time; one who never was a member can be banned too', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['ann']);
  const until = inMs(60_000);
  await api.call('banFromConversation', { room, userId: 'eve', body: { until } });
  const { body } = await refusal(api.call('addConversationMember', { room, body: { userId: 'eve' } }));
  assert.deepEqual([body['code'], body['until']], ['SVC_CHAT_BANNED', until]);
  clock.jump(60_000);
  await api.call('addConversationMember', { room, body: { userId: 'eve' } });
  assert.deepEqual(await api.call('listConversationBans', { room }), []);
  await assertRefused(
    api.call('banFromConversation', { room, userId: 'eve', body: { until: inMs(-1) } }),
    400,
    'SVC_VALIDATION_FAILED',
  );
  await assertRefused(api.call('banFromConversation', { room, userId: 'a b' }), 400, 'SVC_VALIDATION_FAILED');
});

test('[MOD-3] a muted member reads, and cannot send, edit, react or upload, until the mute ends', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['ann', 'eve']);
  const eve = await chat.user('eve');
  const { id: messageId } = await eve.api.call('sendMessage', { room, body: { text: 'hello' } });
  await eve.api.call('addReaction', { messageId, body: { emoji: '🙂' } });
  const until = inMs(60_000);
  await api.call('muteInConversation', { room, userId: 'eve', body: { until, reason: 'too loud' } });
  const file = { filename: 'a.txt', mimeType: 'text/plain', size: 3 };
  const denied = [
    () => eve.api.call('sendMessage', { room, body: { text: 'more' } }),
    () => eve.api.call('editMessage', { messageId, body: { text: 'x' } }),
    () => eve.api.call('addReaction', { messageId, body: { emoji: '👍' } }),
    () => eve.api.call('requestAttachment', { room, body: file }),
  ];
  for (const call of denied) {
    const { status, code, body } = await refusal(call());
    assert.deepEqual(
      [status, code, body['until'], body['reason'], body['conversationId']],
      [403, 'SVC_CHAT_MUTED', until, 'too loud', room],
    );
  }
  const socket = await eve.connect();
  await subscribe(socket, room);
  const refused = await socket.ask({ type: 'message.send', conversation: room, text: 'x' });
  assert.deepEqual([refused.type, refused['svcCode'], refused['until']], ['error', 'SVC_CHAT_MUTED', until]);
  assert.equal((await eve.api.call('listMessages', { room })).messages.length, 1);
  await eve.api.call('removeReaction', { messageId, emoji: '🙂' });
  await eve.api.call('deleteMessage', { messageId });
  // A server is not muted, also where it speaks for the user.
  await api.call('sendMessage', { room, body: { text: 'for eve', senderId: 'eve' } });
  // Leaving and coming back is no way out.
  await eve.api.call('removeConversationMember', { room, userId: 'eve' });
  await api.call('addConversationMember', { room, body: { userId: 'eve' } });
  await assertRefused(eve.api.call('sendMessage', { room, body: { text: 'more' } }), 403, 'SVC_CHAT_MUTED');
  clock.jump(60_000);
  await eve.api.call('sendMessage', { room, body: { text: 'again' } });
  await api.call('muteInConversation', { room, userId: 'eve' });
  await assertRefused(eve.api.call('sendMessage', { room, body: { text: 'more' } }), 403, 'SVC_CHAT_MUTED');
  await api.call('unmuteInConversation', { room, userId: 'eve' });
  await eve.api.call('sendMessage', { room, body: { text: 'and again' } });
  await assertRefused(api.call('muteInConversation', { room, userId: 'nobody' }), 404, 'SVC_MEMBER_NOT_FOUND');
  await socket.close();
});

test('[MOD-4] moderators ban and mute those below them; others may not, nor look at the lists', async () => {
  const { id: room } = await chat.conversation([
    { userId: 'mod', role: 'MODERATOR' },
    { userId: 'mod2', role: 'MODERATOR' },
    { userId: 'admin', role: 'ADMIN' },
    'eve',
    'ann',
  ]);
  const [mod, ann, admin] = [await chat.user('mod'), await chat.user('ann'), await chat.user('admin')];
  for (const call of ['banFromConversation', 'muteInConversation', 'unbanFromConversation'] as const) {
    await assertRefused(ann.api.call(call, { room, userId: 'eve' }), 403, 'SVC_FORBIDDEN');
    for (const userId of ['mod2', 'admin', 'mod'])
      await assertRefused(mod.api.call(call, { room, userId }), 403, 'SVC_FORBIDDEN');
  }
  await assertRefused(ann.api.call('listConversationBans', { room }), 403, 'SVC_FORBIDDEN');
  await admin.api.call('muteInConversation', { room, userId: 'mod2' });
  const ban = await mod.api.call('banFromConversation', { room, userId: 'eve' });
  assert.equal(ban.imposedBy, 'mod');
  assert.equal((await mod.api.call('listConversationBans', { room })).length, 1);
  await assertRefused(
    mod.api.call('banFromChat' as 'banFromConversation', { room, userId: 'eve' }),
    403,
    'SVC_WRONG_CREDENTIAL_TYPE',
  );
});

test('[MOD-5] a ban from all chat closes sockets and refuses tokens on every process; lifted, all is as it was', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['ann', 'eve']);
  const [eve, ann] = [await chat.user('eve'), await chat.user('ann')];
  const sockets = [await eve.connect(), await chatAs(second, eve.token)];
  const annSocket = await ann.connect();
  await api.call('banFromChat', { userId: 'eve', body: { reason: 'threats' } });
  for (const socket of sockets) assert.deepEqual(await socket.whenClosed(), { code: 4410, reason: 'CHAT_BANNED' });
  for (const at of [service, second]) {
    await eventually(async () => {
      await clock.advance(500);
      const { code, body } = await refusal(at.as(eve.token).call('listConversations'));
      assert.deepEqual([code, body['reason'], body['conversationId']], ['SVC_CHAT_BANNED', 'threats', null]);
    });
  }
  await ann.api.call('sendMessage', { room, body: { text: 'quiet here' } });
  assert.equal(annSocket.closed, null);
  assert.deepEqual(
    (await api.call('listChatBans')).map(({ userId }) => userId),
    ['eve'],
  );
  await api.call('unbanFromChat', { userId: 'eve' });
  await eve.api.call('sendMessage', { room, body: { text: 'back' } });
  await annSocket.close();
});

test('[MOD-5] a process that hears nothing of the bus closes the sockets too', async () => {
  const deaf = await startService({
    clock,
    beside: service,
    wrap: (adapters) => ({ ...adapters, bus: { ...adapters.bus, subscribe: async () => () => {} } }),
  });
  try {
    const socket = await chatAs(deaf, (await chat.user('mute-bus')).token);
    await chat.project.api.call('banFromChat', { userId: 'mute-bus' });
    await eventually(async () => {
      await clock.advance(500);
      assert.deepEqual(socket.closed, { code: 4410, reason: 'CHAT_BANNED' });
    });
  } finally {
    await deaf.stop();
  }
});

test('[MOD-6] a mute in all chat holds in every conversation and on every process', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['eve']);
  const eve = await chat.user('eve');
  const until = inMs(600_000);
  const { id: messageId } = await eve.api.call('sendMessage', { room, body: { text: 'x' } });
  await api.call('muteInChat', { userId: 'eve', body: { until } });
  for (const at of [service, second]) {
    await eventually(async () => {
      await clock.advance(500);
      const user = at.as(eve.token);
      const file = { filename: 'a.txt', mimeType: 'text/plain', size: 3 };
      for (const call of [
        () => user.call('sendMessage', { room, body: { text: 'more' } }),
        () => user.call('editMessage', { messageId, body: { text: 'y' } }),
        () => user.call('addReaction', { messageId, body: { emoji: '👍' } }),
        () => user.call('requestAttachment', { room, body: file }),
      ]) {
        const { code, body } = await refusal(call());
        assert.deepEqual([code, body['until'], body['conversationId']], ['SVC_CHAT_MUTED', until, null]);
      }
      await user.call('listMessages', { room });
    });
  }
  await api.call('unmuteInChat', { userId: 'eve' });
  await eve.api.call('sendMessage', { room, body: { text: 'again' } });
});

test('[MOD-7] each ban and mute is an event and an audit entry, without the reason in the latter', async () => {
  const { api, id: projectId, owner } = chat.project;
  const { id: room } = await chat.conversation([{ userId: 'mod', role: 'MODERATOR' }, 'gus']);
  const mod = await chat.user('mod');
  await mod.api.call('muteInConversation', { room, userId: 'gus', body: { reason: 'private words' } });
  await mod.api.call('unmuteInConversation', { room, userId: 'gus' });
  await api.call('banFromConversation', { room, userId: 'gus' });
  // Nothing to lift: nothing to tell.
  await api.call('unmuteInConversation', { room, userId: 'gus' });
  await api.call('unbanFromConversation', { room, userId: 'gus' });
  const entries = await owner.api.call('listAuditLogs', { projectId, query: { resourceId: 'gus' } });
  assert.deepEqual(
    entries.map(({ action, actorEmail }) => `${action} ${actorEmail.startsWith('Chat user mod')}`).sort(),
    ['chat.user_banned false', 'chat.user_muted true', 'chat.user_unbanned false', 'chat.user_unmuted true'],
  );
  const events = await service.adapters.db.query<{ type: string }>(
    sql`select type from events where type like 'user.%' and data::json->'sanction'->>'userId' = 'gus' order by type`,
  );
  assert.deepEqual(
    events.map(({ type }) => type),
    ['user.banned', 'user.muted', 'user.unbanned', 'user.unmuted'],
  );
  assert.doesNotMatch(JSON.stringify(entries), /private words/);
});

test('[MOD-8] slow mode: one message a user in that time, exact in a race over processes; moderators and keys are exempt', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation([{ userId: 'mod', role: 'MODERATOR' }, 'ann', 'eve']);
  const [eve, ann, mod] = [await chat.user('eve'), await chat.user('ann'), await chat.user('mod')];
  assert.equal((await api.call('updateConversation', { room, body: { slowModeSeconds: 30 } })).slowModeSeconds, 30);
  const race = async (token: string) => {
    const sends = Array.from({ length: 12 }, (_, at) =>
      (at % 2 === 0 ? service : second).as(token).call('sendMessage', { room, body: { text: `${at}` } }),
    );
    const outcomes = await Promise.allSettled(sends);
    return outcomes.filter(({ status }) => status === 'fulfilled').length;
  };
  assert.deepEqual(await Promise.all([race(eve.token), race(ann.token)]), [1, 1]);
  clock.jump(10_000);
  const { status, code, body } = await refusal(eve.api.call('sendMessage', { room, body: { text: 'soon' } }));
  assert.deepEqual([status, code, body['retryAfterSeconds']], [429, 'SVC_SLOW_MODE', 20]);
  clock.jump(20_000);
  assert.equal(await race(eve.token), 1);
  for (let at = 0; at < 3; at++) {
    await mod.api.call('sendMessage', { room, body: { text: `${at}` } });
    await api.call('sendMessage', { room, body: { text: `${at}` } });
  }
  // A repeat of what was sent finds it.
  clock.jump(30_000);
  const draft = { text: 'once', clientMessageId: 'k1' };
  const sent = await eve.api.call('sendMessage', { room, body: draft });
  assert.equal((await eve.api.call('sendMessage', { room, body: draft })).id, sent.id);
  await api.call('updateConversation', { room, body: { slowModeSeconds: 0 } });
  await api.call('updateConversation', { room, body: { slowModeSeconds: 0, metadata: { nothing: 'of that' } } });
  const { id: projectId, owner } = chat.project;
  const entries = await owner.api.call('listAuditLogs', { projectId, query: { resourceId: room } });
  assert.deepEqual(
    entries.map(({ action, resourceType, metadata }) => [action, resourceType, metadata['slowModeSeconds']]),
    [
      ['chat.slow_mode_changed', 'conversation', 0],
      ['chat.slow_mode_changed', 'conversation', 30],
    ],
  );
  await eve.api.call('sendMessage', { room, body: { text: 'at once' } });
  await assertRefused(
    api.call('updateConversation', { room, body: { slowModeSeconds: 21_601 } }),
    400,
    'SVC_VALIDATION_FAILED',
  );
});
