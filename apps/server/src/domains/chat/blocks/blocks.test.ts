import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertRefused,
  type ChatOf,
  chatAs,
  createChatKit,
  refusal,
  subscribe,
} from '../../../../testkit/chat/chat.ts';
import type { ServerFrame, SocketClient } from '../../../../testkit/clients/socket-client.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

let service: TestService;
let second: TestService;
let chat: ChatOf;
before(async () => {
  const env = { CHAT_MAX_BLOCKS: '3', CHAT_SEND_RATE_LIMIT: '1000' };
  service = await startService({ env });
  second = await startService({ env, beside: service });
  chat = await createChatKit(service);
});
after(async () => {
  await second.stop();
  await service.stop();
});

const directOf = (...userIds: string[]) => chat.project.api.call('openDirectConversation', { body: { userIds } });

/** Everything that was on its way to a socket has come: a frame that is sent after it comes after it. */
const settled = (socket: SocketClient) => socket.ask({ type: 'presence', status: 'ONLINE' });

test('[MOD-17] a user blocks, lists and unblocks others; every device of theirs hears of it, and nobody else', async () => {
  const [ada, eve] = [await chat.user('ada'), await chat.user('eve')];
  const devices = [await ada.connect(), await chatAs(second, ada.token)];
  const stranger = await eve.connect();
  const block = await ada.api.call('blockUser', { blockedId: 'eve' });
  assert.deepEqual([block.userId, block.blockedId], ['ada', 'eve']);
  assert.deepEqual(await ada.api.call('blockUser', { blockedId: 'eve' }), block, 'twice is once');
  for (const device of devices) {
    const { userId, blockedId, blocked } = await device.take('block.updated');
    assert.deepEqual([userId, blockedId, blocked], ['ada', 'eve', true]);
  }
  await chat.project.api.call('blockUser', { blockedId: 'ben', query: { userId: 'ada' } });
  await ada.api.call('blockUser', { blockedId: 'cy' });
  const refused = await refusal(ada.api.call('blockUser', { blockedId: 'dee' }));
  assert.deepEqual([refused.status, refused.code, refused.body['limit']], [403, 'SVC_QUOTA_EXCEEDED', 3]);
  const seen: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const query: object = { limit: 2, ...(cursor ? { cursor } : {}) };
    const { body, headers } = await ada.api.request('listBlocks', { query });
    seen.push(...body.map(({ blockedId }: { blockedId: string }) => blockedId));
    cursor = headers.get('x-next-cursor') ?? undefined;
  }
  assert.deepEqual(seen, ['cy', 'ben', 'eve']);
  assert.equal((await chat.project.api.call('listBlocks', { query: { userId: 'ada' } })).length, 3);
  assert.deepEqual(await eve.api.call('listBlocks'), [], 'who is blocked does not learn of it');
  await ada.api.call('unblockUser', { blockedId: 'eve' });
  await ada.api.call('unblockUser', { blockedId: 'eve' });
  assert.equal((await ada.api.call('listBlocks')).length, 2);

  await assertRefused(ada.api.call('blockUser', { blockedId: 'ada' }), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(ada.api.call('blockUser', { blockedId: 'no good' }), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(chat.project.api.call('blockUser', { blockedId: 'eve' }), 400, 'SVC_USER_REQUIRED');
  const reader = await chat.user('ada', { scopes: ['chat:read'] });
  await assertRefused(reader.api.call('blockUser', { blockedId: 'dee' }), 403, 'SVC_SCOPE_MISSING');
  await settled(stranger);
  assert.ok(!stranger.frames.some(({ type }) => type === 'block.updated'));

  const events = await service.adapters.db.query<{ type: string; userId: string; blockedId: string }>(sql`
    select type, data::json->'block'->>'userId' as "userId", data::json->'block'->>'blockedId' as "blockedId" from events
    where project_id = ${chat.project.id} and type in ('user.blocked', 'user.unblocked') order by created_at, id`);
  assert.deepEqual(events.map(({ type, userId, blockedId }) => `${type} ${userId} ${blockedId}`).sort(), [
    'user.blocked ada ben',
    'user.blocked ada cy',
    'user.blocked ada eve',
    'user.unblocked ada eve',
  ]);
  const audited = await service.adapters.db.query<{ action: string }>(sql`
    select action from audit_entries where project_id = ${chat.project.id} and action like 'chat.user_%blocked'`);
  assert.deepEqual(
    audited,
    [{ action: 'chat.user_blocked' }],
    'what a backend does is on record, what a user does is theirs',
  );
  for (const socket of [...devices, stranger]) await socket.close();
});

test('[MOD-18] in a direct conversation of two nothing is said while one blocks the other, and neither is told who; elsewhere all goes on', async () => {
  const [ann, bea] = [await chat.user('ann'), await chat.user('bea')];
  const { id: direct } = await ann.api.call('openDirectConversation', { body: { userIds: ['ann', 'bea'] } });
  const { id: three } = await directOf('ann', 'bea', 'cas');
  const { id: group } = await chat.conversation(['ann', 'bea']);
  const old = { ann: '', bea: '' };
  for (const user of [ann, bea]) {
    const { id } = await user.api.call('sendMessage', {
      room: direct,
      body: { text: 'before', clientMessageId: user.userId },
    });
    old[user.userId as 'ann' | 'bea'] = id;
  }
  const poll = { question: 'q', options: ['a', 'b'] };
  const { id: asked } = await ann.api.call('sendMessage', { room: direct, body: { poll } });
  for (const { api } of [ann, bea]) await api.call('castVote', { messageId: asked, body: { optionIds: [1] } });
  await ann.api.call('blockUser', { blockedId: 'bea' });

  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const told: unknown[] = [];
  for (const [user, own, other] of [
    [ann, old.ann, old.bea],
    [bea, old.bea, old.ann],
  ] as const) {
    const denied = [
      () => user.api.call('sendMessage', { room: direct, body: { text: 'now' } }),
      () => user.api.call('editMessage', { messageId: own, body: { text: 'x' } }),
      () => user.api.call('addReaction', { messageId: other, body: { emoji: '👍' } }),
      () => user.api.call('castVote', { messageId: asked, body: { optionIds: [2] } }),
      () => user.api.call('scheduleMessage', { room: direct, body: { text: 'later', sendAt: tomorrow } }),
      () => user.api.call('pinMessage', { messageId: other }),
      () =>
        user.api.call('requestAttachment', {
          room: direct,
          body: { filename: 'a.txt', mimeType: 'text/plain', size: 3 },
        }),
      () => user.api.call('openDirectConversation', { body: { userIds: ['ann', 'bea'] } }),
      () => second.as(user.token).call('sendMessage', { room: direct, body: { text: 'now' } }),
    ];
    for (const call of denied) {
      const { status, code, body } = await refusal(call());
      assert.deepEqual([status, code], [403, 'SVC_CHAT_BLOCKED']);
      told.push(Object.keys(body).sort().join());
    }
    const repeat = await user.api.call('sendMessage', {
      room: direct,
      body: { text: 'before', clientMessageId: user.userId },
    });
    assert.equal(repeat.id, own, 'a retry of what was sent finds it');
    assert.equal((await user.api.call('listMessages', { room: direct })).messages.length, 3);
    await user.api.call('retractVote', { messageId: asked });
    for (const room of [three, group]) await user.api.call('sendMessage', { room, body: { text: 'all' } });
    await user.api.call('openDirectConversation', { body: { userIds: ['ann', 'bea', 'cas'] } });
  }
  assert.equal(new Set(told).size, 1, 'both are told the same');
  await chat.project.api.call('sendMessage', { room: direct, body: { text: 'by the server', senderId: 'bea' } });
  await bea.api.call('deleteMessage', { messageId: old.bea });

  // A stranger who was blocked cannot open one; who left is not brought back.
  await ann.api.call('blockUser', { blockedId: 'dan' });
  const dan = await chat.user('dan');
  await assertRefused(
    dan.api.call('openDirectConversation', { body: { userIds: ['ann', 'dan'] } }),
    403,
    'SVC_CHAT_BLOCKED',
  );
  // Both have blocked: one unblocks, and still nothing goes.
  await bea.api.call('blockUser', { blockedId: 'ann' });
  await ann.api.call('unblockUser', { blockedId: 'bea' });
  await assertRefused(ann.api.call('sendMessage', { room: direct, body: { text: 'x' } }), 403, 'SVC_CHAT_BLOCKED');
  await bea.api.call('unblockUser', { blockedId: 'ann' });
  for (const user of [ann, bea]) await user.api.call('sendMessage', { room: direct, body: { text: 'again' } });
});

test('[MOD-18] after a block has been answered nothing that raced it is stored', async () => {
  const [ida, jon] = [await chat.user('ida'), await chat.user('jon')];
  const { id: room } = await directOf('ida', 'jon');
  for (let turn = 0; turn < 4; turn++) {
    const apis = [jon.api, second.as(jon.token)];
    const sends = Array.from({ length: 30 }, (_, at) =>
      (apis[at % 2] ?? jon.api).call('sendMessage', { room, body: { text: `${at}` } }).then(
        () => 1,
        (error) => (error.code === 'SVC_CHAT_BLOCKED' ? 0 : assert.fail(String(error))),
      ),
    );
    await ida.api.call('blockUser', { blockedId: 'jon' });
    const { messageCount } = await ida.api.call('getConversation', { room });
    await Promise.all(sends);
    assert.equal((await ida.api.call('getConversation', { room })).messageCount, messageCount);
    await ida.api.call('unblockUser', { blockedId: 'jon' });
  }
});

test('[MOD-19] two who are out of touch see no typing, presence or receipts of each other, on any process; lifted, they meet again', async () => {
  const [kim, leo] = [await chat.user('kim'), await chat.user('leo')];
  const { id: room } = await directOf('kim', 'leo');
  await kim.api.call('sendMessage', { room, body: { text: 'hello' } });
  const { id: unseen } = await leo.api.call('sendMessage', { room, body: { text: 'are you there?' } });
  const [here, there] = [await kim.connect(), await chatAs(second, leo.token)];
  await subscribe(here, room);
  await subscribe(there, room);
  await there.ask({ type: 'inbox.subscribe' });
  // Who subscribes is there a moment after the answer.
  await eventually(async () => assert.equal((await chat.project.api.call('listPresence', { room })).length, 2));
  await kim.api.call('blockUser', { blockedId: 'leo' });
  const gone = await there.take('presence', ({ event }) => event === 'leave');
  assert.equal(gone['userId'], 'kim');
  assert.equal((await here.take('presence', ({ event }) => event === 'leave'))['userId'], 'leo');

  const mark = there.frames.length;
  await here.ask({ type: 'typing', conversation: room, typing: true });
  await here.ask({ type: 'presence', status: 'AWAY' });
  await here.ask({ type: 'read', messageId: unseen });
  await there.ask({ type: 'delivered', conversations: [{ ref: room, seq: 1 }] });
  for (const { userId, api } of [kim, leo]) {
    const shown = [...(await api.call('listPresence', { room })), ...(await api.call('listTyping', { room }))];
    assert.ok(
      shown.every((one) => one.userId === userId),
      'each sees themselves alone',
    );
  }
  for (const { userId, api } of [kim, leo]) {
    const receipts = await api.call('listReadReceipts', { room });
    assert.deepEqual(
      receipts.map((one) => one.userId),
      [userId],
    );
    const members = await api.call('listConversationMembers', { room });
    assert.ok(members.every((one) => one.userId === userId || one.lastReadAt === null));
  }
  // A change goes the same way, after all of these.
  await chat.project.api.call('updateConversation', { room, body: { metadata: { a: 1 } } });
  await there.take('conversation.updated');
  const silent = ['typing', 'presence', 'delivered', 'read', 'inbox.typing'];
  assert.deepEqual(
    there.frames.slice(mark).filter(({ type, userId }) => silent.includes(type) && userId !== 'leo'),
    [],
  );

  await kim.api.call('unblockUser', { blockedId: 'leo' });
  // Not the one with which they came.
  const isBack = (frame: ServerFrame) => frame['event'] === 'enter' && there.frames.indexOf(frame) >= mark;
  const back = await there.take('presence', (frame) => frame['userId'] === 'kim' && isBack(frame));
  assert.equal(back['status'], 'AWAY');
  await here.ask({ type: 'typing', conversation: room, typing: true });
  assert.equal((await there.take('typing'))['userId'], 'kim');
  for (const socket of [here, there]) await socket.close();
});

test('[INB-7] what the blocked write is unread nowhere: inbox, badge, read state, subscription; live, and told anew after a gap', async () => {
  const [may, ned] = [await chat.user('may'), await chat.user('ned')];
  const { id: room } = await chat.conversation(['may', 'ned', { userId: 'oli', role: 'MODERATOR' }]);
  const send = (senderId: string) =>
    chat.project.api.call('sendMessage', { room, body: { text: 'x', senderId, mentions: { users: ['may'] } } });
  const counts = async () => {
    const [entry] = await may.api.call('listInbox', {});
    const state = await may.api.call('getReadState', { room });
    const { unreadMessages, unreadMentions } = await may.api.call('getInboxBadge', {});
    return [entry?.unreadCount, entry?.unreadMentions, state.unreadCount, unreadMessages, unreadMentions];
  };
  await send('ned');
  const { id: first } = await send('oli');
  const { id: deleted } = await send('ned');
  assert.deepEqual(await counts(), [3, 3, 3, 3, 3]);
  const socket = await chatAs(second, may.token);
  await subscribe(socket, room);
  const { at } = (await socket.ask({ type: 'inbox.subscribe' }))['data'] as { at: number };
  await may.api.call('blockUser', { blockedId: 'ned' });
  const told = await socket.take('inbox.changed', ({ entry }) => (entry as { unreadCount: number }).unreadCount === 1);
  assert.equal((told['entry'] as { unreadMentions: number }).unreadMentions, 1);
  assert.deepEqual(await counts(), [1, 1, 1, 1, 1]);
  assert.equal((await may.api.call('getReadState', { room })).firstUnreadMessageId, first);
  await send('ned');
  await chat.project.api.call('deleteMessage', { messageId: deleted });
  assert.equal((await subscribe(socket, room))['unreadCount'], 1, 'counted on in memory');
  await ned.api.call('sendMessage', { room, body: { text: 'y' } });
  assert.equal((await subscribe(socket, room))['unreadCount'], 1);
  const again = (await socket.ask({ type: 'inbox.subscribe', since: at }))['data'] as { recovered: boolean };
  assert.equal(again.recovered, false, 'blocks changed: the inbox is read anew');
  await may.api.call('unblockUser', { blockedId: 'ned' });
  await socket.take('inbox.changed', ({ entry }) => (entry as { unreadCount: number }).unreadCount === 4);
  assert.equal((await subscribe(socket, room))['unreadCount'], 4);
  assert.deepEqual(await counts(), [4, 3, 4, 4, 3]);
  await socket.close();
});
