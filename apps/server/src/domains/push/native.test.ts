import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../testkit/chat/chat.ts';
import { apns, fcm } from '../../../testkit/clients/push-devices.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { type ApnsService, startApnsService } from '../../../testkit/peers/apns-service.ts';
import { type FcmService, startFcmService, unregistered } from '../../../testkit/peers/fcm-service.ts';

const google = generateKeyPairSync('rsa', { modulusLength: 2048 });
const apple = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const email = 'push@chat-1.iam.example';
const [teamId, keyId] = ['TEAM123456', 'KEY1234567'];

let service: TestService;
let firebase: FcmService;
let store: ApnsService;
let sandbox: ApnsService;
let chat: ChatOf;
before(async () => {
  firebase = await startFcmService(google.publicKey, email);
  store = await startApnsService({ publicKey: apple.publicKey, teamId, keyId });
  sandbox = await startApnsService({ publicKey: apple.publicKey, teamId, keyId });
  service = await startService({
    env: {
      PUSH_FCM_URL: firebase.apiUrl,
      PUSH_FCM_TOKEN_URL: firebase.tokenUrl,
      PUSH_APNS_URL: store.url,
      PUSH_APNS_SANDBOX_URL: sandbox.url,
      PUSH_BACKOFF_BASE_MS: '50',
    },
  });
});
after(async () => {
  await service.stop();
  await Promise.all([firebase, store, sandbox].map((peer) => peer.close()));
});
beforeEach(async () => {
  chat = await createChatKit(service);
  await chat.project.api.call('updatePushSettings', {
    body: {
      fcm: { project_id: 'chat-1', client_email: email, private_key: pem(google.privateKey) },
      apns: { teamId, keyId, key: pem(apple.privateKey) },
    },
  });
});

async function settled(): Promise<void> {
  await service.service.dispatcher.settled();
  await service.service.push.settled();
}

const put = (userId: string, device: object) =>
  chat.project.api.call('putPushDevice', { body: { ...device, userId } as never });
const send = (room: string) =>
  chat.project.api.call('sendMessage', { room, body: { text: 'hello', senderId: 'alice' } });
const devicesOf = async (userId: string) =>
  (await chat.project.api.call('listPushDevices', { query: { userId } })).length;

test('[PUSH-11] FCM gets messages of HTTP v1 with an access token of the service account, asked for once', async () => {
  const { id } = await chat.conversation(['alice', 'bob', 'carol']);
  await put('bob', fcm('token-of-bob'));
  await put('carol', fcm('token-of-carol'));
  const message = await send(id);
  await settled();
  const [first, second] = firebase.messages;
  assert.equal(first?.path, '/v1/projects/chat-1/messages:send');
  assert.deepEqual(
    new Set([first?.message['token'], second?.message['token']]),
    new Set(['token-of-bob', 'token-of-carol']),
  );
  assert.deepEqual(first?.message['notification'], { title: 'New message' });
  assert.deepEqual(first?.message['data'], { conversationId: id, messageId: message.id, mention: 'false' });
  const {
    collapse_key: key,
    notification,
    priority,
    ttl,
  } = (first?.message['android'] ?? {}) as Record<string, unknown>;
  assert.deepEqual([notification, priority, ttl], [{ tag: key }, 'HIGH', '86400s']);
  assert.equal(firebase.tokens.length, 1);

  firebase.withdraw();
  await send(id);
  await eventually(async () => {
    await settled();
    assert.equal(firebase.messages.length, 4);
  });
  assert.equal(firebase.tokens.length, 2, 'a withdrawn one is replaced');
});

test('[PUSH-11] a late refusal of an access token leaves the one that took its place', async () => {
  const [{ id: slow }, { id: other }] = [
    await chat.conversation(['alice', 'bob']),
    await chat.conversation(['alice', 'carol']),
  ];
  await put('bob', fcm('late-bob'));
  await put('carol', fcm('quick-carol'));
  const before = firebase.tokens.length;
  const askedOf = (token: string) => firebase.messages.filter(({ message }) => message['token'] === token).length;
  firebase.answers.set('late-bob', [{ status: 401, afterMs: 1_000 }]);
  await send(slow);
  await eventually(() => assert.equal(askedOf('late-bob'), 1));
  firebase.withdraw();
  await send(other);
  await eventually(() => assert.equal(askedOf('quick-carol'), 1));
  await eventually(() => assert.equal(askedOf('late-bob'), 2));
  assert.equal(firebase.tokens.length - before, 2, 'the first, and one in its place');
});

test('[PUSH-8] [PUSH-11] FCM: UNREGISTERED removes the device, 503 is retried, INVALID_ARGUMENT is not', async () => {
  const { id } = await chat.conversation(['alice', 'gone', 'busy', 'bad']);
  for (const name of ['gone', 'busy', 'bad']) await put(name, fcm(`fcm-${name}`));
  firebase.answers.set('fcm-gone', [unregistered]);
  firebase.answers.set('fcm-busy', [{ status: 503 }, { status: 429 }]);
  firebase.answers.set('fcm-bad', [{ status: 400, body: '{"error":{"status":"INVALID_ARGUMENT"}}' }]);
  await send(id);
  const asked = (name: string) => firebase.messages.filter(({ message }) => message['token'] === `fcm-${name}`).length;
  await eventually(async () => {
    await settled();
    assert.deepEqual(['gone', 'busy', 'bad'].map(asked), [1, 3, 1]);
  });
  assert.deepEqual(await Promise.all(['gone', 'busy', 'bad'].map(devicesOf)), [0, 1, 1]);
});

test('[PUSH-12] APNs gets alerts over one HTTP/2 connection, signed, collapsed by conversation, in the environment of the device', async () => {
  const { id } = await chat.conversation(['alice', 'bob', 'carol']);
  await put('bob', apns('ab'.repeat(32)));
  await put('carol', { ...apns('cd'.repeat(32)), environment: 'SANDBOX' });
  await send(id);
  await send(id);
  await settled();
  const [first] = store.requests;
  assert.ok(first);
  assert.equal(first.path, `/3/device/${'ab'.repeat(32)}`);
  const { 'apns-topic': topic, 'apns-push-type': type, 'apns-collapse-id': collapseId } = first.headers;
  assert.deepEqual([topic, type, String(collapseId).length], ['com.example.chat', 'alert', 32]);
  const { aps, ...data } = first.payload;
  assert.deepEqual((aps as Record<string, unknown>)['alert'], { title: 'New message' });
  assert.equal(data['conversationId'], id);
  assert.ok(sandbox.requests.length >= 1);
  assert.deepEqual([store.sessions(), sandbox.sessions()], [1, 1]);
  const tokens = new Set(store.requests.map(({ headers }) => headers['authorization']));
  assert.equal(tokens.size, 1, 'a token is used for a while, as Apple asks');
});

test('[PUSH-8] [PUSH-12] APNs: 410 and BadDeviceToken remove the device, a lost connection and 503 are retried, other refusals are not', async () => {
  const names = ['gone', 'bad', 'busy', 'refused'];
  const { id } = await chat.conversation(['alice', ...names]);
  const token = (name: string) => Buffer.from(name.padEnd(16, '.')).toString('hex');
  for (const name of names) await put(name, apns(token(name)));
  // Twice: the connection may be cut under the first answer.
  store.answers.set(token('gone'), Array(2).fill({ status: 410, reason: 'Unregistered' }));
  store.answers.set(token('bad'), Array(2).fill({ status: 400, reason: 'BadDeviceToken' }));
  store.answers.set(token('busy'), [{ status: 503, reason: 'ServiceUnavailable' }, 'cut']);
  store.answers.set(token('refused'), Array(2).fill({ status: 400, reason: 'BadTopic' }));
  await send(id);
  const asked = (name: string) => store.requests.filter(({ path }) => path.endsWith(token(name))).length;
  await eventually(async () => {
    await settled();
    assert.equal(asked('busy'), 3);
    assert.deepEqual(await Promise.all(names.map(devicesOf)), [0, 0, 1, 1]);
  });
  assert.ok(asked('refused') <= 2, 'once, or again when the connection was cut under it');
});

test('[PUSH-11] devices of a kind that the environment has no keys for are not told, and wait for nothing', async () => {
  const { id } = await chat.conversation();
  await chat.project.api.call('updatePushSettings', { body: { fcm: null, apns: null } });
  await put('bob', fcm('nobody-sends-here'));
  await send(id);
  await settled();
  assert.ok(!firebase.messages.some(({ message }) => message['token'] === 'nobody-sends-here'));
  assert.equal(await devicesOf('bob'), 1);
});
