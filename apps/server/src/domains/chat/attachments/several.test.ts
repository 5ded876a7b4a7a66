import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { AttachmentUpload } from '@parley/contract';
import { assertRefused, type ChatOf, type ChatUser, createChatKit, refusal } from '../../../../testkit/chat/chat.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let service: TestService;
let chat: ChatOf;
let alice: ChatUser;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
  alice = await chat.user('alice');
});

const put = ({ uploadUrl }: AttachmentUpload) =>
  fetch(uploadUrl.replace(/^https?:\/\/[^/]+/, service.url), {
    method: 'PUT',
    headers: { 'content-type': 'text/plain' },
    body: 'hello',
  });

async function upload(room: string, filename: string, by = alice.api, metadata = {}): Promise<string> {
  const body = { filename, mimeType: 'text/plain', size: 5, metadata };
  const ticket = await by.call('requestAttachment', { room, body });
  assert.equal((await put(ticket)).status, 204);
  return (await by.call('completeAttachment', { attachmentId: ticket.attachment.id })).id;
}

const uploadAll = (room: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, at) => upload(room, `${at}.txt`)));

test('[ATT-11] a message carries up to ten files, in order; `attachment` is the first, and one file is as it always was', async () => {
  const { id: room } = await chat.conversation();
  const ids = await uploadAll(room, 10);
  const message = await alice.api.call('sendMessage', { room, body: { attachmentIds: ids } });
  assert.deepEqual([message.type, message.attachmentId, message.attachment?.id], ['attachment', ids[0], ids[0]]);
  const shown = (files: typeof message.attachments) => files?.map(({ id, status }) => [id, status]);
  const all = ids.map((id) => [id, 'ATTACHED']);
  assert.deepEqual(shown(message.attachments), all);
  const { messages } = await alice.api.call('listMessages', { room });
  assert.deepEqual(shown(messages[0]?.attachments), all);
  assert.deepEqual(shown((await alice.api.call('getMessage', { messageId: message.id })).attachments), all);
  const edited = await alice.api.call('editMessage', { messageId: message.id, body: { text: 'all of them' } });
  assert.deepEqual(shown(edited.attachments), all);
  const bob = await chat.user('bob');
  for (const attachmentId of ids.slice(8)) await bob.api.call('getAttachmentDownload', { attachmentId });

  const one = await upload(room, 'one.txt');
  const single = await alice.api.call('sendMessage', { room, body: { attachmentIds: [one], text: 'one' } });
  assert.deepEqual([single.attachmentId, shown(single.attachments)], [one, [[one, 'ATTACHED']]]);
  const plain = await alice.api.call('sendMessage', { room, body: { text: 'none' } });
  assert.equal('attachments' in plain, false);

  const deleted = await alice.api.call('deleteMessage', { messageId: message.id });
  assert.deepEqual([deleted.attachment, 'attachments' in deleted], [null, false]);
  for (const attachmentId of ids)
    await assertRefused(bob.api.call('getAttachmentDownload', { attachmentId }), 404, 'SVC_ATTACHMENT_NOT_FOUND');
});

test('[ATT-11] all files of a message are taken, or none: each by the rules of one', async () => {
  const { id: room } = await chat.conversation();
  const [first = '', second = '', third = ''] = await uploadAll(room, 3);
  const send = (...attachmentIds: string[]) => alice.api.call('sendMessage', { room, body: { attachmentIds } });
  const bob = await chat.user('bob');
  const ofBob = await upload(room, 'bob.txt', bob.api);
  const elsewhere = await upload((await chat.conversation()).id, 'other.txt');
  const pending = (
    await alice.api.call('requestAttachment', { room, body: { filename: 'x', mimeType: 'text/plain', size: 5 } })
  ).attachment.id;
  await assertRefused(send(first, ofBob), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  await assertRefused(send(first, elsewhere), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  await assertRefused(send(first, 'att_nothing'), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  await assertRefused(send(first, pending), 409, 'SVC_ATTACHMENT_NOT_READY');
  for (const body of [
    { attachmentIds: [first, first] },
    { attachmentId: first, attachmentIds: [second] },
    { attachmentIds: [] },
    { attachmentIds: Array.from({ length: 11 }, (_, at) => `att_${at}`) },
  ])
    assert.equal((await refusal(alice.api.call('sendMessage', { room, body }))).status, 400);
  // What was refused has used nothing up; of many who send a file at once, one does.
  const outcomes = await Promise.allSettled([
    send(first, second),
    send(second, third),
    send(third, first),
    alice.api.call('sendMessage', { room, body: { attachmentId: second } }),
  ]);
  const taken = outcomes.flatMap((one) => (one.status === 'fulfilled' ? (one.value.attachments ?? []) : []));
  assert.equal(new Set(taken.map(({ id }) => id)).size, taken.length);
  assert.ok(taken.length > 0);
  const large = { note: 'x'.repeat(3_000) };
  const noted = [await upload(room, 'a', alice.api, large), await upload(room, 'b', alice.api, large)];
  await assertRefused(send(...noted), 400, 'SVC_METADATA_TOO_LARGE');
  await assertRefused(send(noted[0] ?? '', taken[0]?.id ?? ''), 409, 'SVC_ATTACHMENT_ALREADY_USED');
});
