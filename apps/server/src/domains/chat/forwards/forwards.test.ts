import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Message } from '@parley/contract';
import sharp from 'sharp';
import { assertRefused, type ChatOf, type ChatUser, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { sql } from '../../../core/sql.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
});

const text = { filename: 'face.txt', mimeType: 'text/plain', bytes: Buffer.from('hello') };

async function uploaded({ api }: ChatUser, room: string, { bytes, ...named } = text): Promise<string> {
  const body = { ...named, size: bytes.length };
  const { attachment, uploadUrl, headers } = await api.call('requestAttachment', { room, body });
  await fetch(uploadUrl, { method: 'PUT', headers, body: new Uint8Array(bytes) });
  return (await api.call('completeAttachment', { attachmentId: attachment.id })).id;
}

const forward = ({ api }: ChatUser, room: string, messageId: string, more: object = {}): Promise<Message> =>
  api.call('sendMessage', { room, body: { forward: { messageId }, ...more } });

/** Alice may read the first and send in the second; bob and carl are in one each. */
async function twoRooms() {
  // A project of its own: what users may send in ten seconds is counted.
  chat = await createChatKit(service);
  const [from, to] = [await chat.conversation(['alice', 'bob']), await chat.conversation(['alice', 'carl'])];
  const [alice, bob, carl] = [await chat.user('alice'), await chat.user('bob'), await chat.user('carl')];
  return { from: from.id, to: to.id, alice, bob, carl };
}

test('[FWD-1] the server carries the words; who reads them learns the first sender and time, not the conversation', async () => {
  const { from, to, alice, bob, carl } = await twoRooms();
  const said = await bob.api.call('sendMessage', { room: from, body: { text: 'my words', metadata: { order: 7 } } });
  const sent = await forward(alice, to, said.id, { clientMessageId: 'once' });
  const origin = { messageId: said.id, senderId: 'bob', createdAt: said.createdAt };
  assert.deepEqual([sent.text, sent.senderId, sent.metadata, sent.forwardedFrom], ['my words', 'alice', {}, origin]);
  assert.equal((await forward(alice, to, said.id, { clientMessageId: 'once' })).id, sent.id);
  const { messages } = await carl.api.call('listMessages', { room: to });
  assert.deepEqual([messages.length, messages[0]?.forwardedFrom], [1, origin]);
  assert.equal(JSON.stringify(messages).includes(from), false);
  await assertRefused(carl.api.call('getMessage', { messageId: said.id }), 403, 'SVC_NOT_A_MEMBER');
  const again = await chat.conversation(['carl', 'dora']);
  assert.deepEqual((await forward(carl, again.id, sent.id)).forwardedFrom, origin);
  await assertRefused(
    alice.api.call('editMessage', { messageId: sent.id, body: { text: 'other words' } }),
    403,
    'SVC_FORBIDDEN',
  );
});

test('[FWD-2] it takes the right to read there and to send here; what is gone, or says nothing, is not passed on', async () => {
  const { from, to, alice, bob, carl } = await twoRooms();
  const said = await bob.api.call('sendMessage', { room: from, body: { text: 'x' } });
  await assertRefused(forward(carl, to, said.id), 403, 'SVC_NOT_A_MEMBER');
  await assertRefused(forward(bob, to, said.id), 403, 'SVC_NOT_A_MEMBER');
  for (const beside of [{ text: 'and mine' }, { attachmentId: 'att_1' }, { attachmentIds: ['att_1', 'att_2'] }])
    await assertRefused(forward(alice, to, said.id, beside), 400, 'SVC_VALIDATION_FAILED');
  const custom = await bob.api.call('sendMessage', { room: from, body: { type: 'custom', metadata: { a: 1 } } });
  await assertRefused(forward(alice, to, custom.id), 400, 'SVC_VALIDATION_FAILED');
  const narrow = await chat.user('alice', { scopes: ['chat:send'] });
  await assertRefused(forward(narrow, to, said.id), 403, 'SVC_SCOPE_MISSING');
  await bob.api.call('deleteMessage', { messageId: said.id });
  await assertRefused(forward(alice, to, said.id), 404, 'SVC_MESSAGE_NOT_FOUND');
  await assertRefused(forward(alice, to, 'msg_none'), 404, 'SVC_MESSAGE_NOT_FOUND');
  // A token that could not read it cannot have it passed on later, either: then its bounds are not asked for.
  const secret = await bob.api.call('sendMessage', { room: from, body: { text: 'secret' } });
  const body = { forward: { messageId: secret.id }, sendAt: new Date(Date.now() + 60_000).toISOString() };
  const scheduledBy = ({ api }: ChatUser) => api.call('scheduleMessage', { room: to, body });
  await assertRefused(scheduledBy(narrow), 403, 'SVC_SCOPE_MISSING');
  const bounded = await chat.user('alice', { conversations: [to] });
  await assertRefused(scheduledBy(bounded), 404, 'SVC_MESSAGE_NOT_FOUND');
  await assertRefused(scheduledBy(carl), 403, 'SVC_NOT_A_MEMBER');
  assert.equal((await scheduledBy(alice)).status, 'PENDING');

  const poll = await bob.api.call('sendMessage', {
    room: from,
    body: { poll: { question: 'q', options: ['a', 'b'] } },
  });
  const words = await forward(alice, to, poll.id);
  assert.deepEqual([words.text, words.poll], ['q\na\nb', undefined]);
});

test('[FWD-3] a file lives as long as one message has it, and who reads the message fetches it', async () => {
  const { from, to, alice, bob, carl } = await twoRooms();
  const attachmentId = await uploaded(bob, from);
  const said = await bob.api.call('sendMessage', { room: from, body: { attachmentId } });
  const sent = await forward(alice, to, said.id);
  assert.deepEqual(
    [sent.type, sent.attachment?.filename, sent.attachment?.uploaderId],
    ['attachment', 'face.txt', 'alice'],
  );
  assert.notEqual(sent.attachmentId, attachmentId);
  const [row] = await service.adapters.db.query<{ key: string }>(sql`
    select blob_key as key from attachments where id = ${attachmentId}`);
  const fetched = async (id: string | null): Promise<string> => {
    const { url } = await carl.api.call('getAttachmentDownload', { attachmentId: id ?? '' });
    return (await fetch(url)).text();
  };
  await assertRefused(carl.api.call('getAttachmentDownload', { attachmentId }), 403, 'SVC_NOT_A_MEMBER');
  await bob.api.call('deleteMessage', { messageId: said.id });
  await assertRefused(forward(alice, to, said.id), 404, 'SVC_MESSAGE_NOT_FOUND');
  const sweep = async (): Promise<void> => {
    await service.adapters.db.execute(sql`
      update attachments set expires_at = expires_at - interval '1 minute' where blob_key = ${row?.key} and status = 'EXPIRED'`);
    await service.service.chat.sweep.attachments();
  };
  await sweep();
  assert.deepEqual(
    await service.adapters.db.query(sql`select 1 as one from attachments where id = ${attachmentId}`),
    [],
  );
  assert.equal(await fetched(sent.attachmentId), 'hello');
  // Passed on once more, and the one between deleted: the last row keeps it.
  const last = await forward(carl, to, sent.id);
  await alice.api.call('deleteMessage', { messageId: sent.id });
  await sweep();
  assert.equal(await fetched(last.attachmentId), 'hello');
  await carl.api.call('deleteMessage', { messageId: last.id });
  await sweep();
  assert.equal(await service.adapters.blobs.stat(row?.key ?? ''), null);
});

test('[FWD-4] what is not sent leaves no file behind, and moderation of the place it goes to holds', async () => {
  const { from, to, alice, bob } = await twoRooms();
  const attachmentId = await uploaded(bob, from);
  const said = await bob.api.call('sendMessage', { room: from, body: { text: 'look', attachmentId } });
  const copies = (): Promise<object[]> =>
    service.adapters.db.query(sql`
      select 1 as one from attachments a join conversations c on c.id = a.conversation_id
      where c.public_id = ${to} and a.expires_at > now()`);
  await chat.project.api.call('muteInConversation', { room: to, userId: 'alice', body: {} });
  await assertRefused(forward(alice, to, said.id), 403, 'SVC_CHAT_MUTED');
  await chat.project.api.call('unmuteInConversation', { room: to, userId: 'alice' });
  await chat.project.api.call('updateConversation', { room: to, body: { status: 'ARCHIVED' } });
  await assertRefused(forward(alice, to, said.id), 409, 'SVC_CONVERSATION_ARCHIVED');
  assert.deepEqual(await copies(), []);
});

test('[FWD-3] a file is there for those who passed it on before its message was deleted, and gone otherwise, in any race', async () => {
  const { from, to, alice, bob } = await twoRooms();
  const { attachments: sweep } = service.service.chat.sweep;
  for (let round = 0; round < 12; round++) {
    const attachmentId = await uploaded(bob, from);
    const said = await bob.api.call('sendMessage', { room: from, body: { attachmentId } });
    const [row] = await service.adapters.db.query<{ key: string }>(sql`
      select blob_key as key from attachments where id = ${attachmentId}`);
    const deletion = async () => {
      for (let turn = 0; turn < round; turn++) await service.adapters.db.query(sql`select 1 as one`);
      await bob.api.call('deleteMessage', { messageId: said.id });
      await sweep();
    };
    const [sent] = await Promise.allSettled([forward(alice, to, said.id), deletion()]);
    await service.adapters.db.execute(sql`
      update attachments set expires_at = expires_at - interval '1 minute'
      where blob_key = ${row?.key} and expires_at is not null`);
    // The chore may have taken it, and not be through.
    await eventually(async () => {
      await sweep();
      const isThere = (await service.adapters.blobs.stat(row?.key ?? '')) !== null;
      assert.equal(isThere, sent.status === 'fulfilled', `round ${round}`);
    });
    if (sent.status === 'fulfilled') await alice.api.call('deleteMessage', { messageId: sent.value.id });
  }
});

test('[FWD-6] all files go along in their order, pictures with their sizes; what a scanner says of one holds for every copy', async () => {
  const { from, to, alice, bob, carl } = await twoRooms();
  const { api } = chat.project;
  const picture = sharp({ create: { width: 400, height: 300, channels: 3, background: '#cc2222' } }).png();
  const files = [
    await uploaded(bob, from, { ...text, filename: 'b.txt' }),
    await uploaded(bob, from, { filename: 'c.png', mimeType: 'image/png', bytes: await picture.toBuffer() }),
    await uploaded(bob, from, { ...text, filename: 'a.txt' }),
  ];
  const said = await bob.api.call('sendMessage', { room: from, body: { attachmentIds: files } });
  const sent = await forward(alice, to, said.id);
  await service.service.chat.sweep.media();
  const shown = async ({ api }: ChatUser, messageId: string) =>
    (await api.call('getMessage', { messageId })).attachments?.map(({ filename, media, scan }) => [
      filename,
      media?.width,
      media?.sizes?.length,
      scan,
    ]);
  const first = await shown(bob, said.id);
  assert.deepEqual(
    first?.map(([filename, width]) => [filename, width]),
    [
      ['b.txt', undefined],
      ['c.png', 400],
      ['a.txt', undefined],
    ],
  );
  assert.deepEqual(await shown(carl, sent.id), first);
  const copies = sent.attachments?.map(({ id }) => id) ?? [];
  assert.equal(new Set([...files, ...copies]).size, 6);
  const fetching = (by: ChatUser, attachmentId = '') =>
    by.api.call('getAttachmentDownload', { attachmentId, query: { size: 320 } });
  const thumbnail = await fetch((await fetching(carl, copies[1])).url);
  assert.equal(thumbnail.headers.get('content-type'), 'image/webp');

  const say = (result: 'CLEAN' | 'REJECTED', attachmentId = '') =>
    api.call('setScanResult', { attachmentId, body: { result } });
  await say('CLEAN', files[0]);
  await fetching(carl, copies[0]);
  await say('REJECTED', files[0]);
  await assertRefused(fetching(carl, copies[0]), 409, 'SVC_ATTACHMENT_REJECTED');
  assert.deepEqual(
    (await shown(carl, sent.id))?.map(([, , , scan]) => scan),
    ['REJECTED', null, null],
  );
  await say('REJECTED', copies[2]);
  await assertRefused(fetching(bob, files[2]), 409, 'SVC_ATTACHMENT_REJECTED');
  for (const { id } of [said, sent]) await assertRefused(forward(alice, to, id), 409, 'SVC_ATTACHMENT_REJECTED');

  await api.call('setScanHook', { body: { url: 'https://hooks.example.com/scan' } });
  const waiting = await uploaded(bob, from);
  const { id } = await bob.api.call('sendMessage', { room: from, body: { attachmentId: waiting } });
  const early = (await forward(alice, to, id)).attachment;
  assert.equal(early?.scan, 'PENDING');
  await assertRefused(fetching(carl, early.id), 409, 'SVC_ATTACHMENT_NOT_SCANNED');
  await say('CLEAN', waiting);
  await fetching(carl, early.id);
  await api.call('removeScanHook');
});
