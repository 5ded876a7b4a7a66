import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, createChatKit, refusal } from '../../testkit/chat/chat.ts';
import { startService, type TestService } from '../../testkit/kit/service.ts';

const env = {
  PROJECTS_MAX_PER_ACCOUNT: '8',
  WEBHOOK_MAX_ENDPOINTS: '3',
  CHAT_MAX_CONVERSATIONS: '3',
  STORAGE_MAX_BYTES_PER_USER: '25',
  STORAGE_MAX_BYTES_PER_PROJECT: '45',
  CHAT_UPLOAD_RATE_LIMIT: '12',
  INVITATIONS_MAX_PER_SENDER: '6',
  INVITATIONS_MAX_PER_ADDRESS: '2',
};
let service: TestService;
before(async () => {
  service = await startService({ env });
});
after(() => service.stop());

/** How many of ten at once were done; the others must be refused for this quota. */
async function doneOfTen(quota: keyof typeof env, make: (at: number) => Promise<unknown>): Promise<number> {
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, async (_, at) => {
      const making = make(at);
      const isDone = await making.then(() => true).catch(() => false);
      return isDone ? null : await refusal(making);
    }),
  );
  for (const refused of outcomes)
    if (refused)
      assert.deepEqual(
        [refused.status, refused.code, refused.body['quota'], refused.body['limit']],
        [403, 'SVC_QUOTA_EXCEEDED', quota, Number(env[quota])],
      );
  return outcomes.filter((refused) => refused === null).length;
}

test('[PRJ-7] an account owns so many projects; an archived one makes room', async () => {
  const { api } = await service.newPerson();
  const create = () => api.call('createProject', { body: { name: 'One of many' } });
  assert.equal(await doneOfTen('PROJECTS_MAX_PER_ACCOUNT', create), 8);
  const [first] = await api.call('listProjects', { query: {} });
  await api.call('archiveProject', { projectId: first?.id ?? '' });
  await create();
  await assertRefused(create(), 403, 'SVC_QUOTA_EXCEEDED');
});

test('[PRJ-7] a project has so many webhook endpoints; a deleted one makes room', async () => {
  const { id: projectId, owner } = await service.newProject();
  const create = (at: number) =>
    owner.api.call('createWebhook', {
      projectId,
      body: { url: `https://example.com/${at}`, environment: 'DEVELOPMENT' },
    });
  assert.equal(await doneOfTen('WEBHOOK_MAX_ENDPOINTS', create), 3);
  const [first] = await owner.api.call('listWebhooks', { projectId });
  await owner.api.call('deleteWebhook', { projectId, webhookId: first?.id ?? '' });
  await create(11);
  await assertRefused(create(12), 403, 'SVC_QUOTA_EXCEEDED');
});

test('[PRJ-7] an environment has so many conversations, those of streams too; an erased one makes room', async () => {
  const { api } = await service.newProject();
  const create = (at: number) => api.call('createConversation', { body: { name: `conversation-${at}` } });
  assert.equal(await doneOfTen('CHAT_MAX_CONVERSATIONS', create), 3);
  const body = { title: 'A stream', hostIdentity: 'host' };
  await assertRefused(api.call('createLiveStream', { body }), 403, 'SVC_QUOTA_EXCEEDED');
  const [first] = await api.call('listConversations', { query: {} });
  await api.call('deleteConversation', { room: first?.id ?? '' });
  await api.call('createLiveStream', { body });
  await assertRefused(create(11), 403, 'SVC_QUOTA_EXCEEDED');
});

const file = { filename: 'a.txt', mimeType: 'text/plain', size: 10 };

test('[ATT-10] the files of a user take so many bytes, until they are deleted', async () => {
  const chat = await createChatKit(service);
  const { id: room } = await chat.conversation(['ada', 'bob']);
  const ada = await chat.user('ada');
  const request = () => ada.api.call('requestAttachment', { room, body: file });
  assert.equal(await doneOfTen('STORAGE_MAX_BYTES_PER_USER', request), 2);
  const { db } = service.adapters;
  await db.script("update attachments set expires_at = '2020-01-01' where uploader_id = 'ada' and size = 10");
  await service.service.chat.sweep.attachments();
  await request();
  // Eleven of the twelve that a window has are used.
  await request();
  await assertRefused(request(), 429, 'SVC_RATE_LIMITED');
});

test('[ATT-10] the files of an environment take so many bytes, no matter who uploads them', async () => {
  const chat = await createChatKit(service);
  const { id: room } = await chat.conversation(['ada', 'bob']);
  const request = (at: number) =>
    chat.project.api.call('requestAttachment', { room, body: { ...file, uploaderId: `user-${at}` } });
  assert.equal(await doneOfTen('STORAGE_MAX_BYTES_PER_PROJECT', request), 4);
});

test('[PRJ-8] invitations are bounded by sender and by address; accounts are added freely', async () => {
  const { id: projectId, owner } = await service.newProject(await service.newPerson());
  const invite = (email: string) => owner.api.call('addProjectMember', { projectId, body: { email, role: 'VIEWER' } });
  const target = 'flooded@example.com';
  for (let at = 0; at < 2; at++) {
    const { email } = await invite(target);
    await invite(target);
    await owner.api.call('removeProjectMember', { projectId, userId: email });
  }
  await assertRefused(invite(target), 429, 'SVC_RATE_LIMITED');
  const other = await service.newProject(await service.newPerson());
  await assertRefused(
    other.owner.api.call('addProjectMember', { projectId: other.id, body: { email: target, role: 'VIEWER' } }),
    429,
    'SVC_RATE_LIMITED',
  );
  // The refused one counts for its sender too.
  for (let at = 0; at < 3; at++) await invite(`somebody-${at}@example.com`);
  await assertRefused(invite('one-too-many@example.com'), 429, 'SVC_RATE_LIMITED');
  const { email } = await service.newPerson();
  assert.equal((await invite(email)).status, 'ACTIVE');
});
