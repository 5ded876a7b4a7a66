import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ env: { CHAT_SEND_RATE_LIMIT: '100000', CHAT_MAX_SCHEDULED: '5' } });
  chat = await createChatKit(service);
});
after(() => service.stop());

const later = (seconds = 3600): string => new Date(Date.now() + seconds * 1000).toISOString();
/** Its time has come. */
async function due(id: string): Promise<void> {
  await service.adapters.db.execute(sql`
    update scheduled_messages set send_at = now() - interval '1 second' where id = ${id}`);
  await service.service.chat.sweep.scheduled();
  // The chore may have been faster: it is at it.
  await eventually(async () => {
    const [row] = await service.adapters.db.query<{ status: string }>(sql`
      select status from scheduled_messages where id = ${id}`);
    assert.ok(row === undefined || row.status === 'SENT' || row.status === 'FAILED');
  });
}
const textsOf = async (room: string): Promise<(string | null)[]> =>
  (await chat.project.api.call('listMessages', { room })).messages.map(({ text }) => text);

test('[SCHED-1] a scheduled message waits, can be changed and cancelled by its own user alone, and is sent at its time', async () => {
  const { id: room } = await chat.conversation();
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  const made = await alice.api.call('scheduleMessage', { room, body: { text: 'soon', sendAt: later() } });
  assert.deepEqual([made.status, made.userId, made.draft], ['PENDING', 'alice', { text: 'soon' }]);
  const scheduledId = made.id;
  await assertRefused(bob.api.call('getScheduled', { scheduledId }), 404, 'SVC_SCHEDULED_NOT_FOUND');
  await assertRefused(bob.api.call('cancelScheduled', { scheduledId }), 404, 'SVC_SCHEDULED_NOT_FOUND');
  assert.deepEqual(await bob.api.call('listScheduled', { room }), []);
  assert.deepEqual(
    (await chat.project.api.call('listScheduled', { room })).map(({ id }) => id),
    [scheduledId],
  );
  await alice.api.call('changeScheduled', { scheduledId, body: { text: 'sooner', sendAt: later(60) } });
  await service.service.chat.sweep.scheduled();
  assert.deepEqual(await textsOf(room), []);
  await due(scheduledId);
  const { messages } = await chat.project.api.call('listMessages', { room });
  assert.deepEqual(
    messages.map(({ id, text, senderId }) => [id, text, senderId]),
    [[made.messageId, 'sooner', 'alice']],
  );
  const sent = await alice.api.call('getScheduled', { scheduledId });
  assert.deepEqual([sent.status, sent.draft, await alice.api.call('listScheduled', { room })], ['SENT', {}, []]);
  await assertRefused(alice.api.call('cancelScheduled', { scheduledId }), 409, 'SVC_INVALID_STATE_TRANSITION');

  const dropped = await alice.api.call('scheduleMessage', { room, body: { text: 'never', sendAt: later() } });
  await alice.api.call('cancelScheduled', { scheduledId: dropped.id });
  await due(dropped.id);
  assert.deepEqual(await textsOf(room), ['sooner']);
});

test('[SCHED-2] it is sent once, no matter who tries and wherever an attempt ended', async () => {
  const { id: room } = await chat.conversation();
  const { db } = service.adapters;
  const { id } = await chat.project.api.call('scheduleMessage', { room, body: { text: 'once', sendAt: later() } });
  await db.execute(sql`update scheduled_messages set send_at = now() - interval '1 second' where id = ${id}`);
  await Promise.all([1, 2, 3].map(() => service.service.chat.sweep.scheduled()));
  await due(id);
  assert.deepEqual(await textsOf(room), ['once']);
  // As a process left it that died after the message was stored and before that was noted.
  await db.execute(sql`
    update scheduled_messages set status = 'SENDING', claimed_until = now() - interval '1 second',
      draft = '{"text":"once"}' where id = ${id}`);
  await due(id);
  assert.deepEqual(await textsOf(room), ['once']);
  assert.equal((await chat.project.api.call('getScheduled', { scheduledId: id })).status, 'SENT');
});

test('[SCHED-2] one that was stored was sent, whatever became of its user before that was noted', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const { id } = await alice.api.call('scheduleMessage', { room, body: { text: 'once', sendAt: later() } });
  await due(id);
  await chat.project.api.call('muteInConversation', { room, userId: 'alice' });
  await chat.project.api.call('removeConversationMember', { room, userId: 'alice' });
  await service.adapters.db.execute(sql`
    update scheduled_messages set status = 'SENDING', claimed_until = now() - interval '1 second',
      draft = '{"text":"once"}' where id = ${id}`);
  await due(id);
  assert.equal((await chat.project.api.call('getScheduled', { scheduledId: id })).status, 'SENT');
});

test('[SCHED-3] who may send is asked when its time has come; a refusal is kept with its reason and an event', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const { id: scheduledId } = await alice.api.call('scheduleMessage', {
    room,
    body: { text: 'late', sendAt: later() },
  });
  await chat.project.api.call('removeConversationMember', { room, userId: 'alice' });
  await due(scheduledId);
  const failed = await chat.project.api.call('getScheduled', { scheduledId });
  assert.deepEqual([failed.status, failed.failure, failed.draft], ['FAILED', 'SVC_NOT_A_MEMBER', { text: 'late' }]);
  const events = await service.adapters.db.query<{ data: string }>(sql`
    select data from events where topic = ${`chat/${room}`} and type = 'scheduled.failed'`);
  assert.deepEqual(
    events.map(({ data }) => JSON.parse(data)).map(({ scheduledId, code }) => [scheduledId, code]),
    [[scheduledId, 'SVC_NOT_A_MEMBER']],
  );
  assert.deepEqual(await textsOf(room), []);
  await chat.project.api.call('addConversationMember', { room, body: { userId: 'alice' } });
  await alice.api.call('changeScheduled', { scheduledId, body: {} });
  await due(scheduledId);
  assert.deepEqual(await textsOf(room), ['late']);
});

test('[SCHED-3] what is refused for the moment is tried again, for a day', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  await chat.project.api.call('updateConversation', { room, body: { slowModeSeconds: 3600 } });
  await alice.api.call('sendMessage', { room, body: { text: 'first' } });
  const { id: scheduledId } = await alice.api.call('scheduleMessage', { room, body: { text: 'b', sendAt: later() } });
  const stateAfter = async (lateBy: string) => {
    await service.adapters.db.execute(sql`
      update scheduled_messages set send_at = now() - ${lateBy}::interval, claimed_until = null, status = 'PENDING'
      where id = ${scheduledId}`);
    await service.service.chat.sweep.scheduled();
    const { status, failure } = await alice.api.call('getScheduled', { scheduledId });
    return [status, failure];
  };
  // The chore may be at it as well: either way it is claimed and waits.
  assert.deepEqual(await stateAfter('23 hours'), ['SENDING', null]);
  await stateAfter('25 hours');
  await eventually(async () => {
    const { status, failure } = await alice.api.call('getScheduled', { scheduledId });
    assert.deepEqual([status, failure], ['FAILED', 'SVC_SLOW_MODE']);
  });
});

test('[SCHED-4] times in the past or beyond 30 days, content that cannot be sent and more than the cap are refused', async () => {
  const { id: room } = await chat.conversation([{ userId: 'gus', role: 'GUEST' }, 'alice']);
  const alice = await chat.user('alice');
  const ask = (body: object, api = alice.api) =>
    api.call('scheduleMessage', { room, body: { text: 'x', sendAt: later(), ...body } });
  for (const sendAt of [later(-1), later(31 * 24 * 3600), 'soon'])
    await assertRefused(ask({ sendAt }), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(ask({ text: 'x'.repeat(4001) }), 400, 'SVC_TEXT_TOO_LONG');
  await assertRefused(ask({ type: 'system' }), 403, 'SVC_MESSAGE_TYPE_FORBIDDEN');
  await assertRefused(ask({}, (await chat.user('gus')).api), 403, 'SVC_FORBIDDEN');
  await assertRefused(ask({}, (await chat.user('eve')).api), 403, 'SVC_NOT_A_MEMBER');
  const asked = await Promise.allSettled(Array.from({ length: 12 }, () => ask({})));
  assert.equal(asked.filter(({ status }) => status === 'fulfilled').length, 5);
  await assertRefused(ask({}), 403, 'SVC_QUOTA_EXCEEDED');
});

test('[SCHED-5] what a user changes is sent by their own right, also where a server had scheduled it', async () => {
  const { id: room } = await chat.conversation();
  const { api } = chat.project;
  const alice = await chat.user('alice');
  const ask = { text: 'kind words', senderId: 'alice', sendAt: later() };
  const { id: scheduledId } = await api.call('scheduleMessage', { room, body: ask });
  await alice.api.call('changeScheduled', { scheduledId, body: { text: 'rude words' } });
  await api.call('muteInConversation', { room, userId: 'alice' });
  await due(scheduledId);
  const { status, failure } = await api.call('getScheduled', { scheduledId });
  assert.deepEqual([status, failure, await textsOf(room)], ['FAILED', 'SVC_CHAT_MUTED', []]);
});

test('[SCHED-6] a file is kept until its message is sent, also when that is put off', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const asked = { filename: 'notes.txt', mimeType: 'text/plain', size: 5 };
  const { uploadUrl, attachment } = await alice.api.call('requestAttachment', { room, body: asked });
  const url = uploadUrl.replace(/^https?:\/\/[^/]+/, service.url);
  await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'hello' });
  const { id: attachmentId } = await alice.api.call('completeAttachment', { attachmentId: attachment.id });
  const body = { attachmentId, sendAt: later(60) };
  const { id: scheduledId } = await alice.api.call('scheduleMessage', { room, body });
  const sendAt = later(20 * 24 * 3600);
  await alice.api.call('changeScheduled', { scheduledId, body: { sendAt } });
  const [row] = await service.adapters.db.query<{ expiresAt: string }>(sql`
    select expires_at as "expiresAt" from attachments where id = ${attachmentId}`);
  assert.ok(Date.parse(row?.expiresAt ?? '') > Date.parse(sendAt));
});
