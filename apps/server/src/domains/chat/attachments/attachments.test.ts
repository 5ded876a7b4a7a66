import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { AttachmentUpload } from '@parley/contract';
import { parse } from 'content-disposition';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { isDuplicate } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';
import { markCompleted } from './attachment-store.ts';
import { cleanFilename, isInlineType } from './filenames.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
});

const file = { filename: 'notes.txt', mimeType: 'text/plain', size: 5 };
/** Signed URLs are on PUBLIC_URL; the test reaches the same server by its address. */
const here = (url: string): string => url.replace(/^https?:\/\/[^/]+/, service.url);

const put = (upload: Pick<AttachmentUpload, 'uploadUrl'>, body: BodyInit = 'hello', type = 'text/plain', extra = '') =>
  fetch(`${here(upload.uploadUrl)}${extra}`, { method: 'PUT', headers: { 'content-type': type }, body });

test('[ATT-8] while the store is away a file is unavailable, not gone', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const upload = await alice.api.call('requestAttachment', { room, body: file });
  await put(upload);
  const { id: attachmentId } = await alice.api.call('completeAttachment', { attachmentId: upload.attachment.id });
  const { url } = await alice.api.call('getAttachmentDownload', { attachmentId });
  const folder = join(service.config.dataDir, 'blobs');
  await rename(folder, `${folder}-away`);
  const refused = await fetch(here(url));
  assert.deepEqual(
    [refused.status, refused.headers.get('retry-after'), ((await refused.json()) as { code: string }).code],
    [503, '2', 'SVC_STORAGE_UNAVAILABLE'],
  );
  await rename(`${folder}-away`, folder);
  assert.equal(await (await fetch(here(url))).text(), 'hello');
});

test('[ATT-8] an upload that the store cannot take is answered, however much of it is still on its way', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const size = 8 * 1024 * 1024;
  const upload = await alice.api.call('requestAttachment', { room, body: { ...file, size } });
  const folder = join(service.config.dataDir, 'blobs');
  await rename(folder, `${folder}-away`);
  await writeFile(folder, '');
  const refused = await put(upload, new Uint8Array(size));
  assert.deepEqual(
    [refused.status, ((await refused.json()) as { code: string }).code],
    [503, 'SVC_STORAGE_UNAVAILABLE'],
  );
  await rm(folder);
  await rename(`${folder}-away`, folder);
  const attachmentId = upload.attachment.id;
  await assertRefused(alice.api.call('completeAttachment', { attachmentId }), 409, 'SVC_ATTACHMENT_NOT_UPLOADED');
  assert.equal((await put(upload, new Uint8Array(size))).status, 204);
});

test('[ATT-8] while the store is away no URL leads to it, and nothing is stored', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const upload = await alice.api.call('requestAttachment', { room, body: file });
  await put(upload);
  const { id: attachmentId } = await alice.api.call('completeAttachment', { attachmentId: upload.attachment.id });
  const request = () => alice.api.call('requestAttachment', { room, body: file });
  const download = () => alice.api.call('getAttachmentDownload', { attachmentId });
  const stored = () =>
    service.adapters.db.query(sql`
      select a.id from attachments a join conversations c on c.id = a.conversation_id where c.public_id = ${room}`);
  const folder = join(service.config.dataDir, 'blobs');
  await rename(folder, `${folder}-away`);
  await writeFile(folder, '');
  // A look at the store answers for a moment.
  await eventually(() => assertRefused(download(), 503, 'SVC_STORAGE_UNAVAILABLE'));
  await assertRefused(request(), 503, 'SVC_STORAGE_UNAVAILABLE');
  assert.deepEqual(await stored(), [{ id: attachmentId }]);
  await rm(folder);
  await rename(`${folder}-away`, folder);
  await eventually(request);
  await download();
});

test('[ATT-1] a file is asked for, uploaded, completed, sent and downloaded', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const upload = await alice.api.call('requestAttachment', { room, body: file });
  assert.deepEqual(
    [upload.method, upload.headers, upload.attachment.status],
    ['PUT', { 'Content-Type': 'text/plain' }, 'PENDING'],
  );
  const attachmentId = upload.attachment.id;
  const complete = () => alice.api.call('completeAttachment', { attachmentId });
  const sendIt = () => alice.api.call('sendMessage', { room, body: { attachmentId } });
  await assertRefused(complete(), 409, 'SVC_ATTACHMENT_NOT_UPLOADED');
  await assertRefused(sendIt(), 409, 'SVC_ATTACHMENT_NOT_READY');
  assert.equal((await put(upload)).status, 204);
  const done = await complete();
  assert.deepEqual([done.status, done.checksum?.startsWith('sha256:2cf24dba')], ['UPLOADED', true]);
  assert.equal((await complete()).status, 'UPLOADED');
  const bob = await chat.user('bob');
  await assertRefused(bob.api.call('getAttachmentDownload', { attachmentId }), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  const message = await sendIt();
  assert.deepEqual(
    [message.type, message.attachment?.status, message.attachment?.messageId],
    ['attachment', 'ATTACHED', message.id],
  );
  await assertRefused(sendIt(), 409, 'SVC_ATTACHMENT_ALREADY_USED');
  const { url } = await bob.api.call('getAttachmentDownload', { attachmentId });
  const served = await fetch(here(url));
  assert.equal(await served.text(), 'hello');
  assert.deepEqual(
    ['content-type', 'x-content-type-options', 'content-security-policy', 'content-disposition'].map((name) =>
      served.headers.get(name),
    ),
    ['text/plain', 'nosniff', "sandbox; default-src 'none'", 'attachment; filename=notes.txt'],
  );
  assert.match(served.headers.get('x-request-id') ?? '', /^req_/);
  await alice.api.call('deleteMessage', { messageId: message.id });
  await assertRefused(bob.api.call('getAttachmentDownload', { attachmentId }), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  assert.equal((await fetch(here(url))).status, 404);
  assert.equal(await service.service.chat.sweep.attachments(), 1);
});

test('[ATT-1] after its time a file is neither completed nor sent nor fetched, swept or not', async () => {
  const { id: room } = await chat.conversation();
  const { api } = chat.project;
  const { db } = service.adapters;
  const upload = await api.call('requestAttachment', { room, body: file });
  await put(upload);
  const { id: attachmentId } = upload.attachment;
  const at = new Date().toISOString();
  const endAt = (time: string) =>
    db.execute(sql`update attachments set expires_at = ${time} where id = ${attachmentId}`);
  const complete = () => api.call('completeAttachment', { attachmentId });
  const assertGone = (call: Promise<unknown>) => assertRefused(call, 404, 'SVC_ATTACHMENT_NOT_FOUND');
  await endAt(at);
  await assertGone(complete());
  const late = {
    blobKey: `chat/${attachmentId}/0`,
    checksum: 'sha256:00',
    at,
    expiresAt: at,
    isMedia: false,
    isScanned: false,
  };
  assert.equal(await markCompleted(db, attachmentId, late), false, 'its time ended while the file was looked at');
  await endAt(new Date(Date.now() + 3_600_000).toISOString());
  await complete();
  await endAt(at);
  await assertGone(api.call('getAttachmentDownload', { attachmentId }));
  await assertGone(api.call('sendMessage', { room, body: { attachmentId } }));
});

test('[ATT-2] a signed URL is good for exactly what was signed, and an upload for once', async () => {
  const { id: room } = await chat.conversation();
  const { api } = chat.project;
  const request = () => api.call('requestAttachment', { room, body: file });
  const upload = await request();
  const other = await request();
  const moved = here(upload.uploadUrl).replace(upload.attachment.id, other.attachment.id);
  const later = here(upload.uploadUrl).replace(/exp=(\d+)/, (_, exp) => `exp=${Number(exp) + 1}`);
  for (const url of [moved, later, here(upload.uploadUrl).slice(0, -2), here(upload.uploadUrl).split('?')[0] ?? '']) {
    const refused = await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'hello' });
    assert.equal(refused.status, 403, url);
  }
  for (const id of ['%00', 'att_%00', '%EF%BF%BF', 'att_nobody']) {
    const url = here(upload.uploadUrl).replace(upload.attachment.id, id);
    const refused = await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'hello' });
    assert.equal(refused.status, 403, url);
    assert.equal((await fetch(url.replace('/uploads/', '/downloads/'))).status, 403, url);
  }
  const asDownload = here(upload.uploadUrl).replace('/uploads/', '/downloads/');
  assert.equal((await fetch(asDownload)).status, 403);
  assert.equal((await put(upload, 'hello', 'text/html')).status, 403);
  assert.equal((await put(upload, 'too long')).status, 409);
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1024)),
  });
  const chunked = await fetch(here(upload.uploadUrl), {
    method: 'PUT',
    headers: { 'content-type': 'text/plain' },
    body: endless,
    duplex: 'half',
  } as RequestInit).then(
    ({ status }) => status,
    () => 409,
  );
  assert.equal(chunked, 409);
  assert.equal((await put(upload)).status, 204);
  assert.equal((await put(upload, 'other')).status, 403);
  await api.call('completeAttachment', { attachmentId: upload.attachment.id });
  assert.equal((await put(upload, 'other')).status, 403);
});

test('[ATT-3] size, name and type are checked before a URL is given', async () => {
  const { id: room } = await chat.conversation();
  const request = (extra: object) => chat.project.api.call('requestAttachment', { room, body: { ...file, ...extra } });
  await assertRefused(request({ size: 26_214_401 }), 413, 'SVC_ATTACHMENT_TOO_LARGE');
  assert.equal((await request({ size: 26_214_400 })).attachment.size, 26_214_400);
  for (const extra of [
    { size: 0 },
    { size: -1 },
    { size: 1.5 },
    { filename: '' },
    { mimeType: 'nonsense' },
    { mimeType: '' },
  ]) {
    await assertRefused(request(extra), 400, 'SVC_VALIDATION_FAILED');
  }
  assert.equal((await request({ filename: '../../etc/pass\u202ewd' })).attachment.filename, 'passwd');
});

test('[ATT-4] an attachment belongs to its conversation and its uploader', async () => {
  const [one, two] = [await chat.conversation(), await chat.conversation()];
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  const upload = await alice.api.call('requestAttachment', { room: one.id, body: { ...file, uploaderId: 'bob' } });
  assert.equal(upload.attachment.uploaderId, 'alice');
  const nobodys = { room: one.id, body: { ...file, uploaderId: 'no identity' } };
  assert.equal((await alice.api.call('requestAttachment', nobodys)).attachment.uploaderId, 'alice');
  await assertRefused(chat.project.api.call('requestAttachment', nobodys), 400, 'SVC_VALIDATION_FAILED');
  const attachmentId = upload.attachment.id;
  await put(upload);
  await assertRefused(bob.api.call('completeAttachment', { attachmentId }), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  await alice.api.call('completeAttachment', { attachmentId });
  const send = (api: typeof bob.api, room: string) => api.call('sendMessage', { room, body: { attachmentId } });
  await assertRefused(send(bob.api, one.id), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  await assertRefused(send(alice.api, two.id), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  await chat.project.api.call('removeConversationMember', { room: one.id, userId: 'bob' });
  for (const route of ['completeAttachment', 'getAttachmentDownload'] as const) {
    await assertRefused(bob.api.call(route, { attachmentId }), 403, 'SVC_NOT_A_MEMBER');
    const elsewhere = await chat.user('bob', { conversations: [two.id] });
    await assertRefused(elsewhere.api.call(route, { attachmentId }), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  }
  const other = await createChatKit(service);
  await assertRefused(
    other.project.api.call('getAttachmentDownload', { attachmentId }),
    404,
    'SVC_ATTACHMENT_NOT_FOUND',
  );
  const sends = await Promise.allSettled(Array.from({ length: 20 }, () => send(alice.api, one.id)));
  assert.equal(sends.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('[ATT-6] a repeat that names a file does not give it to two others', async () => {
  const { id: room } = await chat.conversation();
  const { api } = chat.project;
  await api.call('sendMessage', { room, body: { text: 'first', clientMessageId: 'c0' } });
  const upload = await api.call('requestAttachment', { room, body: file });
  await put(upload);
  const { id: attachmentId } = await api.call('completeAttachment', { attachmentId: upload.attachment.id });
  const sends = await Promise.allSettled(
    Array.from({ length: 12 }, (_, at) =>
      api.call('sendMessage', { room, body: { attachmentId, clientMessageId: `c${at}` } }),
    ),
  );
  const sent = sends.flatMap((send) => (send.status === 'fulfilled' ? [send.value] : []));
  assert.deepEqual(sent.map((message) => message.attachmentId === attachmentId).sort(), [false, true]);
  const { messages } = await api.call('listMessages', { room });
  assert.equal(messages.length, 2);
});

test('[ATT-6] the database refuses a second message with the same file', async () => {
  const { id: room } = await chat.conversation();
  const { api } = chat.project;
  const upload = await api.call('requestAttachment', { room, body: file });
  await put(upload);
  const { id: attachmentId } = await api.call('completeAttachment', { attachmentId: upload.attachment.id });
  await api.call('sendMessage', { room, body: { attachmentId } });
  const { id } = await api.call('sendMessage', { room, body: { text: 'another' } });
  const twice = service.adapters.db.execute(sql`update messages set attachment_id = ${attachmentId} where id = ${id}`);
  await assert.rejects(twice, (error) => isDuplicate(error, 'messages_attachment'));
});

test('[ATT-5] names are harmless and scripts are never shown inline', () => {
  assert.equal(cleanFilename('C:\\x\\evil\u0000.exe'), 'evil.exe');
  assert.equal(cleanFilename('..'), 'file');
  assert.ok(Buffer.byteLength(cleanFilename('€'.repeat(255))) <= 255);
  for (const type of ['image/svg+xml', 'text/html', 'application/xml', 'application/pdf'])
    assert.ok(!isInlineType(type));
  assert.ok(isInlineType('image/PNG; x=y'));
});

test('[ATT-5] a name with quotes, umlauts or percent signs arrives as it was', async () => {
  const { id: room } = await chat.conversation();
  const { api } = chat.project;
  for (const filename of ['Übersicht "1".txt', '50%20.txt', 'a; filename=b.txt']) {
    const upload = await api.call('requestAttachment', { room, body: { ...file, filename } });
    await put(upload);
    const { id: attachmentId } = await api.call('completeAttachment', { attachmentId: upload.attachment.id });
    const { url } = await api.call('getAttachmentDownload', { attachmentId });
    const header = (await fetch(here(url))).headers.get('content-disposition') ?? '';
    const { type, parameters } = parse(header);
    assert.deepEqual([type, parameters['filename']], ['attachment', filename]);
  }
});

test('[CONV-6] an archived conversation takes no file from anybody, nor does a guest complete one', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const upload = await alice.api.call('requestAttachment', { room, body: file });
  await put(upload);
  const attachmentId = upload.attachment.id;
  const complete = () => alice.api.call('completeAttachment', { attachmentId });
  const { api } = chat.project;
  await api.call('updateConversation', { room, body: { status: 'ARCHIVED' } });
  await assertRefused(complete(), 409, 'SVC_CONVERSATION_ARCHIVED');
  await assertRefused(api.call('completeAttachment', { attachmentId }), 409, 'SVC_CONVERSATION_ARCHIVED');
  await api.call('updateConversation', { room, body: { status: 'ACTIVE' } });
  await api.call('changeConversationMember', { room, userId: 'alice', body: { role: 'GUEST' } });
  await assertRefused(complete(), 403, 'SVC_FORBIDDEN');
  await api.call('changeConversationMember', { room, userId: 'alice', body: { role: 'MEMBER' } });
  assert.equal((await complete()).status, 'UPLOADED');
});
