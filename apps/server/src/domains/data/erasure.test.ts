import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { DataJob } from '@parley/contract';
import { type ChatOf, type ChatUser, createChatKit, subscribe } from '../../../testkit/chat/chat.ts';
import { joinAs, newRoom, type RoomsService, startRooms } from '../../../testkit/clients/rooms.ts';
import { addWebhook, settle } from '../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import { placesOf as columnsWith } from '../../../testkit/kit/places-of.ts';
import { sql } from '../../core/sql.ts';

let service: RoomsService;
before(async () => {
  service = await startRooms({ env: { DATA_ERASURE_SETTLE_MS: '1500' } });
});
after(() => service.stop());

/** Nothing else in the database looks like it. */
const newUser = (): string => `user-${randomBytes(8).toString('hex')}`;

/** A conversation that was deleted before goes with all in it, in its own time. */
async function placesOnceSwept(text: string): Promise<string[]> {
  await service.service.chat.sweep.retention();
  return placesOf(text);
}

const placesOf = (text: string): Promise<string[]> => columnsWith(service.adapters.db, text);

/** Columns that hold ids of users, as their names say. Those of the team are uuids. */
async function columnsOfUsers(): Promise<string[]> {
  const rows = await service.adapters.db.query<{ name: string }>(sql`
    select c.table_name || '.' || c.column_name as name from information_schema.columns c
    where c.table_schema = current_schema() and c.data_type = 'text'
      and c.column_name ~ '(^|_)(user_id|identity|sender_id|uploader_id|deleted_by|created_by|imposed_by|pinned_by|reporter_id|voter_id|author_id)$'`);
  return rows.map(({ name }) => name).filter((name) => !isNobodys.has(name));
}

/** Words of ours by their names, and rows of a moment. */
const isNobodys = new Set(['rooms.duplicate_identity', 'rtc_token_cutoffs.identity']);

const done = ({ api }: TestProject, { id }: DataJob): Promise<DataJob> =>
  eventually(
    async () => {
      const job = await api.call('getDataJob', { jobId: id });
      assert.equal(job.state, 'DONE', JSON.stringify(job));
      return job;
    },
    { withinMs: 30_000, everyMs: 100 },
  );

/** What only they have, and what somebody else said of them there. */
async function leaveInShadow(chat: ChatOf, user: ChatUser): Promise<void> {
  const { userId } = user;
  const { api } = chat.project;
  const { id: room } = await chat.conversation([userId, 'bob']);
  const said = await user.api.call('sendMessage', { room, body: { text: 'for all' } });
  for (const one of [userId, 'bob']) await api.call('shadowInConversation', { room, userId: one });
  const mine = await user.api.call('sendMessage', { room, body: { text: 'a secret', metadata: { by: userId } } });
  await user.api.call('addReaction', { messageId: mine.id, body: { emoji: '👍' } });
  const bob = await chat.user('bob');
  const of = { text: 'of them', mentions: { users: [userId] }, metadata: { of: userId } };
  await bob.api.call('sendMessage', { room, body: of });
  await bob.api.call('sendMessage', { room, body: { forward: { messageId: said.id } } });
  const gone = await user.api.call('sendMessage', { room, body: { text: 'deleted' } });
  await user.api.call('deleteMessage', { messageId: gone.id });
}

/** A user who has left something wherever a user can. */
async function livedIn(userId: string) {
  const chat = await createChatKit(service);
  const { project } = chat;
  const { api } = project;
  const { db } = service.adapters;
  const conversation = await chat.conversation([{ userId, role: 'ADMIN' }, 'bob']);
  const { id: room, uuid } = conversation;
  await addWebhook(project, { url: 'http://127.0.0.1:49999/', environment: 'DEVELOPMENT' });
  const user = await chat.user(userId);
  const socket = await user.connect();
  await subscribe(socket, room);

  const body = { filename: 'face.txt', mimeType: 'text/plain', size: 5 };
  const { attachment, uploadUrl } = await user.api.call('requestAttachment', { room, body });
  await fetch(uploadUrl, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'hello' });
  await user.api.call('completeAttachment', { attachmentId: attachment.id });
  const [file] = await db.query<{ key: string }>(sql`
    select blob_key as key from attachments where id = ${attachment.id}`);

  const send = (text: string, more = {}) => user.api.call('sendMessage', { room, body: { text, ...more } });
  const bobs = await api.call('sendMessage', {
    room,
    body: { text: 'hi', senderId: 'bob', mentions: { users: [userId] } },
  });
  const first = await send('a secret', { clientMessageId: `${userId}-1`, metadata: { by: userId } });
  const own = [
    first,
    await send('with a file', { attachmentId: attachment.id }),
    await send('an answer', { replyTo: bobs.id }),
  ];
  const gone = await send('deleted before');
  await user.api.call('deleteMessage', { messageId: gone.id });
  await api.call('sendMessage', { room, body: { text: 'from a server, about them', senderId: userId } });
  const { id: aside } = await chat.conversation(['bob']);
  const poll = { question: 'q', options: ['a', 'b'] };
  const asked = await api.call('sendMessage', { room: aside, body: { poll, senderId: 'bob' } });
  await api.call('castVote', { messageId: asked.id, body: { optionIds: [2], userId } });
  const passedOn = { forward: { messageId: own[1]?.id ?? '' }, senderId: 'bob' };
  await api.call('sendMessage', { room: aside, body: passedOn });
  await user.api.call('addReaction', { messageId: bobs.id, body: { emoji: '👍' } });
  await user.api.call('editMessage', { messageId: first.id, body: { text: 'a secret, edited' } });
  await user.api.call('markRead', { messageId: first.id });
  const last = await api.call('sendMessage', { room, body: { text: 'deleted by them', senderId: 'bob' } });
  await user.api.call('deleteMessage', { messageId: last.id });

  await leaveInShadow(chat, user);
  const rtcRoom = await newRoom(api);
  const rtc = await joinAs(service, api, rtcRoom, userId);
  await api.call('removeParticipant', { id: (await newRoomWith(userId)).id, identity: userId });
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  await user.api.call('scheduleMessage', { room, body: { text: 'later', sendAt } });
  await api.call('scheduleMessage', { room, body: { text: 'later', senderId: userId, sendAt } });
  await user.api.call('setDraft', { room, body: { text: 'half a sentence' } });
  await user.api.call('blockUser', { blockedId: 'somebody' });
  await user.api.call('pinMessage', { messageId: bobs.id });
  await user.api.call('putPushDevice', { body: { kind: 'FCM', token: `token-of-${userId}` } });
  await user.api.call('setPushPreferences', { body: { level: 'OFF' } });
  const bob = await chat.user('bob');
  await bob.api.call('reportMessage', { messageId: first.id, body: { reason: 'other' } });
  await bob.api.call('blockUser', { blockedId: userId });
  await user.api.call('muteInConversation', { room, userId: 'bob', body: {} });
  await user.api.call('reportMessage', { messageId: bobs.id, body: { reason: 'spam', note: `says ${userId}` } });
  await api.call('muteInChat', { userId, body: { reason: 'loud' } });
  await api.call('openDirectConversation', { body: { userIds: [userId, 'bob'] } });
  await api.call('createLiveStream', { body: { title: 'x', hostIdentity: userId } });
  await api.call('exportUser', { userId });
  await db.execute(sql`
    insert into chat_users (project_id, environment, user_id, name, created_at, updated_at)
    values (${project.id}, 'DEVELOPMENT', ${userId}, 'Alice', now(), now())`);
  const { id: empty } = await chat.conversation(['bob']);
  await api.call('deleteUserMessages', { userId, body: { conversation: empty } });
  const { id: erased } = await chat.conversation([userId, 'bob']);
  await service.service.chat.settleInbox(
    { scope: { projectId: project.id, environment: 'DEVELOPMENT' }, userId },
    0,
    -1,
  );
  await api.call('deleteConversation', { room: erased });
  await api.call('revokeUser', { userId, body: { bannedUntil: new Date(Date.now() + 3_600_000).toISOString() } });
  await rtc.whenClosed();

  async function newRoomWith(identity: string) {
    const made = await newRoom(api);
    await joinAs(service, api, made, identity);
    return made;
  }
  return { chat, project, room, aside, uuid, user, socket, own, blobKey: file?.key ?? '' };
}

test('[DATA-1] [DATA-6] [MOD-27] [POLL-10] [FWD-5] an erased user is in no table any more: messages are tombstones, others hear it and count right', async () => {
  const userId = newUser();
  const { chat, project, room, aside, socket, own, blobKey, user } = await livedIn(userId);
  const { api } = project;
  const before = await placesOf(userId);
  assert.ok(before.length >= 20, `the user is in too few places to prove anything: ${before.join()}`);
  // Connections are written once a second.
  await eventually(
    async () => {
      const filled = new Set(await placesOf(userId));
      assert.deepEqual(
        (await columnsOfUsers()).filter((column) => !filled.has(column)),
        [],
        '[DATA-6] let the user of this test leave something there, and a domain erase it (core/personal-data.ts)',
      );
    },
    // A look reads every column of every table.
    { withinMs: 30_000 },
  );
  const bob = await chat.user('bob');
  const heard = await bob.connect();
  await subscribe(heard, room);

  const job = await api.call('eraseUser', { userId, body: { messages: 'delete' } });
  assert.deepEqual([job.kind, job.userId], ['ERASURE', userId]);
  const ended = await done(project, job);
  assert.deepEqual([ended.userId, ended.error], [null, null]);
  assert.ok(ended.progress > 8);
  await settle(service);
  assert.deepEqual(await placesOnceSwept(userId), []);

  for (const { id } of own) {
    const frame = await heard.take('message.deleted', ({ message }) => (message as { id: string }).id === id);
    assert.match((frame['message'] as { senderId: string }).senderId, /^erased-/);
  }
  await heard.take('member.removed', ({ member }) => (member as { userId: string }).userId === userId);
  const left = await api.call('listMessages', { room });
  assert.deepEqual(
    left.messages.map(({ text, reactions, replyCount }) => [text, reactions.length, replyCount]),
    [['hi', 0, 0]],
  );
  const [passedOn, poll] = (await api.call('listMessages', { room: aside })).messages;
  // What others passed on stays, as words of nobody; a result stays what it was.
  assert.match(passedOn?.forwardedFrom?.senderId ?? '', /^erased-/);
  assert.deepEqual([passedOn?.text, poll?.poll?.voters], ['with a file', 1]);
  const shown = await api.call('getConversation', { room });
  assert.deepEqual([shown.messageCount, shown.memberCount], [1, 1]);
  assert.equal((await bob.api.call('getReadState', { room })).unreadCount, 0);
  assert.equal(await service.adapters.blobs.stat(blobKey), null);
  const keys = await service.adapters.db.query(sql`
    select direct_key from conversations where project_id = ${project.id} and direct_key is not null`);
  assert.deepEqual(keys, [], 'a hash of the ids of its people');

  // A token that was good before stays void, and the ban a ban, though nothing says whose they were.
  assert.equal((await socket.whenClosed()).code, 4410);
  await assert.rejects(user.api.call('listConversations'), failure('SVC_USER_BANNED'));
  await api.call('unbanUser', { userId });
  await assert.rejects(user.api.call('listConversations'), failure('SVC_TOKEN_REVOKED'));

  const entries = await project.owner.api.call('listAuditLogs', { projectId: project.id });
  const asked = entries.find(({ resourceId }) => resourceId === job.id);
  assert.deepEqual([asked?.action, asked?.metadata], ['data_job.created', { kind: 'ERASURE' }]);
  const revoked = entries.find(({ action }) => action === 'user.revoked');
  assert.match(revoked?.resourceId ?? '', /^erased-/);
  assert.match(revoked?.actorEmail ?? '', /^API key /);
  const events = await service.adapters.db.query<{ data: string }>(sql`
    select data from events where project_id = ${project.id} and type = 'data_job.done'`);
  assert.ok(events.some(({ data }) => JSON.parse(data).jobId === job.id));
});

test('[DATA-2] an erasure that a killed process left half done is ended by another; what was written stays as from nobody', async () => {
  const userId = newUser();
  const { project, room, uuid } = await livedIn(userId);
  const { api } = project;
  // As a killed process leaves it: claimed, its time over, one message renamed and the rest not.
  const pseudonym = 'erased-000000000000000000000000';
  const { db } = service.adapters;
  await db.execute(sql`
    update messages set sender_id = ${pseudonym}, client_message_id = null, metadata = '{}' where conversation_id = ${uuid} and position = (
      select min(position) from messages where conversation_id = ${uuid} and sender_id = ${userId})`);
  await db.execute(sql`
    insert into data_jobs (id, project_id, environment, kind, state, user_id, options, attempts, due_at, claimed_until,
                           created_at)
    values (${`job_${userId.slice(5)}`}, ${project.id}, 'DEVELOPMENT', 'ERASURE', 'RUNNING', ${userId},
            ${JSON.stringify({ messages: 'anonymize', pseudonym })}::jsonb, 1, now(), now() - interval '1 second', now())`);
  const again = await api.call('eraseUser', { userId, body: { messages: 'delete' } });
  assert.equal(again.id, `job_${userId.slice(5)}`, 'a second request is the first');
  await done(project, again);
  await settle(service);
  assert.deepEqual(await placesOnceSwept(userId), []);
  const { messages } = await api.call('listMessages', { room });
  assert.deepEqual(messages.map(({ text, senderId }) => [text, senderId]).reverse(), [
    ['hi', 'bob'],
    ['a secret, edited', pseudonym],
    ['with a file', pseudonym],
    ['an answer', pseudonym],
    ['from a server, about them', pseudonym],
  ]);
  assert.ok(messages.every(({ attachment }) => attachment === null));
  const { changes, complete } = await api.call('listChanges', { room });
  assert.ok(complete && !JSON.stringify(changes).includes(userId));
});

test('[DATA-3] a user whose id is a word of ours takes no word with them', async () => {
  const chat = await createChatKit(service);
  const { project } = chat;
  const { api } = project;
  const { id: room } = await chat.conversation(['text', 'bob']);
  await api.call('sendMessage', { room, body: { text: 'hi', senderId: 'bob' } });
  await api.call('sendMessage', { room, body: { text: 'bye', senderId: 'text' } });
  await done(project, await api.call('eraseUser', { userId: 'text', body: { messages: 'anonymize' } }));
  const rows = await service.adapters.db.query<{ data: string }>(sql`
    select data from events where project_id = ${project.id} and type = 'message.created' order by id`);
  const sent = rows.map(({ data }) => JSON.parse(data).message as { type: string; text: string; senderId: string });
  assert.deepEqual(
    sent.map(({ type, text }) => [type, text]),
    [
      ['text', 'hi'],
      ['text', 'bye'],
    ],
  );
  assert.match(sent[1]?.senderId ?? '', /^erased-/);
  for (const userId of ['a b', 'x'.repeat(129)])
    await assert.rejects(
      api.call('eraseUser', { userId, body: { messages: 'delete' } }),
      failure('SVC_VALIDATION_FAILED'),
    );
});
