import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { openSocket, type SocketClient } from '../../../../testkit/clients/socket-client.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { DatabaseUnavailable } from '../../../core/db.ts';
import type { Adapters } from '../../../core/ports.ts';

/** What ends by itself, in a time of its own. */
const clock = createFakeClock();
const env = { CHAT_EDIT_WINDOW_SECONDS: '60' };
/** What was deleted by a statement of its own, or taken to be deleted with its bytes. */
const deletes: string[] = [];
let losesAnswers = false;
const lost = (): never => {
  throw new DatabaseUnavailable('the connection broke after the commit');
};
const watched = (adapters: Adapters): Adapters => ({
  ...adapters,
  db: {
    ...adapters.db,
    execute(statement) {
      if (/delete from/.test(statement.text)) deletes.push(statement.text);
      return adapters.db.execute(statement);
    },
    query(statement) {
      if (/delete from (events|deliveries)|set status = 'EXPIRED'/.test(statement.text)) deletes.push(statement.text);
      return adapters.db.query(statement);
    },
    async batch(statements) {
      const rows = await adapters.db.batch(statements);
      return losesAnswers ? lost() : rows;
    },
    async transaction(work) {
      const result = await adapters.db.transaction(work);
      return losesAnswers ? lost() : result;
    },
  },
});
let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ clock, env, wrap: watched });
  chat = await createChatKit(service);
});
after(() => service.stop());

/** Time of the test's own passes in each look. */
const patiently = { withinMs: 30_000 };

/** Time passes while a client pings: a socket that is silent for 45 s would be cut. */
async function pass(seconds: number, listener: SocketClient): Promise<void> {
  for (let left = seconds; left > 0; left -= 10) {
    await clock.advance(Math.min(left, 10) * 1000);
    await listener.ask({ type: 'ping' });
  }
}

/** From `die` on nothing that this process does reaches the shared state or the store, as after kill -9. */
function mortal() {
  let isDead = false;
  const wrap = (adapters: Adapters): Adapters => {
    const { expiringSets, db, locks } = adapters;
    return {
      ...adapters,
      locks: { ...locks, acquire: async (...args) => (isDead ? false : locks.acquire(...args)) },
      expiringSets: {
        ...expiringSets,
        touch: async (...args) => (isDead ? { isNew: false } : expiringSets.touch(...args)),
        remove: async (...args) => (isDead ? false : expiringSets.remove(...args)),
        sweep: async (...args) => (isDead ? [] : expiringSets.sweep(...args)),
      },
      db: { ...db, execute: async (statement) => (isDead ? 0 : db.execute(statement)) },
    };
  };
  return {
    wrap,
    die() {
      isDead = true;
    },
  };
}

test('[PRES-2] 45 s after a process has died its users have left, announced once, and its sessions are closed', async () => {
  const { wrap, die } = mortal();
  const doomed = await startService({ clock, env, beside: service, wrap });
  const { id } = await chat.conversation();
  const watcher = await (await chat.user('bob')).connect();
  await subscribe(watcher, id, { presence: false });
  const { token } = await chat.user('alice');
  const alice = await openSocket(`${doomed.url}/v1/chat/ws?token=${token}`);
  await subscribe(alice, id);
  assert.equal((await watcher.take('presence'))['event'], 'enter');
  const present = () => chat.project.api.call('listPresence', { room: id });
  const sessions = async () => {
    const { project } = chat;
    const all = await project.owner.api.call('listChatConnections', { projectId: project.id });
    return all.filter(({ userId }) => userId === 'alice').map(({ closeCode }) => closeCode);
  };
  await pass(5, watcher);
  await eventually(async () => assert.deepEqual(await sessions(), [null]));

  die();
  await pass(35, watcher);
  assert.deepEqual(
    (await present()).map(({ userId }) => userId),
    ['alice'],
    'not before its time',
  );
  await eventually(async () => {
    await pass(10, watcher);
    assert.deepEqual(await present(), []);
    assert.deepEqual(await sessions(), [1006]);
    assert.ok(watcher.frames.some((frame) => frame['event'] === 'leave'));
  }, patiently);
  const leave = await watcher.take('presence');
  assert.deepEqual([leave['userId'], leave['event'], leave['status']], ['alice', 'leave', 'OFFLINE']);
  assert.equal(watcher.frames.filter(({ type }) => type === 'presence').length, 2);
  alice.ws.terminate();
  await watcher.close();
  await doomed.stop();
});

test('[PRES-3] a connected user stays present, and a crowd that leaves at once is announced one by one', async () => {
  const { id } = await chat.conversation(['alice', 'bob', 'carol']);
  const watcher = await (await chat.user('bob')).connect();
  await subscribe(watcher, id, { presence: false });
  const { token } = await chat.user('alice');
  const tabs = await Promise.all(
    Array.from({ length: 4 }, () => openSocket(`${service.url}/v1/chat/ws?token=${token}`)),
  );
  const carol = await (await chat.user('carol')).connect();
  const crowd = [...tabs, carol];
  for (const client of crowd) await subscribe(client, id);
  const present = async () =>
    (await chat.project.api.call('listPresence', { room: id })).map(({ userId, connections }) => [userId, connections]);
  const everybody = [
    ['alice', tabs.length],
    ['carol', 1],
  ];
  for (let minute = 0; minute < 2; minute++) {
    for (let left = 6; left > 0; left--) {
      await clock.advance(10_000);
      for (const client of [watcher, ...crowd]) await client.ask({ type: 'ping' });
    }
    assert.deepEqual((await present()).toSorted(), everybody);
  }
  for (const { ws } of crowd) ws.terminate();
  await watcher.take('presence', ({ event, userId }) => event === 'leave' && userId === 'alice');
  await watcher.take('presence', ({ event, userId }) => event === 'leave' && userId === 'carol');
  assert.deepEqual(await present(), []);
  assert.equal(watcher.frames.filter(({ event }) => event === 'leave').length, 2);
  await watcher.close();
});

test('[PRES-6] lastSeenAt is when the user last sent something, however often presence is refreshed', async () => {
  const { id } = await chat.conversation();
  const client = await (await chat.user('alice')).connect();
  await subscribe(client, id);
  const lastSeen = async () => (await chat.project.api.call('listPresence', { room: id }))[0]?.lastSeenAt;
  const heardAt = await eventually(async () => (await lastSeen()) ?? assert.fail('not present yet'));
  await clock.advance(30_000);
  await client.ask({ type: 'ping' });
  const pingedAt = new Date(clock.now()).toISOString();
  assert.ok(pingedAt > heardAt);
  const offMs = async () => Math.abs(Date.parse((await lastSeen()) ?? '') - Date.parse(pingedAt));
  await clock.advance(15_000);
  await eventually(async () => assert.ok((await offMs()) <= 15_000), patiently);
  await clock.advance(17_000);
  // Silent for longer than a heartbeat: to the moment.
  await eventually(async () => assert.equal(await lastSeen(), pingedAt), patiently);
  await client.close();
});

test('[TYP-2] typing that nobody repeats ends after 7 s and its end is published', async () => {
  const { id } = await chat.conversation();
  const [alice, bob] = [await (await chat.user('alice')).connect(), await (await chat.user('bob')).connect()];
  await subscribe(alice, id);
  await subscribe(bob, id);
  const typing = async () => (await chat.project.api.call('listTyping', { room: id })).map(({ userId }) => userId);
  await alice.ask({ type: 'typing', conversation: id, typing: true });
  assert.equal((await bob.take('typing'))['typing'], true);
  await clock.advance(5_000);
  await alice.ask({ type: 'typing', conversation: id, typing: true });
  await clock.advance(6_000);
  assert.deepEqual(await typing(), ['alice'], 'repeated after 5 s, so it holds');
  await clock.advance(1_500);
  assert.deepEqual(await typing(), []);
  await eventually(async () => {
    await clock.advance(1_000);
    assert.ok(bob.frames.some((frame) => frame.type === 'typing' && frame['typing'] === false));
  }, patiently);
  await Promise.all([alice.close(), bob.close()]);
});

test('[MSG-18] within CHAT_EDIT_WINDOW_SECONDS a sender may edit, after it nobody but the server', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const { id: messageId } = await alice.api.call('sendMessage', { room, body: { text: 'first' } });
  clock.jump(59_000);
  const edited = await alice.api.call('editMessage', { messageId, body: { text: 'second' } });
  assert.equal(edited.text, 'second');
  clock.jump(2_000);
  await assertRefused(alice.api.call('editMessage', { messageId, body: { text: 'third' } }), 403, 'SVC_FORBIDDEN');
  assert.equal((await chat.project.api.call('editMessage', { messageId, body: { text: 'server' } })).text, 'server');
});

test('[CHATWS-14] a message whose commit was not answered reaches subscribers, also without Redis and without another', async () => {
  const { id: room } = await chat.conversation();
  const bob = await (await chat.user('bob')).connect();
  await subscribe(bob, room);
  const alice = await chat.user('alice');
  losesAnswers = true;
  const sent = alice.api.call('sendMessage', { room, body: { text: 'stored' } });
  await assertRefused(sent, 503, 'SVC_SERVICE_UNAVAILABLE');
  losesAnswers = false;
  await clock.advance(1_500);
  const { message } = await bob.take('message');
  assert.equal((message as { text: string }).text, 'stored');
  await bob.close();
});

test('[CHATWS-14] so do an edit and a reaction whose commits were not answered, each by its own loss', async () => {
  const { id: room } = await chat.conversation();
  const bob = await (await chat.user('bob')).connect();
  await subscribe(bob, room);
  const { api } = await chat.user('alice');
  async function lose(write: () => Promise<unknown>): Promise<void> {
    // Nothing is in doubt any longer that was lost before.
    await pass(31, bob);
    losesAnswers = true;
    await assertRefused(write(), 503, 'SVC_SERVICE_UNAVAILABLE');
    losesAnswers = false;
    await clock.advance(1_500);
  }

  const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'first' } });
  await lose(() => api.call('editMessage', { messageId, body: { text: 'second' } }));
  const { message } = await bob.take('message.updated');
  assert.equal((message as { text: string }).text, 'second');
  await lose(() => api.call('addReaction', { messageId, body: { emoji: '👍' } }));
  assert.equal((await bob.take('reaction.added'))['messageId'], messageId);
  await bob.close();
});

test('[RET-3] nothing is deleted for its age without a limit', async () => {
  deletes.length = 0;
  const tables = () => new Set(deletes.map((text) => /(?:delete from|update) (\w+)/.exec(text)?.[1]));
  const grown = ['events', 'deliveries', 'connections', 'connection_rollups', 'idempotency_keys', 'room_events'];
  const forgotten = [
    'rtc_tokens',
    'rtc_token_cutoffs',
    'revoked_tokens',
    'end_users',
    'chat_connections',
    'mail_tokens',
    'attachments',
  ];
  const sampled = ['node_samples', 'call_samples', 'calls', 'api_requests'];
  clock.jump(61 * 60_000);
  await eventually(() => {
    const missing = [...grown, ...forgotten, ...sampled].filter((table) => !tables().has(table));
    assert.deepEqual(missing, []);
  }, patiently);
  // Those are as many as processes.
  const unlimited = deletes.filter((text) => !/limit \$\d|server_processes/.test(text));
  assert.deepEqual(unlimited, []);
});

test('[PRES-3] a connected user stays present, however short the time to live', async () => {
  const own = await startService({ clock, env: { ...env, CHAT_PRESENCE_TTL_SECONDS: '6' } });
  const kit = await createChatKit(own);
  const { id } = await kit.conversation();
  const [watcher, client] = [await (await kit.user('bob')).connect(), await (await kit.user('alice')).connect()];
  await subscribe(watcher, id, { presence: false });
  await subscribe(client, id);
  await watcher.take('presence');
  for (let second = 0; second < 20; second++) {
    await clock.advance(1_000);
    await Promise.all([watcher.ask({ type: 'ping' }), client.ask({ type: 'ping' })]);
  }
  assert.deepEqual(
    watcher.frames.filter(({ type }) => type === 'presence').map(({ event }) => event),
    ['enter'],
  );
  await Promise.all([watcher.close(), client.close()]);
  await own.stop();
});
