import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../testkit/chat/chat.ts';
import { openSocket } from '../../../testkit/clients/socket-client.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ env: { CHAT_TOKEN_MAX_TTL_SECONDS: '7200' } });
  chat = await createChatKit(service);
});
after(() => service.stop());

const mint = (body: { userId: string; ttlSeconds?: number; scopes?: string[]; conversations?: string[] }) =>
  chat.project.api.call('mintChatToken', { body });

test('[CTOK-1] a token lives an hour unless asked, 60 to 21600 s, capped by the deployment', async () => {
  const { id, publicId, tokenId, expiresIn } = await mint({ userId: 'u' });
  assert.match(id, /^ctk_/);
  assert.deepEqual([publicId, tokenId, expiresIn], [id, id, 3600]);
  assert.equal((await mint({ userId: 'u', ttlSeconds: 60 })).expiresIn, 60);
  assert.equal((await mint({ userId: 'u', ttlSeconds: 21_600 })).expiresIn, 7200);
  for (const ttlSeconds of [0, 59, 21_601, 60.5, -1]) {
    await assertRefused(mint({ userId: 'u', ttlSeconds }), 400, 'SVC_INVALID_TTL');
  }
  for (const userId of ['', 'a b', 'x'.repeat(129), 'ü']) {
    await assertRefused(mint({ userId }), 400, 'SVC_VALIDATION_FAILED');
  }
});

test('[CTOK-2] scopes only narrow: chat:manage is never given, an unknown scope is refused', async () => {
  const all = await mint({ userId: 'u' });
  assert.ok(!all.scopes.includes('chat:manage') && all.scopes.length === 8);
  assert.deepEqual((await mint({ userId: 'u', scopes: ['chat:manage', 'chat:read'] })).scopes, ['chat:read']);
  assert.deepEqual((await mint({ userId: 'u', scopes: [] })).scopes, []);
  await assertRefused(mint({ userId: 'u', scopes: ['chat:everything'] }), 400, 'SVC_INVALID_SCOPE');
});

test('[CTOK-3] what a scope does not allow is refused on every route that needs it', async () => {
  const { id: room } = await chat.conversation([{ userId: 'u', role: 'OWNER' }, 'v']);
  const { id: messageId } = await chat.project.api.call('sendMessage', { room, body: { text: 'x', senderId: 'u' } });
  const none = (await chat.user('u', { scopes: [] })).api;
  const calls = [
    () => none.call('listConversations'),
    () => none.call('getConversation', { room }),
    () => none.call('updateConversation', { room, body: { name: 'mine' } }),
    () => none.call('addConversationMember', { room, body: { userId: 'w' } }),
    () => none.call('changeConversationMember', { room, userId: 'v', body: { role: 'GUEST' } }),
    () => none.call('removeConversationMember', { room, userId: 'v' }),
    () => none.call('removeConversationMember', { room, userId: 'u' }),
    () => none.call('listMessages', { room }),
    () => none.call('listChanges', { room }),
    () => none.call('sendMessage', { room, body: { text: 'x' } }),
    () => none.call('editMessage', { messageId, body: { text: 'x' } }),
    () => none.call('deleteMessage', { messageId }),
    () => none.call('addReaction', { messageId, body: { emoji: '👍' } }),
    () => none.call('markRead', { messageId }),
    () => none.call('listPresence', { room }),
    () => none.call('listTyping', { room }),
    () => none.call('getThread', { messageId }),
    () => none.call('requestAttachment', { room, body: { filename: 'f', mimeType: 'text/plain', size: 1 } }),
  ];
  for (const call of calls) await assertRefused(call(), 403, 'SVC_SCOPE_MISSING');
  const editing = (await chat.user('u', { scopes: ['chat:edit'] })).api;
  assert.equal((await editing.call('removeConversationMember', { room, userId: 'v' })).active, false);
  assert.equal((await editing.call('removeConversationMember', { room, userId: 'u' })).active, false);
  await assertRefused(none.call('mintChatToken', { body: { userId: 'u' } }), 403, 'SVC_WRONG_CREDENTIAL_TYPE');
});

test('[CTOK-4] conversations are resolved at minting: a token does not follow a rename, and none means none', async () => {
  const [lobby, other] = [await chat.conversation(['u']), await chat.conversation(['u'])];
  const token = await mint({ userId: 'u', conversations: [lobby.name, lobby.id, lobby.uuid.toUpperCase()] });
  assert.deepEqual(token.conversations, [lobby.id]);
  const api = service.as(token.token);
  await chat.project.api.call('updateConversation', { room: lobby.id, body: { name: 'lobby-old' } });
  await chat.project.api.call('updateConversation', { room: other.id, body: { name: lobby.name } });
  await assertRefused(api.call('getConversation', { room: lobby.name }), 404, 'SVC_CONVERSATION_NOT_FOUND');
  assert.equal((await api.call('getConversation', { room: 'lobby-old' })).id, lobby.id);
  const { id: messageId } = await chat.project.api.call('sendMessage', { room: other.id, body: { text: 'x' } });
  await assertRefused(api.call('getMessage', { messageId }), 404, 'SVC_MESSAGE_NOT_FOUND');
  await assertRefused(
    api.call('sendMessage', { room: other.id, body: { text: 'x' } }),
    404,
    'SVC_CONVERSATION_NOT_FOUND',
  );

  const nothing = service.as((await mint({ userId: 'u', conversations: [] })).token);
  assert.deepEqual(await nothing.call('listConversations'), []);
  await assertRefused(nothing.call('getConversation', { room: lobby.id }), 404, 'SVC_CONVERSATION_NOT_FOUND');
  await assertRefused(mint({ userId: 'u', conversations: ['nowhere'] }), 404, 'SVC_CONVERSATION_NOT_FOUND');
  await assertRefused(mint({ userId: 'u', conversations: ['no\nwhere'] }), 400, 'SVC_VALIDATION_FAILED');
});

test('[CTOK-5] a token of another family or an altered one is worth nothing', async () => {
  const { token } = await mint({ userId: 'u' });
  const [head, body = '', mark] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'admin' })).toString('base64url');
  const none = Buffer.from('{"alg":"none","typ":"chat+jwt"}').toString('base64url');
  for (const bad of [`${head}.${forged}.${mark}`, `${none}.${body}.`, `${head}.${body}.`, token.slice(0, -3)]) {
    await assertRefused(service.as(bad).call('listConversations'), 401, 'SVC_INVALID_TOKEN');
  }
  await assertRefused(
    service.as(chat.project.owner.accessToken).call('listConversations'),
    403,
    'SVC_WRONG_CREDENTIAL_TYPE',
  );
});

test('[CTOK-6] tokens of an archived project stop working', async () => {
  const own = await createChatKit(service);
  await own.conversation(['u']);
  const { api } = await own.user('u');
  assert.equal((await api.call('listConversations')).length, 1);
  const { token } = await own.project.api.call('mintRtcToken', {
    roomId: (await own.project.api.call('createRoom', { body: { name: 'hall' } })).id,
    body: { participantIdentity: 'u' },
  });
  const ended = [await (await own.user('u')).connect(), await (await own.user('u')).connect()];
  const sockets = [
    await (await own.user('u')).connect(),
    await openSocket(`${service.url}/v1/rtc/signal?token=${token}`),
    await (await chat.user('somebody-else')).connect(),
  ];
  for (const socket of ended) await socket.close();
  await own.project.owner.api.call('archiveProject', { projectId: own.project.id });
  await assertRefused(api.call('listConversations'), 401, 'SVC_INVALID_TOKEN');
  for (const socket of sockets.slice(0, 2)) {
    assert.deepEqual(await socket.whenClosed(), { code: 4401, reason: 'INVALID_TOKEN' });
  }
  assert.equal(sockets[2]?.closed, null);
  await sockets[2]?.close();
});

test('[MSG-15] 30 sends a window and user over REST, however many tokens; an API key has no such budget', async () => {
  const { id: room } = await chat.conversation(['busy', 'calm']);
  const [one, two] = [await chat.user('busy'), await chat.user('busy')];
  const answers = await Promise.allSettled(
    Array.from({ length: 40 }, (_, at) => (at % 2 ? one : two).api.call('sendMessage', { room, body: { text: 'x' } })),
  );
  assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 30);
  const refused = answers.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
  assert.deepEqual([refused.reason.status, refused.reason.code], [429, 'SVC_RATE_LIMITED']);
  assert.ok(refused.reason.body.retryAfterSeconds >= 1 && refused.reason.headers.get('retry-after'));
  await (await chat.user('calm')).api.call('sendMessage', { room, body: { text: 'x' } });
  for (let at = 0; at < 35; at++) {
    await chat.project.api.call('sendMessage', { room, body: { text: 'x', senderId: 'busy' } });
  }
});
