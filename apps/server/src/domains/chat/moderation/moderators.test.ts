import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

type Role = 'OWNER' | 'ADMIN' | 'MODERATOR' | 'MEMBER';

/** A conversation with these roles, and reports by ann of what each said there, latest first. */
async function reportedIn(own: ChatOf, members: Record<string, Role>, senders: readonly string[]) {
  const { id: room } = await own.conversation([
    'ann',
    ...Object.entries(members).map(([userId, role]) => ({ userId, role })),
  ]);
  const ann = await own.user('ann');
  const reports: string[] = [];
  for (const senderId of senders) {
    const { id: messageId } = await own.project.api.call('sendMessage', { room, body: { text: 'x', senderId } });
    const { id } = await ann.api.call('reportMessage', { messageId, body: { reason: 'spam', note: senderId } });
    reports.unshift(id);
  }
  return { room, reports };
}

test('[MOD-29] a moderator lists reports of the conversations they moderate, about those below them', async () => {
  const own = await createChatKit(service);
  const { api } = own.project;
  const roles = { owner: 'OWNER', admin: 'ADMIN', mod: 'MODERATOR', other: 'MODERATOR', eve: 'MEMBER' } as const;
  const here = await reportedIn(own, roles, ['eve', 'mod', 'other', 'admin', 'owner']);
  const there = await reportedIn(own, { mod: 'MEMBER', admin: 'MODERATOR', eve: 'MEMBER' }, ['eve']);
  const [, admins, others, mods, eves] = here.reports;
  const listed = async (userId: string, query: object = {}, token: object = {}) =>
    (await (await own.user(userId, token)).api.call('listChatReports', { query })).map(({ id }) => id);
  assert.deepEqual(
    (await api.call('listChatReports')).map(({ id }) => id),
    [...there.reports, ...here.reports],
  );
  assert.deepEqual(await listed('mod'), [eves]);
  assert.deepEqual(await listed('admin'), [...there.reports, others, mods, eves]);
  assert.deepEqual(await listed('owner'), [admins, others, mods, eves]);
  for (const nobody of ['eve', 'ann', 'stranger']) assert.deepEqual(await listed(nobody), [], nobody);
  assert.deepEqual(await listed('admin', { conversation: there.room }), there.reports);
  assert.deepEqual(await listed('admin', {}, { conversations: [there.room] }), there.reports);
  assert.deepEqual(
    (await api.call('listChatReports', { query: { conversation: here.room } })).map(({ id }) => id),
    here.reports,
  );
  await assertRefused(listed('mod', { conversation: there.room }), 403, 'SVC_FORBIDDEN');
  await assertRefused(listed('owner', { conversation: there.room }), 403, 'SVC_NOT_A_MEMBER');
  await assertRefused(listed('mod', {}, { scopes: ['chat:edit'] }), 403, 'SVC_SCOPE_MISSING');

  // In pages, and a cursor is of one list of one user.
  const { api: adminApi } = await own.user('admin');
  const walked: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await adminApi.request('listChatReports', { query: { limit: 2, ...(cursor && { cursor }) } });
    walked.push(...page.body.map(({ id }) => id));
    cursor = page.headers.get('x-next-cursor');
    if (cursor) await assertRefused(listed('owner', { cursor }), 400, 'SVC_INVALID_CURSOR');
  }
  assert.deepEqual(walked, [...there.reports, others, mods, eves]);

  // Now, not once: who moderates no longer sees none, and neither does who comes in from elsewhere.
  await api.call('changeConversationMember', { room: here.room, userId: 'mod', body: { role: 'MEMBER' } });
  assert.deepEqual(await listed('mod'), []);
  await api.call('removeConversationMember', { room: here.room, userId: 'admin' });
  assert.deepEqual(await listed('admin'), there.reports);
  for (const former of ['mod', 'admin']) {
    const { api: formerApi } = await own.user(former);
    const one = formerApi.call('getChatReport', { reportId: eves ?? '' });
    await assertRefused(one, 404, 'SVC_REPORT_NOT_FOUND');
  }
  const elsewhere = await createChatKit(service);
  await elsewhere.conversation([{ userId: 'owner', role: 'OWNER' }]);
  assert.deepEqual(await (await elsewhere.user('owner')).api.call('listChatReports'), []);
});

test('[MOD-29] a moderator reads and resolves what they could list, within their conversation, and is named by it', async () => {
  const own = await createChatKit(service);
  const { id: projectId, owner, api } = own.project;
  const { room, reports } = await reportedIn(own, { mod: 'MODERATOR', eve: 'MEMBER', tom: 'MEMBER' }, [
    'mod',
    'tom',
    'eve',
    'eve',
  ]);
  const [first = '', second = '', toms = '', mods = ''] = reports;
  const mod = await own.user('mod');
  assert.equal((await mod.api.call('getChatReport', { reportId: first })).note, 'eve');
  const resolve = (user: typeof mod, reportId: string, body: { action: 'none' | 'ban'; everywhere?: boolean }) =>
    user.api.call('resolveChatReport', { reportId, body });
  for (const [userId, reportId] of [
    ['mod', mods],
    ['tom', first],
    ['stranger', first],
  ] as const) {
    const user = await own.user(userId);
    await assertRefused(user.api.call('getChatReport', { reportId }), 404, 'SVC_REPORT_NOT_FOUND');
    await assertRefused(resolve(user, reportId, { action: 'none' }), 404, 'SVC_REPORT_NOT_FOUND');
  }
  const reading = await own.user('mod', { scopes: ['chat:read'] });
  await assertRefused(resolve(reading, first, { action: 'none' }), 403, 'SVC_SCOPE_MISSING');
  await assertRefused(resolve(mod, toms, { action: 'ban', everywhere: true }), 403, 'SVC_FORBIDDEN');
  assert.equal((await api.call('getChatReport', { reportId: toms })).status, 'OPEN');

  const deleted = await mod.api.call('resolveChatReport', { reportId: first, body: { action: 'delete_message' } });
  assert.deepEqual([deleted.status, deleted.action], ['RESOLVED', 'delete_message']);
  await assertRefused(api.call('getMessage', { messageId: deleted.messageId }), 404, 'SVC_MESSAGE_NOT_FOUND');
  await resolve(mod, second, { action: 'none' });
  await resolve(mod, toms, { action: 'ban' });
  await assertRefused(resolve(mod, toms, { action: 'none' }), 409, 'SVC_REPORT_RESOLVED');
  const tom = await own.user('tom');
  await assertRefused(tom.api.call('listMessages', { room }), 403, 'SVC_CHAT_BANNED');
  const [ban] = await mod.api.call('listConversationBans', { room });
  assert.deepEqual([ban?.userId, ban?.imposedBy], ['tom', 'mod']);
  const query = { status: 'RESOLVED' } as const;
  assert.deepEqual(
    (await mod.api.call('listChatReports', { query })).map(({ id }) => id).sort(),
    [first, second, toms].sort(),
  );
  const audit = await owner.api.call('listAuditLogs', { projectId, query: { action: 'chat.report_resolved' } });
  assert.deepEqual(
    audit.map(({ actorEmail, resourceId }) => `${actorEmail.startsWith('Chat user mod')} ${resourceId}`).sort(),
    [toms, second, first].map((id) => `true ${id}`).sort(),
  );
});

test('[MOD-29] of two moderators who resolve a report at once one does', async () => {
  const own = await createChatKit(service);
  const { reports } = await reportedIn(own, { mod: 'MODERATOR', other: 'MODERATOR', eve: 'MEMBER' }, ['eve']);
  const [reportId = ''] = reports;
  const users = [await own.user('mod'), await own.user('other'), await own.user('mod')];
  const races = await Promise.allSettled(
    users.map((user) => user.api.call('resolveChatReport', { reportId, body: { action: 'none' } })),
  );
  assert.equal(races.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('[MOD-29] a report about what was sent in the shadow is for moderators too, and not for its sender', async () => {
  const own = await createChatKit(service);
  const { api } = own.project;
  const roles = [
    { userId: 'mod', role: 'MODERATOR' },
    { userId: 'admin', role: 'ADMIN' },
  ] as const;
  const { id: room } = await own.conversation([...roles, 'eve']);
  const [mod, eve, admin] = [await own.user('mod'), await own.user('eve'), await own.user('admin')];
  await api.call('setChatModeration', { body: { wordLists: [{ name: 'watch', action: 'flag', words: ['money'] }] } });
  for (const userId of ['eve', 'mod']) await api.call('shadowInConversation', { room, userId });
  const ofEve = await eve.api.call('sendMessage', { room, body: { text: 'money' } });
  const ofMod = await mod.api.call('sendMessage', { room, body: { text: 'money too' } });
  const seenBy = async (user: typeof mod) =>
    (await user.api.call('listChatReports')).map(({ messageId }) => messageId).sort();
  await eventually(async () => assert.deepEqual(await seenBy(admin), [ofEve.id, ofMod.id].sort()));
  assert.deepEqual(await seenBy(mod), [ofEve.id]);
  const [report] = await mod.api.call('listChatReports');
  const body = { action: 'delete_message' } as const;
  await mod.api.call('resolveChatReport', { reportId: report?.id ?? '', body });
  assert.deepEqual(await seenBy(mod), []);
  await assertRefused(eve.api.call('getMessage', { messageId: ofEve.id }), 404, 'SVC_MESSAGE_NOT_FOUND');
});
