import assert from 'node:assert/strict';
import { createApi } from '@parley/server';
import { openDatabase } from '../../src/adapters/open.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/core/log.ts';
import { hasValidSignature, type ReceivedRequest, startReceiver } from '../peers/receiver.ts';
import { eventually } from './eventually.ts';
import { startService, type TestService } from './service.ts';

/** A data folder, and a PostgreSQL if it is not embedded: what is left when the service has stopped. */
export interface Place {
  dataDir: string;
  databaseUrl: string | null;
}

export const variablesOf = ({ dataDir, databaseUrl }: Place): Record<string, string> => ({
  DATA_DIR: dataDir,
  LOG_LEVEL: 'silent',
  ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
});

/** The service on a place that outlives it. */
export async function startMachine(place: Place): Promise<TestService> {
  const { DATABASE_URL: _, ...env } = variablesOf(place);
  const db = await openDatabase(readConfig(variablesOf(place)), createLog('silent'));
  try {
    const service = await startService({ env, db });
    return {
      ...service,
      async stop() {
        await service.stop();
        await db.close();
      },
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** What somebody who used a machine remembers of it. */
export interface Memory {
  email: string;
  password: string;
  projectId: string;
  apiKey: string;
  room: string;
  texts: readonly string[];
  attachmentId: string;
  file: string;
  webhookId: string;
  webhookSecret: string;
}

/** Uses a machine: an account, a project, a webhook, a conversation with a file. */
export async function inhabit(service: TestService, hook: string): Promise<Memory> {
  const owner = await service.newPerson('keeper');
  const { id: projectId, apiKey, api } = await service.newProject(owner);
  const { id: webhookId, secret: webhookSecret } = await owner.api.call('createWebhook', {
    projectId,
    body: { url: hook, events: ['message.created'], environment: 'DEVELOPMENT' },
  });
  const { id: room } = await api.call('createConversation', { body: { name: 'kept', members: ['ada', 'bob'] } });
  const texts = ['first', 'second “with marks”, \\ and a\nline', 'third 🙂'];
  for (const text of texts) await api.call('sendMessage', { room, body: { senderId: 'ada', text } });
  const file = 'bytes of a file';
  const upload = await api.call('requestAttachment', {
    room,
    body: { filename: 'kept.txt', mimeType: 'text/plain', size: file.length, uploaderId: 'ada' },
  });
  await fetch(atService(service, upload.uploadUrl), {
    method: 'PUT',
    headers: { 'content-type': 'text/plain' },
    body: file,
  });
  const { id: attachmentId } = await api.call('completeAttachment', { attachmentId: upload.attachment.id });
  const { email, password } = owner;
  return { email, password, projectId, apiKey, room, texts, attachmentId, file, webhookId, webhookSecret };
}

const atService = ({ url }: TestService, signed: string): string => signed.replace(/^https?:\/\/[^/]+/, url);

/** It goes on as if nothing had happened: sign-in, history, files, a message, and its webhook under the same secret. */
export async function assertGoesOn(service: TestService, memory: Memory): Promise<void> {
  const { email, password, projectId, room, texts, apiKey, attachmentId, webhookId } = memory;
  const { accessToken } = await createApi({ baseUrl: service.url }).call('login', { body: { email, password } });
  const api = service.as(apiKey);
  const history = await api.call('listMessages', { room, query: {} });
  const textsOf = (page: typeof history) => page.messages.map(({ text }) => text).toReversed();
  assert.deepEqual(textsOf(history), texts);
  const { url } = await api.call('getAttachmentDownload', { attachmentId });
  assert.equal(await (await fetch(atService(service, url))).text(), memory.file);

  const receiver = await startReceiver();
  try {
    // Where the first endpoint was, somebody else may be by now.
    await service.as(accessToken).call('updateWebhook', { projectId, webhookId, body: { url: receiver.url } });
    const sent = await api.call('sendMessage', {
      room,
      body: { senderId: 'bob', text: 'goes on', attachmentId },
    });
    assert.equal(sent.seq, texts.length + 1);
    const isOurs = ({ body }: { body: Buffer }): boolean => body.includes('goes on');
    await eventually(() => assert.ok(receiver.requests.some(isOurs)));
    const isSigned = (request: ReceivedRequest) => hasValidSignature(request, memory.webhookSecret, Date.now() / 1000);
    assert.ok(receiver.requests.every(isSigned));
  } finally {
    await receiver.close();
  }
}
