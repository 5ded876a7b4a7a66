import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mintChatToken } from '@parley/server';
import { createChatKit } from '../../testkit/chat/chat.ts';
import { codeAt, stepMs } from '../../testkit/clients/factors.ts';
import { newSecret } from '../../testkit/clients/offline.ts';
import { addWebhook, settle } from '../../testkit/clients/webhooks.ts';
import { startService, type TestService } from '../../testkit/kit/service.ts';
import { hasValidSignature, startReceiver, type TestReceiver } from '../../testkit/peers/receiver.ts';

const [oldKey, newKey] = ['the key before with a good length 8f3kd92', 'the key of now with a good length 71xz0q'];
/** Has the database; its service only makes what the later ones find. */
let first: TestService;
let receiver: TestReceiver;
before(async () => {
  first = await startService({ env: { SECRET_KEY: oldKey } });
  receiver = await startReceiver();
});
after(async () => {
  await receiver.close();
  await first.stop();
});

test('[SEC-30] a rotated key signs nobody out and loses no secret; afterwards the new one is enough', async () => {
  const chat = await createChatKit(first);
  const { project } = chat;
  const { id: room } = await chat.conversation(['ada']);
  const { token } = await chat.user('ada');
  for (let sent = 0; sent < 3; sent++) await project.api.call('sendMessage', { room, body: { text: 'x' } });
  const { nextCursor } = await project.api.call('listMessages', { room, query: { limit: 1 } });
  const { email, password } = project.owner;
  const login = await post(first, '/v1/auth/login', { email, password });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const { secret } = await addWebhook(project, { url: receiver.url, headers: { 'x-team': 'blue' } });

  const person = await first.newPerson();
  const { secret: appSecret } = await person.api.call('startTotp');
  await person.api.call('confirmTotp', { body: { code: codeAt(appSecret, Date.now()) } });

  const signingKey = await newSecret(project);
  const rotating = await startService({ env: { SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey }, beside: first });
  const page = await rotating.as(token).call('listMessages', { room, query: { before: nextCursor ?? '' } });
  assert.equal(page.messages.length, 2, 'token and cursor of the old key');
  await rotating.as(project.owner.accessToken).call('listProjects', { query: {} });
  const refreshed = await post(rotating, '/v1/auth/refresh', undefined, cookie);
  assert.equal(refreshed.status, 200);
  const freshCookie = refreshed.headers.get('set-cookie')?.split(';')[0] ?? '';
  const fresh = await rotating.as(project.apiKey).call('mintChatToken', { body: { userId: 'ada' } });
  assert.equal(await rotating.service.webhooks.renewSealed(), 1);
  assert.equal(await rotating.service.webhooks.renewSealed(), 0, 'once is enough');
  assert.equal(await rotating.service.accounts.renewSealed(), 1);
  assert.equal(await rotating.service.projects.renewSealed(), 1);
  assert.equal(await rotating.service.projects.renewSealed(), 0, 'once is enough');
  await rotating.stop();

  const rotated = await startService({ env: { SECRET_KEY: newKey }, beside: first });
  // The first process cannot read what is sealed now.
  await first.service.webhooks.stop?.();
  await rotated.as(project.apiKey).call('sendMessage', { room, body: { text: 'signed' } });
  await settle(rotated);
  const last = receiver.requests.at(-1) ?? assert.fail('nothing was delivered');
  assert.equal(last.headers['x-team'], 'blue');
  assert.ok(hasValidSignature(last, secret, Date.now() / 1000));
  await rotated.as(fresh.token).call('listMessages', { room, query: {} });
  await rotated.as(mintChatToken({ signingKey, userId: 'ada' }).token).call('listConversations');
  assert.equal((await post(rotated, '/v1/auth/refresh', undefined, freshCookie)).status, 200);
  const asked = await post(rotated, '/v1/auth/login', { email: person.email, password: person.password });
  const { challenge } = (await asked.json()) as { challenge: string };
  const code = codeAt(appSecret, Date.now() + stepMs);
  const signedIn = await post(rotated, '/v1/auth/login/second-factor', { challenge, code });
  assert.equal(signedIn.status, 200, 'the app of an account');
  const refused = await rotated.fetch(`/v1/chat/conversations/${room}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(refused.status, 401, 'the old key is good for nothing any more');
  await rotated.stop();
});

const post = (service: TestService, path: string, body: unknown, cookie = ''): Promise<Response> =>
  service.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
