import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { startS3Server } from '../../../../testkit/peers/s3-server.ts';

/** Attachments on a store that signs its own URLs: files never pass through the service. */
let store: Awaited<ReturnType<typeof startS3Server>>;
let service: TestService;
let chat: ChatOf;
before(async () => {
  store = await startS3Server();
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = store.options;
  service = await startService({
    env: {
      S3_ENDPOINT: endpoint,
      S3_BUCKET: bucket,
      S3_REGION: region,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    },
  });
  chat = await createChatKit(service);
});
after(async () => {
  await service.stop();
  await store.close();
});

const file = { filename: 'report.txt', mimeType: 'text/plain', size: 5 };

test('[ATT-7] on S3 a file goes straight to the store and comes straight from it, by URLs signed for it alone', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const upload = await alice.api.call('requestAttachment', { room, body: file });
  assert.ok(upload.uploadUrl.startsWith(store.options.endpoint), upload.uploadUrl);
  const attachmentId = upload.attachment.id;
  await assertRefused(alice.api.call('completeAttachment', { attachmentId }), 409, 'SVC_ATTACHMENT_NOT_UPLOADED');

  const put = await fetch(upload.uploadUrl, { method: 'PUT', headers: upload.headers, body: 'hello' });
  assert.equal(put.status, 200, await put.text());
  const done = await alice.api.call('completeAttachment', { attachmentId });
  assert.deepEqual([done.status, done.size, done.checksum?.startsWith('sha256:2cf24dba')], ['UPLOADED', 5, true]);
  const message = await alice.api.call('sendMessage', { room, body: { attachmentId, text: 'see' } });
  assert.equal(message.attachment?.filename, 'report.txt');

  const bob = await chat.user('bob');
  const { url } = await bob.api.call('getAttachmentDownload', { attachmentId });
  assert.ok(url.startsWith(store.options.endpoint));
  const served = await fetch(url);
  assert.deepEqual([served.status, await served.text()], [200, 'hello']);
  assert.match(served.headers.get('content-disposition') ?? '', /^attachment; filename=report.txt$/);
  assert.equal((await fetch(url.replace(/X-Amz-Signature=\w{4}/, 'X-Amz-Signature=0000'))).status, 403);
});

test('[ATT-8] while S3 is away no URL leads to it', async () => {
  const { id: room } = await chat.conversation();
  const { api } = chat.project;
  const request = () => api.call('requestAttachment', { room, body: file });
  const upload = await request();
  await fetch(upload.uploadUrl, { method: 'PUT', headers: upload.headers, body: 'hello' });
  const { id: attachmentId } = await api.call('completeAttachment', { attachmentId: upload.attachment.id });
  const download = () => api.call('getAttachmentDownload', { attachmentId });
  store.setAway(true);
  await eventually(() => assertRefused(download(), 503, 'SVC_STORAGE_UNAVAILABLE'));
  await assertRefused(request(), 503, 'SVC_STORAGE_UNAVAILABLE');
  store.setAway(false);
  await eventually(request);
  await download();
});

test('[ATT-7] what was uploaded to S3 must be what was announced', async () => {
  const { id: room } = await chat.conversation();
  const { api } = chat.project;
  const upload = await api.call('requestAttachment', { room, body: file });
  // The length that is sent, not the one announced: with that, fetch waits forever for an answer to half a request.
  const headers = { 'content-type': file.mimeType };
  const refused = await fetch(upload.uploadUrl, { method: 'PUT', headers, body: 'hello, but longer' });
  assert.equal(refused.status, 403);
  const attachmentId = upload.attachment.id;
  await assertRefused(api.call('completeAttachment', { attachmentId }), 409, 'SVC_ATTACHMENT_NOT_UPLOADED');
  await assertRefused(api.call('sendMessage', { room, body: { attachmentId } }), 409, 'SVC_ATTACHMENT_NOT_READY');
});

test('[ATT-7] a file whose message is deleted is removed from S3', async () => {
  const { id: room } = await chat.conversation();
  const { api } = chat.project;
  const upload = await api.call('requestAttachment', { room, body: file });
  await fetch(upload.uploadUrl, { method: 'PUT', headers: upload.headers, body: 'hello' });
  const attachmentId = upload.attachment.id;
  await api.call('completeAttachment', { attachmentId });
  const { id: messageId } = await api.call('sendMessage', { room, body: { attachmentId } });
  const { url } = await api.call('getAttachmentDownload', { attachmentId });
  await api.call('deleteMessage', { messageId });
  await assertRefused(api.call('getAttachmentDownload', { attachmentId }), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  assert.equal(await service.service.chat.sweep.attachments(), 1);
  assert.equal((await fetch(url)).status, 404);
});

test('[ATT-7] after completion the upload URL changes nothing, for everyone who still has it', async () => {
  const { id: room } = await chat.conversation();
  const { api } = chat.project;
  const upload = await api.call('requestAttachment', { room, body: file });
  const put = (body: string) => fetch(upload.uploadUrl, { method: 'PUT', headers: upload.headers, body });
  const attachmentId = upload.attachment.id;
  const content = async () => {
    const { url } = await api.call('getAttachmentDownload', { attachmentId });
    return (await fetch(url)).text();
  };
  await put('hello');
  const completed = await Promise.all([1, 2, 3].map(() => api.call('completeAttachment', { attachmentId })));
  assert.deepEqual(new Set(completed.map(({ status }) => status)), new Set(['UPLOADED']));
  await put('other');
  assert.equal(await content(), 'hello');
  assert.equal((await api.call('completeAttachment', { attachmentId })).status, 'UPLOADED');
  const { id: messageId } = await api.call('sendMessage', { room, body: { attachmentId } });
  await put('third');
  assert.equal(await content(), 'hello');
  await api.call('deleteMessage', { messageId });
  await service.service.chat.sweep.attachments();
  assert.equal(await service.adapters.blobs.stat(`chat/${attachmentId}/0`), null);
});
