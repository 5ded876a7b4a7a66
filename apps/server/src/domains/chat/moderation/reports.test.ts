import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit, refusal } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

const clock = createFakeClock();
let service: TestService;
let second: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ clock, env: { CHAT_MAX_OPEN_REPORTS: '50' } });
  second = await startService({ clock, beside: service });
  chat = await createChatKit(service);
});
after(async () => {
  await second.stop();
  await service.stop();
});

test('[MOD-9] word lists reject, mask and flag what users send and edit, on every process; servers are free', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['ann']);
  const ann = await chat.user('ann');
  const wordLists = [
    { name: 'no', action: 'reject', words: ['forbidden'] },
    { name: 'hide', action: 'mask', words: ['rude'], patterns: ['\\d{3}-\\d{3}'] },
    { name: 'watch', action: 'flag', words: ['money'] },
  ] as const;
  const body = { wordLists: wordLists.map((list) => ({ ...list, words: [...list.words] })) } as never;
  const set = await api.call('setChatModeration', { body });
  assert.deepEqual(await api.call('getChatModeration'), set);
  for (const at of [service, second]) {
    await eventually(async () => {
      await clock.advance(500);
      const { status, code, body } = await refusal(
        at.as(ann.token).call('sendMessage', { room, body: { text: 'so Forbidden!' } }),
      );
      assert.deepEqual([status, code, body['by']], [422, 'SVC_MESSAGE_REJECTED', 'words']);
    });
  }
  const sent = await ann.api.call('sendMessage', { room, body: { text: 'rude 123-456' } });
  assert.equal(sent.text, '**** *******');
  const edited = await ann.api.call('editMessage', { messageId: sent.id, body: { text: 'RUDE again' } });
  assert.equal(edited.text, '**** again');
  await assertRefused(
    ann.api.call('editMessage', { messageId: sent.id, body: { text: 'forbidden' } }),
    422,
    'SVC_MESSAGE_REJECTED',
  );
  assert.equal((await api.call('sendMessage', { room, body: { text: 'forbidden rude' } })).text, 'forbidden rude');

  const flagged = await ann.api.call('sendMessage', { room, body: { text: 'money' } });
  await ann.api.call('editMessage', { messageId: sent.id, body: { text: 'my money' } });
  const reports = await api.call('listChatReports');
  assert.deepEqual(
    reports
      .map(({ messageId, source, reason, reporterId, senderId }) => [messageId, source, reason, reporterId, senderId])
      .sort(),
    [flagged.id, sent.id].map((id) => [id, 'WORD_LIST', 'watch', null, 'ann']).sort(),
  );
  // A message that is not stored is not reported.
  const other = await chat.conversation(['ann']);
  await api.call('muteInConversation', { room: other.id, userId: 'ann' });
  await assertRefused(ann.api.call('sendMessage', { room: other.id, body: { text: 'money' } }), 403, 'SVC_CHAT_MUTED');
  assert.equal((await api.call('listChatReports')).length, 2);
  const left = await service.adapters.db.query(sql`select from chat_reports where status = 'PENDING'`);
  assert.equal(left.length, 0);
  await api.call('setChatModeration', { body: {} });
  await ann.api.call('sendMessage', { room, body: { text: 'forbidden no more' } });
});

test('[MOD-10] a pattern that cannot run in bounded time is refused when it is set', async () => {
  const { api } = chat.project;
  for (const patterns of [['(a)\\1'], ['(?=a)'], ['(((a{50}){50}){50})'], Array(10).fill('a{40}b{30}')]) {
    const { status, code, body } = await refusal(
      api.call('setChatModeration', { body: { wordLists: [{ name: 'x', action: 'flag', patterns }] } }),
    );
    assert.deepEqual([status, code], [400, 'SVC_VALIDATION_FAILED'], JSON.stringify(body));
  }
  await api.call('setChatModeration', { body: { wordLists: [{ name: 'x', action: 'flag', patterns: ['(a+)+$'] }] } });
  await api.call('setChatModeration', { body: {} });
});

test('[MOD-11] links are for everybody, nobody, or moderators', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['ann', { userId: 'mod', role: 'MODERATOR' }]);
  const [ann, mod] = [await chat.user('ann'), await chat.user('mod')];
  const send = (user: typeof ann) => user.api.call('sendMessage', { room, body: { text: 'see https://example.com' } });
  await send(ann);
  await api.call('setChatModeration', { body: { links: 'moderators' } });
  const { body } = await refusal(send(ann));
  assert.deepEqual([body['code'], body['by']], ['SVC_MESSAGE_REJECTED', 'links']);
  await send(mod);
  await api.call('setChatModeration', { body: { links: 'forbidden' } });
  await assertRefused(send(mod), 422, 'SVC_MESSAGE_REJECTED');
  await api.call('setChatModeration', { body: {} });
  await send(ann);
});

test('[MOD-12] users report a message once; a report is resolved once, by deleting, muting or banning', async () => {
  const { api, id: projectId, owner } = chat.project;
  const { id: room } = await chat.conversation(['ann', 'bob', 'eve']);
  const [ann, bob, eve] = [await chat.user('ann'), await chat.user('bob'), await chat.user('eve')];
  const { id: messageId } = await eve.api.call('sendMessage', { room, body: { text: 'secret words' } });
  const report = (user: typeof ann) =>
    user.api.request('reportMessage', { messageId, body: { reason: 'spam', note: 'look' } });
  const races = await Promise.all([report(ann), report(ann), report(ann), report(bob)]);
  assert.deepEqual(races.map(({ status }) => status).sort(), [200, 200, 201, 201]);
  const zoe = await chat.user('zoe');
  await assertRefused(zoe.api.call('reportMessage', { messageId, body: { reason: 'spam' } }), 403, 'SVC_NOT_A_MEMBER');
  const open = (await api.call('listChatReports', { query: { status: 'OPEN' } })).filter(
    (one) => one.messageId === messageId,
  );
  assert.deepEqual(open.map(({ reporterId }) => reporterId).sort(), ['ann', 'bob']);
  const [first, other] = open;
  const reportId = first?.id ?? '';
  const done = await Promise.allSettled(
    Array.from({ length: 4 }, () => api.call('resolveChatReport', { reportId, body: { action: 'delete_message' } })),
  );
  assert.equal(done.filter(({ status }) => status === 'fulfilled').length, 1);
  await assertRefused(
    api.call('resolveChatReport', { reportId, body: { action: 'none' } }),
    409,
    'SVC_REPORT_RESOLVED',
  );
  await assertRefused(api.call('getMessage', { messageId }), 404, 'SVC_MESSAGE_NOT_FOUND');
  const ban = { action: 'ban', reason: 'spam' } as const;
  const resolved = await api.call('resolveChatReport', { reportId: other?.id ?? '', body: ban });
  assert.deepEqual([resolved.status, resolved.action], ['RESOLVED', 'ban']);
  await assertRefused(eve.api.call('listMessages', { room }), 403, 'SVC_CHAT_BANNED');
  await assertRefused(api.call('getChatReport', { reportId: 'rep_none' }), 404, 'SVC_REPORT_NOT_FOUND');
  const audit = await owner.api.call('listAuditLogs', { projectId, query: { action: 'chat.report_resolved' } });
  assert.equal(audit.length, 2);
  assert.doesNotMatch(JSON.stringify(audit), /secret words|look/);
  const types = await service.adapters.db.query<{ type: string }>(
    sql`select type from events where type like 'report.%' and data::json->'report'->>'messageId' = ${messageId} order by type`,
  );
  assert.deepEqual(
    types.map(({ type }) => type),
    ['report.created', 'report.created', 'report.resolved', 'report.resolved'],
  );
});

test('[MOD-12] a flagged message whose process died before its report was opened is reported all the same', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['ann']);
  const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'money' } });
  const columns = sql`id, project_id, environment, conversation_id, message_id, source, reporter_id, reason, status, created_at`;
  const left = (id: string, message: string) => sql`
    insert into chat_reports (${columns}) values (${id}, ${chat.project.id}, 'DEVELOPMENT', ${room}, ${message},
      'WORD_LIST', '', 'watch', 'PENDING', ${new Date(clock.now()).toISOString()})`;
  await service.adapters.db.execute(left('rep_a', messageId));
  await service.adapters.db.execute(left('rep_b', 'msg_never_stored'));
  clock.jump(61_000);
  await service.service.chat.sweep.flags();
  assert.equal((await api.call('getChatReport', { reportId: 'rep_a' })).status, 'OPEN');
  const rows = await service.adapters.db.query(sql`select from chat_reports where id = 'rep_b'`);
  assert.equal(rows.length, 0);
});

test('[MOD-16] no user fills the queue of reports: a tenth of it is theirs', async () => {
  const own = await createChatKit(service);
  const { api } = own.project;
  const { id: room } = await own.conversation(['ann', 'eve']);
  const [ann, eve] = [await own.user('ann'), await own.user('eve')];
  await api.call('setChatModeration', { body: { wordLists: [{ name: 'watch', action: 'flag', words: ['money'] }] } });
  const send = (user: typeof ann, text: string) => user.api.call('sendMessage', { room, body: { text } });
  const messages = [];
  for (let at = 0; at < 6; at++) messages.push(await send(eve, `money ${at}`));
  const open = async (source: string) =>
    (await api.call('listChatReports', { query: {} })).filter((one) => one.source === source).length;
  await eventually(async () => assert.equal(await open('WORD_LIST'), 5));
  const body = { reason: 'spam' } as const;
  const results = await Promise.allSettled(
    messages.map(({ id: messageId }) => ann.api.call('reportMessage', { messageId, body })),
  );
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 5);
  const { id: messageId } = await send(ann, 'money');
  await eventually(async () => assert.equal(await open('WORD_LIST'), 6));
  await eve.api.call('reportMessage', { messageId, body });
});
