import assert from 'node:assert/strict';
import type { Api } from '@parley/server';
import { eventually, processWorkMs } from '../../apps/server/testkit/kit/eventually.ts';
import { eventIn } from '../../apps/server/testkit/peers/receiver.ts';
import type { Scene } from './scene.ts';

/** What is written beside messages, who complains of them, and what becomes of them. */
export async function liveWithMoreOfChat(scene: Scene, api: Api, ada: Api, room: string, messageId: string) {
  await ada.call('setDraft', { room, body: { text: 'later' } });
  await ada.call('blockUser', { blockedId: 'mallory' });
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const scheduled = await ada.call('scheduleMessage', { room, body: { text: 'later', sendAt } });
  const { token } = await api.call('mintChatToken', { body: { userId: 'grace' } });
  // Of another's message: who moderates has no reports of their own (MOD-29).
  const spam = await scene.as(token).call('sendMessage', { room, body: { text: 'spam' } });
  const report = await ada.call('reportMessage', { messageId: spam.id, body: { reason: 'spam' } });
  const deletion = await api.call('deleteUserMessages', { userId: 'nobody', body: {} });
  const job = await api.call('exportUser', { userId: 'nobody' });
  const { secret } = await api.call('setModerationHook', { body: { url: `${scene.outside.receiver.url}/hook` } });
  const scanner = await liveWithScanner(scene, api, ada, room);
  // In the words of the message: where those may not be, the question may not be either.
  const { text } = await ada.call('getMessage', { messageId });
  const poll = { question: text ?? '', options: ['yes', 'no'], closesAt: sendAt };
  const asked = await ada.call('sendMessage', { room, body: { poll } });
  await ada.call('castVote', { messageId: asked.id, body: { optionIds: [1] } });
  await ada.call('sendMessage', { room, body: { forward: { messageId } } });
  const ids = {
    messageId: asked.id,
    scheduledId: scheduled.id,
    reportId: report.id,
    deletionId: deletion.id,
    jobId: job.id,
    blockedId: 'mallory',
  };
  return { hookSecret: secret ?? assert.fail('a new hook shows its secret'), scanner, ids };
}

/** A scanner that is asked about a file, by a link that is for it alone. */
async function liveWithScanner(scene: Scene, api: Api, ada: Api, room: string) {
  const { receiver } = scene.outside;
  const { secret } = await api.call('setScanHook', { body: { url: `${receiver.url}/scan` } });
  const body = { filename: 'scanned.txt', mimeType: 'text/plain', size: 1 };
  const { attachment, uploadUrl, headers } = await ada.call('requestAttachment', { room, body });
  assert.ok((await scene.fetch(uploadUrl, { method: 'PUT', headers, body: 'x' })).ok);
  await ada.call('completeAttachment', { attachmentId: attachment.id });
  const asked = await eventually(() => receiver.requests.find(({ path }) => path.endsWith('/scan')) ?? assert.fail(), {
    withinMs: processWorkMs,
  });
  const url = String(eventIn(asked).data['url']);
  assert.equal(await (await scene.fetch(url)).text(), 'x');
  return { secret: secret ?? assert.fail('a new scanner shows its secret'), signature: signatureIn(url) };
}

export const signatureIn = (url: string): string => {
  const { searchParams } = new URL(url);
  return searchParams.get('sig') ?? searchParams.get('X-Amz-Signature') ?? '';
};
