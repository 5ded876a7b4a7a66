import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { Person } from '../../../../testkit/kit/people.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let chat: ChatOf;
let admin: Person;
let viewer: Person;
before(async () => {
  chat = await createChatKit(await sharedService());
  admin = await chat.project.member('ADMIN');
  viewer = await chat.project.member('VIEWER');
});

const here = () => ({ projectId: chat.project.id, query: { environment: 'DEVELOPMENT' } });
const written = /my secret|quoted secret/;

test('[DASH-97] reports are listed and resolved without a word of what was written, and the entry is the person’s', async () => {
  const { id: projectId, owner } = chat.project;
  const { id: room } = await chat.conversation(['ann', 'eve', 'tom']);
  const [ann, eve] = [await chat.user('ann'), await chat.user('eve')];
  const report = async () => {
    const { id: messageId } = await eve.api.call('sendMessage', { room, body: { text: 'my secret' } });
    const body = { reason: 'spam', note: 'he said: quoted secret' } as const;
    await ann.api.call('reportMessage', { messageId, body });
    return messageId;
  };
  const messages = [await report(), await report()];
  const { body: open } = await viewer.api.request('listProjectReports', here());
  assert.doesNotMatch(JSON.stringify(open), written);
  assert.deepEqual(
    open.map(({ messageId, senderId, reporterId, reason, source, conversationId }) => [
      messageId,
      senderId,
      reporterId,
      reason,
      source,
      conversationId,
    ]),
    messages.toReversed().map((id) => [id, 'eve', 'ann', 'spam', 'USER', room]),
  );
  const [second, first] = open.map(({ id }) => ({ ...here(), reportId: id }));
  assert.ok(first && second);
  const gone = await admin.api.call('resolveProjectReport', { ...first, body: { action: 'delete_message' } });
  assert.doesNotMatch(JSON.stringify(gone), written);
  await assertRefused(
    chat.project.api.call('getMessage', { messageId: messages[0] ?? '' }),
    404,
    'SVC_MESSAGE_NOT_FOUND',
  );
  const ban = { action: 'ban', everywhere: true, reason: 'spam' } as const;
  await assertRefused(viewer.api.call('resolveProjectReport', { ...second, body: ban }), 403, 'SVC_PERMISSION_DENIED');
  await admin.api.call('resolveProjectReport', { ...second, body: ban });
  await assertRefused(eve.api.call('listMessages', { room }), 403, 'SVC_CHAT_BANNED');
  assert.deepEqual(await viewer.api.call('listProjectReports', here()), []);
  const resolved = { ...here(), query: { ...here().query, status: 'RESOLVED' } } as const;
  assert.deepEqual(
    (await viewer.api.call('listProjectReports', resolved)).map(({ action }) => action),
    ['ban', 'delete_message'],
  );
  const audit = await owner.api.call('listAuditLogs', { projectId, query: { action: 'chat.report_resolved' } });
  assert.deepEqual(
    audit.map(({ actorEmail }) => actorEmail),
    [admin.email, admin.email],
  );
  assert.doesNotMatch(JSON.stringify(audit), written);
});

test('[DASH-97] bans and mutes of all chat are imposed and lifted by those who may, of one environment', async () => {
  const { id: projectId, owner } = chat.project;
  const { id: room } = await chat.conversation(['uma']);
  const uma = await chat.user('uma');
  const of = { ...here(), userId: 'uma' };
  const until = new Date(Date.now() + 3_600_000).toISOString();
  for (const person of [viewer, await chat.project.member('DEVELOPER')])
    await assertRefused(person.api.call('muteProjectChatUser', of), 403, 'SVC_PERMISSION_DENIED');
  const mute = await admin.api.call('muteProjectChatUser', { ...of, body: { until, reason: 'calm down' } });
  assert.deepEqual([mute.imposedBy, mute.conversationId, mute.until], ['dashboard', null, until]);
  const isMuted = () =>
    assertRefused(uma.api.call('sendMessage', { room, body: { text: 'hi' } }), 403, 'SVC_CHAT_MUTED');
  await isMuted();
  assert.deepEqual(await viewer.api.call('listProjectChatMutes', here()), [mute]);
  const elsewhere = { ...here(), query: { environment: 'PRODUCTION' } };
  assert.deepEqual(await viewer.api.call('listProjectChatMutes', elsewhere), []);
  await admin.api.call('unmuteProjectChatUser', { ...elsewhere, userId: 'uma' });
  await isMuted();
  await admin.api.call('unmuteProjectChatUser', of);
  await uma.api.call('sendMessage', { room, body: { text: 'hi' } });
  await admin.api.call('banProjectChatUser', of);
  assert.deepEqual(
    (await viewer.api.call('listProjectChatBans', here())).filter(({ userId }) => userId === 'uma').length,
    1,
  );
  await assertRefused(uma.api.call('listMessages', { room }), 403, 'SVC_CHAT_BANNED');
  await admin.api.call('unbanProjectChatUser', of);
  await uma.api.call('listMessages', { room });
  const entries = await owner.api.call('listAuditLogs', { projectId, query: { resourceId: 'uma' } });
  assert.deepEqual(
    entries.map(({ action, actorEmail }) => [action, actorEmail]),
    ['chat.user_unbanned', 'chat.user_banned', 'chat.user_unmuted', 'chat.user_muted'].map((action) => [
      action,
      admin.email,
    ]),
  );
});

test('[DASH-97] a user is put into the shadow of all chat and taken out of it', async () => {
  const { id: room } = await chat.conversation(['una', 'uwe']);
  const [una, uwe] = [await chat.user('una'), await chat.user('uwe')];
  const of = { ...here(), userId: 'una' };
  await assertRefused(viewer.api.call('shadowProjectChatUser', of), 403, 'SVC_PERMISSION_DENIED');
  const shadow = await admin.api.call('shadowProjectChatUser', of);
  assert.deepEqual([shadow.kind, shadow.imposedBy], ['SHADOW', 'dashboard']);
  assert.deepEqual(await viewer.api.call('listProjectChatShadows', here()), [shadow]);
  await una.api.call('sendMessage', { room, body: { text: 'hidden' } });
  await admin.api.call('unshadowProjectChatUser', of);
  await una.api.call('sendMessage', { room, body: { text: 'seen' } });
  assert.deepEqual(
    (await uwe.api.call('listMessages', { room })).messages.map(({ text }) => text),
    ['seen'],
  );
});

test('[DASH-97] word lists, links and the hook are read by viewers and changed by who may; a secret is shown once', async () => {
  const { api } = chat.project;
  const body = {
    wordLists: [{ name: 'rude', action: 'mask' as const, words: ['darn'] }],
    links: 'moderators' as const,
  };
  await assertRefused(viewer.api.call('setProjectModeration', { ...here(), body }), 403, 'SVC_PERMISSION_DENIED');
  const set = await admin.api.call('setProjectModeration', { ...here(), body });
  const seen = () => viewer.api.call('getProjectModeration', here());
  assert.deepEqual(await seen(), { ...set, hook: null, scan: null, linkPreviews: false });
  assert.deepEqual(await api.call('getChatModeration'), set);
  const hook = { url: 'http://127.0.0.1:8080/hook', onFailure: 'closed' as const };
  await assertRefused(
    viewer.api.call('setProjectModerationHook', { ...here(), body: hook }),
    403,
    'SVC_PERMISSION_DENIED',
  );
  const made = await admin.api.call('setProjectModerationHook', { ...here(), body: hook });
  assert.ok(made.secret);
  assert.equal((await admin.api.call('setProjectModerationHook', { ...here(), body: hook })).secret, null);
  const shown = await seen();
  assert.ok(!JSON.stringify(shown).includes(made.secret));
  assert.deepEqual([shown.hook?.url, shown.hook?.onFailure], [hook.url, 'closed']);
  const { secret } = await admin.api.call('rotateProjectModerationHook', here());
  assert.ok(secret && secret !== made.secret);
  await admin.api.call('removeProjectModerationHook', here());
  assert.equal((await seen()).hook, null);
});

test('[DASH-103] all messages of a user are deleted by who may, and the list says how far it is', async () => {
  const service = await sharedService();
  const { id: projectId, api, owner } = chat.project;
  const { id: room } = await chat.conversation(['vic', 'ann']);
  for (const senderId of ['vic', 'ann', 'vic'])
    await api.call('sendMessage', { room, body: { text: 'my secret', senderId } });
  const of = { ...here(), userId: 'vic' };
  for (const person of [viewer, await chat.project.member('DEVELOPER')])
    await assertRefused(person.api.call('deleteProjectUserMessages', of), 403, 'SVC_PERMISSION_DENIED');
  const { id, status, conversationId } = await admin.api.call('deleteProjectUserMessages', of);
  assert.deepEqual([status, conversationId], ['RUNNING', null]);
  const found = async () => {
    await service.service.chat.sweep.deletions();
    const listed = await viewer.api.call('listProjectChatDeletions', here());
    assert.doesNotMatch(JSON.stringify(listed), written);
    return listed.map((one) => [one.id, one.userId, one.status, one.deleted]);
  };
  await eventually(async () => assert.deepEqual(await found(), [[id, 'vic', 'DONE', 2]]));
  const left = (await api.call('listMessages', { room })).messages.filter(({ text }) => text !== null);
  assert.deepEqual(
    left.map(({ senderId }) => senderId),
    ['ann'],
  );
  const elsewhere = { ...here(), query: { environment: 'PRODUCTION' } };
  assert.deepEqual(await viewer.api.call('listProjectChatDeletions', elsewhere), []);
  const [entry] = await owner.api.call('listAuditLogs', { projectId, query: { action: 'chat.messages_deleted' } });
  assert.deepEqual([entry?.resourceId, entry?.actorEmail], ['vic', admin.email]);
});

test('[DASH-104] the scan hook and previews of links are seen by viewers and set by who may; a secret is shown once', async () => {
  const { api } = chat.project;
  const body = { url: 'http://127.0.0.1:8080/scan', timeoutMs: 8_000 };
  const seen = () => viewer.api.call('getProjectModeration', here());
  const set = { ...here(), body };
  await assertRefused(viewer.api.call('setProjectScanHook', set), 403, 'SVC_PERMISSION_DENIED');
  const made = await admin.api.call('setProjectScanHook', set);
  assert.ok(made.secret);
  const shown = await seen();
  assert.ok(!JSON.stringify(shown).includes(made.secret));
  assert.deepEqual([shown.scan?.url, shown.scan?.timeoutMs, shown.scan?.onFailure], [body.url, 8_000, 'closed']);
  assert.deepEqual(await api.call('getScanHook'), shown.scan);
  assert.notEqual((await admin.api.call('rotateProjectScanHook', here())).secret, made.secret);
  await admin.api.call('removeProjectScanHook', here());
  const previews = { ...here(), body: { enabled: true } };
  await assertRefused(viewer.api.call('setProjectLinkPreviews', previews), 403, 'SVC_PERMISSION_DENIED');
  await admin.api.call('setProjectLinkPreviews', previews);
  assert.deepEqual([(await seen()).scan, (await seen()).linkPreviews], [null, true]);
  assert.deepEqual(await api.call('getLinkPreviews'), { enabled: true });
});
