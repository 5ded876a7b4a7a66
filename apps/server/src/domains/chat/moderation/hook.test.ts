import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, type ChatUser, createChatKit, refusal } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { eventIn, hasValidSignature, startReceiver, type TestReceiver } from '../../../../testkit/peers/receiver.ts';

const clock = createFakeClock();
let service: TestService;
let chat: ChatOf;
let receiver: TestReceiver;
let room: string;
let ann: ChatUser;
before(async () => {
  service = await startService({ clock });
  receiver = await startReceiver();
  chat = await createChatKit(service);
  room = (await chat.conversation(['ann'])).id;
  ann = await chat.user('ann');
});
after(async () => {
  await service.stop();
  await receiver.close();
});

const answering = (body: object) => ({ status: 200, body: JSON.stringify(body) });
const send = (text = 'hello') => ann.api.call('sendMessage', { room, body: { text } });

test('[MOD-13] the hook is asked before a message of a user, signed, and allows, changes or refuses it', async () => {
  const { api } = chat.project;
  await assertRefused(api.call('getModerationHook'), 404, 'SVC_HOOK_NOT_FOUND');
  const { secret } = await api.call('setModerationHook', { body: { url: receiver.url } });
  receiver.answer = answering({ action: 'allow' });
  const { id: messageId } = await send();
  const [request = assert.fail()] = receiver.requests;
  assert.ok(hasValidSignature(request, secret ?? '', Math.floor(clock.now() / 1000)));
  const { type, data } = eventIn(request);
  assert.equal(type, 'message.pre_send');
  assert.deepEqual(
    [data['action'], data['conversationId'], data['senderId'], (data['message'] as { text: string }).text],
    ['send', room, 'ann', 'hello'],
  );
  receiver.answer = answering({ action: 'change', text: 'nicer' });
  assert.equal((await send('ugly')).text, 'nicer');
  assert.equal((await ann.api.call('editMessage', { messageId, body: { text: 'ugly' } })).text, 'nicer');
  receiver.answer = answering({ action: 'refuse', reason: 'not here' });
  const { status, code, body } = await refusal(send());
  assert.deepEqual([status, code, body['by'], body['reason']], [422, 'SVC_MESSAGE_REJECTED', 'hook', 'not here']);
  const asked = receiver.requests.length;
  await api.call('sendMessage', { room, body: { text: 'of a server' } });
  const stranger = await chat.user('eve');
  await assertRefused(stranger.api.call('sendMessage', { room, body: { text: 'hello' } }), 403, 'SVC_NOT_A_MEMBER');
  assert.equal(receiver.requests.length, asked);

  // The secret is shown once, and again when it is rotated; both sign for a while.
  assert.equal((await api.call('setModerationHook', { body: { url: receiver.url } })).secret, null);
  const rotated = await api.call('rotateModerationHook');
  assert.notEqual(rotated.secret, secret);
  assert.equal((await api.call('getModerationHook')).secretHint, rotated.secret?.slice(-4));
  receiver.answer = answering({ action: 'allow' });
  await send();
  const last = receiver.requests.at(-1) ?? assert.fail();
  for (const one of [secret, rotated.secret])
    assert.ok(hasValidSignature(last, one ?? '', Math.floor(clock.now() / 1000)));
});

test('[MOD-14] without an answer a message passes or not, by the setting; a failing hook is left alone for a while', async () => {
  const { api } = chat.project;
  await api.call('setModerationHook', { body: { url: receiver.url, onFailure: 'open', timeoutMs: 200 } });
  for (const answer of [500, { status: 200, body: 'no json' }, answering({ action: 'change' }), 'reset'] as const) {
    receiver.answer = answer;
    assert.equal((await send('passes')).text, 'passes');
  }
  receiver.answer = 'hang';
  const before = receiver.requests.length;
  const sent = send('late');
  await eventually(() => assert.equal(receiver.requests.length, before + 1));
  await clock.advance(200);
  await sent;
  // That was the fifth: from now on it is not asked.
  const asked = receiver.requests.length;
  receiver.answer = answering({ action: 'refuse' });
  await send('not asked');
  assert.equal(receiver.requests.length, asked);
  await api.call('setModerationHook', { body: { url: receiver.url, onFailure: 'closed' } });
  await assertRefused(send(), 503, 'SVC_SERVICE_UNAVAILABLE');
  assert.equal(receiver.requests.length, asked);
  clock.jump(10_000);
  await assertRefused(send(), 422, 'SVC_MESSAGE_REJECTED');
  await api.call('removeModerationHook');
  assert.equal((await send('free')).text, 'free');
});

test('[MOD-13] a hook may be where webhooks may be, and nowhere else', async () => {
  const { api } = chat.project;
  for (const url of [
    'ftp://example.com',
    'http://169.254.169.254/latest',
    'http://10.0.0.1/',
    'https://a:b@example.com',
  ])
    await assertRefused(api.call('setModerationHook', { body: { url } }), 400, 'SVC_INVALID_WEBHOOK_URL');
  await assertRefused(api.call('rotateModerationHook'), 404, 'SVC_HOOK_NOT_FOUND');
});
