import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type ChatOf, createChatKit, subscribe } from '../../../testkit/chat/chat.ts';
import { newSubscription, type Subscription, webPush } from '../../../testkit/clients/push-devices.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { type PushService, startPushService, vapidClaims } from '../../../testkit/peers/push-service.ts';
import { systemClock } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import type { Adapters } from '../../core/ports.ts';
import { sql } from '../../core/sql.ts';

let service: TestService;
let browsers: PushService;
let chat: ChatOf;
before(async () => {
  service = await startService({
    env: { PUSH_BACKOFF_BASE_MS: '50', CHAT_CONNECT_RATE_LIMIT: '1000', CHAT_SEND_RATE_LIMIT: '1000' },
  });
  browsers = await startPushService();
});
after(async () => {
  await service.stop();
  await browsers.close();
});
beforeEach(async () => {
  chat = await createChatKit(service);
  browsers.answer = 201;
});

let made = 0;
async function browserOf(userId: string, options = {}): Promise<Subscription> {
  const subscription = newSubscription(browsers.endpoint(`${userId}-${++made}`));
  await (await chat.user(userId, options)).api.call('putPushDevice', { body: webPush(subscription) });
  return subscription;
}

const send = (room: string, text: string, more = {}) =>
  chat.project.api.call('sendMessage', { room, body: { text, senderId: 'alice', ...more } });

/** Everything that was said until now has been sent, or is not going to be. */
async function settled(): Promise<void> {
  await service.service.dispatcher.settled();
  await service.service.push.settled();
}

const toldOf = (subscription: Subscription): unknown[] =>
  browsers.received(subscription).map(({ messageId }) => messageId);

test('[PUSH-6] a browser decrypts with its own keys what was sent, the sender is proven, and nothing says what was written', async () => {
  const { id } = await chat.conversation();
  const bob = await browserOf('bob');
  const message = await send(id, 'meet me at noon');
  await settled();
  assert.deepEqual(browsers.received(bob), [
    { title: 'New message', conversationId: id, messageId: message.id, mention: 'false' },
  ]);
  const [request] = browsers.requests.filter(({ path }) => bob.endpoint.endsWith(path));
  assert.ok(request);
  const { publicKey } = await chat.project.api.call('getPushKey', {});
  const claims = vapidClaims(request, publicKey);
  assert.equal(claims?.['aud'], new URL(bob.endpoint).origin);
  assert.match(String(claims?.['sub']), /^mailto:/);
  assert.ok(Number(claims?.['exp']) * 1000 < Date.now() + 24 * 3_600_000);
  assert.equal(vapidClaims(request, (await createChatKit(service)).project.id), null, 'and with no other key');
  assert.deepEqual([request.headers['content-encoding'], request.headers['ttl']], ['aes128gcm', '86400']);
  assert.match(String(request.headers['topic']), /^[\w-]{32}$/);
  assert.ok(!String(request.headers['topic']).includes(id.slice(5)));
});

test('[PUSH-6] where the settings say so a notification shows who wrote and how it begins', async () => {
  const { id, name } = await chat.conversation();
  const bob = await browserOf('bob');
  await chat.project.api.call('updatePushSettings', { body: { content: 'PREVIEW' } });
  await eventually(async () => {
    await send(id, '🎉'.repeat(500));
    await settled();
    const shown = browsers.received(bob).at(-1);
    assert.deepEqual([shown?.['title'], shown?.['senderId']], [`alice · ${name}`, 'alice']);
    assert.deepEqual(shown?.['body'], `${'🎉'.repeat(159)}…`);
  });
});

test('[PUSH-7] told are members who do not look at the conversation: not the sender, not who has it open, read it or has left', async () => {
  const names = ['alice', 'bob', 'carol', 'dan', 'erin', 'frank'];
  const { id } = await chat.conversation(names);
  const [alice, bob, carol, dan, erin, frank] = await Promise.all(names.map((name) => browserOf(name)));
  const stranger = await browserOf('mallory');
  const tab = await (await chat.user('bob')).connect();
  await subscribe(tab, id);
  await eventually(async () => assert.equal((await chat.project.api.call('listPresence', { room: id })).length, 1));
  await chat.project.api.call('removeConversationMember', { room: id, userId: 'dan' });
  await chat.project.api.call('revokeUser', { userId: 'erin' });
  await chat.project.api.call('banFromChat', { userId: 'frank', body: {} });
  const first = await send(id, 'one');
  await settled();
  const told = [alice, bob, carol, dan, erin, frank, stranger].map((one) => (one ? toldOf(one) : []));
  assert.deepEqual(told, [[], [], [first.id], [], [], [], []]);

  await tab.ask({ type: 'presence', status: 'AWAY' });
  const second = await send(id, 'two');
  await settled();
  assert.deepEqual(bob && toldOf(bob), [second.id], 'who is away does not look');
  await tab.close();
  await send(id, 'a notice', { type: 'system' });
  await settled();
  assert.equal(carol && toldOf(carol).length, 2, 'notices interrupt nobody');
});

test('[PUSH-7] [MOD-20] off, mentions only, quiet hours, a muted conversation and a blocked sender are kept', async () => {
  const names = ['off', 'mentions', 'quiet', 'muted', 'default', 'blocker'];
  const { id } = await chat.conversation(['alice', ...names]);
  const devices = await Promise.all(names.map((name) => browserOf(name)));
  const { api } = chat.project;
  const set = (userId: string, body: object) => api.call('setPushPreferences', { body: { userId, ...body } });
  await set('off', { level: 'OFF' });
  await set('mentions', { level: 'MENTIONS' });
  await set('quiet', { quietHours: { from: '00:00', until: '00:00', timeZone: 'UTC' } });
  const mute = (muted: boolean) => api.call('changeInboxEntry', { room: id, body: { userId: 'muted', muted } });
  await mute(true);
  await api.call('blockUser', { blockedId: 'alice', query: { userId: 'blocker' } });
  const first = await send(id, 'one');
  await settled();
  assert.deepEqual(devices.map(toldOf), [[], [], [], [], [first.id], []]);

  await api.call('updatePushSettings', { body: { level: 'MENTIONS' } });
  await mute(false);
  const second = await send(id, 'two', { mentions: { users: ['mentions', 'off', 'blocker'] } });
  await settled();
  const [, mentioned] = devices;
  assert.deepEqual(devices.map(toldOf), [[], [second.id], [], [], [first.id], []]);
  assert.equal(mentioned && browsers.received(mentioned)[0]?.['title'], 'You were mentioned');

  const third = await send(id, 'three', { mentions: { all: true } });
  await settled();
  assert.deepEqual(devices.map(toldOf), [[], [second.id, third.id], [], [third.id], [first.id, third.id], []]);
});

test('[PUSH-7] a device that a bounded token registered is told of its conversations only', async () => {
  const [one, other] = [await chat.conversation(), await chat.conversation()];
  const bob = await browserOf('bob', { conversations: [one.id] });
  await send(other.id, 'elsewhere');
  const message = await send(one.id, 'here');
  await settled();
  assert.deepEqual(toldOf(bob), [message.id]);
});

test('[PUSH-8] a device that its service no longer knows is removed; one that it cannot reach now is retried, one that it refuses is not', async () => {
  const { id } = await chat.conversation(['alice', 'gone', 'lost', 'busy', 'refused']);
  const [gone, lost, busy, refused] = await Promise.all(['gone', 'lost', 'busy', 'refused'].map((n) => browserOf(n)));
  const asked = new Map<string, number>();
  browsers.answer = ({ path }) => {
    const name = path.slice(1).split('-', 1)[0] ?? '';
    const count = (asked.get(name) ?? 0) + 1;
    asked.set(name, count);
    if (name === 'gone') return 410;
    if (name === 'lost') return 404;
    if (name === 'refused') return 400;
    return [429, 503, 'reset' as const][count - 1] ?? 201;
  };
  const message = await send(id, 'hello');
  await eventually(async () => {
    await settled();
    assert.deepEqual(Object.fromEntries(asked), { gone: 1, lost: 1, refused: 1, busy: 4 });
  });
  assert.deepEqual(busy && toldOf(busy), Array(4).fill(message.id));
  const { api } = chat.project;
  const left = await Promise.all(
    ['gone', 'lost', 'busy', 'refused'].map(
      async (userId) => (await api.call('listPushDevices', { query: { userId } })).length,
    ),
  );
  assert.deepEqual(left, [0, 0, 1, 1]);
  assert.ok(gone && lost && refused);
  await settled();
  assert.deepEqual(await waiting(), []);
});

const waiting = async () =>
  service.adapters.db.query(sql`
    select 1 as one from push_deliveries q join push_devices d on d.id = q.device_id
    where d.project_id = ${chat.project.id}`);

test('[PUSH-8] after PUSH_MAX_ATTEMPTS a notification is given up, and the device kept', async () => {
  const { id } = await chat.conversation();
  const bob = await browserOf('bob');
  browsers.answer = 503;
  await send(id, 'hello');
  await eventually(async () => {
    await settled();
    assert.deepEqual(await waiting(), []);
  });
  assert.equal(toldOf(bob).length, 6);
  assert.equal((await chat.project.api.call('listPushDevices', { query: { userId: 'bob' } })).length, 1);
});

test('[PUSH-9] [DASH-98] of messages that wait the newest takes the place of the others, and what was read or deleted meanwhile is not sent', async () => {
  const [one, two] = [await chat.conversation(), await chat.conversation()];
  const bob = await browserOf('bob');
  browsers.answer = { status: 503, headers: { 'retry-after': '3600' } };
  await send(one.id, 'first');
  await settled();
  const refusedOnce = toldOf(bob).length;
  const { id: projectId, owner } = chat.project;
  const shown = async () => (await owner.api.call('getProjectPush', { projectId, query: {} })).services[0];
  const before = await shown();
  assert.deepEqual([before?.kind, before?.waiting, before?.retrying], ['WEB_PUSH', 1, 1]);
  const texts = ['second', 'third', 'fourth'];
  const messages = [];
  for (const text of texts) messages.push(await send(one.id, text));
  const read = await send(two.id, 'read');
  await settled();
  assert.equal((await waiting()).length, 2);
  assert.equal((await shown())?.waiting, 2);
  await chat.project.api.call('markRead', { messageId: read.id, body: { userId: 'bob' } });
  browsers.answer = 201;
  const asked = browsers.requests.length;
  await service.adapters.db.execute(sql`update push_deliveries set due_at = now() - interval '1 s'`);
  await settled();
  assert.ok(refusedOnce >= 1);
  assert.deepEqual([browsers.requests.length - asked, toldOf(bob).at(-1)], [1, messages.at(-1)?.id]);
  const topics = browsers.requests
    .filter(({ path }) => bob.endpoint.endsWith(path))
    .map(({ headers }) => headers['topic']);
  assert.equal(new Set(topics).size, 2, 'one for each conversation');
  assert.deepEqual(await waiting(), []);
});

test('[PUSH-10] without devices a message costs nothing: its event is stored as dispatched', async () => {
  const { id } = await chat.conversation();
  const dispatched = async () => {
    const { id: messageId } = await send(id, 'x');
    const [event] = await service.adapters.db.query<{ same: boolean }>(sql`
      select dispatched_at = created_at as same from events where data::json #>> '{message,id}' = ${messageId}`);
    return event?.same ?? false;
  };
  assert.equal(await dispatched(), true);
  const { api } = await chat.user('bob');
  const device = await api.call('putPushDevice', { body: webPush(newSubscription(browsers.endpoint('x'))) });
  assert.equal(await dispatched(), false);
  await api.call('deletePushDevice', { deviceId: device.id });
  assert.equal(await dispatched(), true);
});

/** Commits what it is asked to, and is killed before it dispatches it. */
const killedAfterCommit = (adapters: Adapters): Adapters => {
  const dies = (tx: Tx): Tx => ({
    ...tx,
    query(statement) {
      if (/update events .* set dispatched_at/.test(statement.text)) throw new Error('killed');
      return tx.query(statement);
    },
  });
  const db: Db = { ...adapters.db, transaction: (work) => adapters.db.transaction((tx) => work(dies(tx))) };
  return { ...adapters, db };
};

test('[PUSH-10] what a killed process stored is told by another, and a job that it had begun goes on where it was', async () => {
  const crowd = Array.from({ length: 990 }, (_, at) => `u${String(at).padStart(3, '0')}`);
  const { id } = await chat.conversation(['alice', ...crowd]);
  const devices = await Promise.all(['u000', 'u499', 'u500', 'u989'].map((name) => browserOf(name)));
  // What it records is old enough at once to count as stranded.
  const clock = { ...systemClock, now: () => systemClock.now() - 10_000 };
  const killed = await startService({ beside: service, clock, wrap: killedAfterCommit });
  const { id: messageId } = await killed
    .as(chat.project.apiKey)
    .call('sendMessage', { room: id, body: { text: 'the last words', senderId: 'alice' } });
  await killed.stop();
  // The dispatcher's own sweep may have taken it, and not be through.
  await eventually(async () => {
    await service.service.dispatcher.sweep();
    await settled();
    assert.deepEqual(devices.map(toldOf), Array(4).fill([messageId]));
  });

  const { db } = service.adapters;
  const { projectId, environment } = { projectId: chat.project.id, environment: 'DEVELOPMENT' };
  await db.execute(sql`
    insert into push_jobs (event_id, project_id, environment, after_user, attempts, due_at, claimed_until)
    select id, ${projectId}, ${environment}, 'u499', 1, now() - interval '1 m', now() - interval '1 s'
    from events where data::json #>> '{message,id}' = ${messageId}`);
  await settled();
  assert.deepEqual(
    devices.map((device) => toldOf(device).length),
    [1, 1, 2, 2],
  );
});
