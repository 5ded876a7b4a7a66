import assert from 'node:assert/strict';
import { ApiError } from '@parley/server';
import { type ChatOf, subscribe } from '../chat/chat.ts';
import type { TestService } from '../kit/service.ts';

/** Caps and uniques with many concurrent callers: always exact. */
export interface CrowdStage {
  service: TestService;
  /** Another process on the same data. */
  second: TestService;
  chat: ChatOf;
  /** How many call at once; more than 50. */
  crowd: number;
}

/** How often each outcome came: 'ok' or the code of the refusal. */
async function outcomesOf(calls: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.allSettled(calls)) {
    if (outcome.status === 'rejected' && !(outcome.reason instanceof ApiError)) throw outcome.reason;
    const name = outcome.status === 'fulfilled' ? 'ok' : (outcome.reason as ApiError).code;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const atOnce = <T>(crowd: number, call: (at: number) => Promise<T>): Promise<T>[] =>
  Array.from({ length: crowd }, (_, at) => call(at));

const lastChange = async ({ chat }: CrowdStage, room: string): Promise<number> =>
  (await chat.project.api.call('listChanges', { room, query: { limit: 100 } })).change;

/** They create a conversation of one name: one is made. */
export async function createOneName({ chat, crowd }: CrowdStage): Promise<void> {
  const { api } = chat.project;
  const outcomes = await outcomesOf(atOnce(crowd, () => api.call('createConversation', { body: { name: 'the-one' } })));
  assert.deepEqual(outcomes, { ok: 1, SVC_CONVERSATION_NAME_TAKEN: crowd - 1 });
}

/** They open the direct conversation of the same people, by two processes and in any order: one is made. */
export async function openOneDirect({ chat, crowd, second }: CrowdStage): Promise<void> {
  const { api, apiKey } = chat.project;
  const apis = [api, second.as(apiKey)];
  const people = ['ann', 'ben', 'cem', 'dia'];
  const replies = await Promise.all(
    atOnce(crowd, (at) => {
      const userIds = [...people.slice(at % 4), ...people.slice(0, at % 4)];
      return (apis[at % 2] ?? api).request('openDirectConversation', { body: { userIds } });
    }),
  );
  assert.equal(replies.filter(({ status }) => status === 201).length, 1);
  assert.equal(new Set(replies.map(({ body: { id } }) => id)).size, 1);
  const { memberCount } = await api.call('getConversation', { room: replies[0]?.body.id ?? '' });
  assert.equal(memberCount, people.length);
}

/** They add one user: one member, one change. */
export async function addOneMember(stage: CrowdStage): Promise<void> {
  const { chat, crowd } = stage;
  const { id: room } = await chat.conversation([]);
  const { api } = chat.project;
  const replies = await Promise.all(
    atOnce(crowd, () => api.request('addConversationMember', { room, body: { userId: 'carol' } })),
  );
  assert.equal(replies.filter(({ status }) => status === 201).length, 1);
  const { memberCount } = await api.call('getConversation', { room });
  assert.deepEqual([memberCount, await lastChange(stage, room)], [1, 1]);
}

/** They retry one send: one message, one answer, no number lost. */
export async function retryOneMessage(stage: CrowdStage): Promise<void> {
  const { chat, crowd } = stage;
  const { id: room } = await chat.conversation([]);
  const body = { text: 'once', senderId: 'alice', clientMessageId: 'k' };
  const replies = await Promise.all(atOnce(crowd, () => chat.project.api.request('sendMessage', { room, body })));
  assert.equal(replies.filter(({ status }) => status === 201).length, 1);
  assert.equal(new Set(replies.map(({ body: { id } }) => id)).size, 1);
  const { messageCount } = await chat.project.api.call('getConversation', { room });
  assert.deepEqual([messageCount, await lastChange(stage, room)], [1, 1]);
}

/** They send one attachment: one message has it. */
export async function sendOneAttachment({ chat, crowd, service }: CrowdStage): Promise<void> {
  const { id: room } = await chat.conversation([]);
  const { api } = chat.project;
  const file = { filename: 'a.txt', mimeType: 'text/plain', size: 5 };
  const { attachment, uploadUrl } = await api.call('requestAttachment', { room, body: file });
  const here = uploadUrl.replace(/^https?:\/\/[^/]+/, service.url);
  await fetch(here, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'hello' });
  await api.call('completeAttachment', { attachmentId: attachment.id });
  const outcomes = await outcomesOf(
    atOnce(crowd, () => api.call('sendMessage', { room, body: { attachmentId: attachment.id } })),
  );
  assert.deepEqual(outcomes, { ok: 1, SVC_ATTACHMENT_ALREADY_USED: crowd - 1 });
  assert.equal((await api.call('getConversation', { room })).messageCount, 1);
}

/** They begin uploads of one user over two processes: exactly 50 are begun, and none counts in the other environment. */
export async function beginUploads({ chat, crowd, second, service }: CrowdStage): Promise<void> {
  const { id: room } = await chat.conversation([]);
  const body = { filename: 'a.txt', mimeType: 'text/plain', size: 5, uploaderId: 'carol' };
  const apis = [service, second].map((process) => process.as(chat.project.apiKey));
  const request = (at: number) => (apis[at % 2] ?? assert.fail()).call('requestAttachment', { room, body });
  assert.deepEqual(await outcomesOf(atOnce(crowd, request)), { ok: 50, SVC_RATE_LIMITED: crowd - 50 });
  const production = service.as(await chat.project.newKey('PRODUCTION'));
  const other = await production.call('createConversation', { body: { name: 'uploads' } });
  await production.call('requestAttachment', { room: other.id, body });
}

/** They mark different messages as read: the furthest stays. */
export async function markRead({ chat, crowd }: CrowdStage): Promise<void> {
  const { id: room } = await chat.conversation(['alice']);
  const { api } = chat.project;
  const sent = await Promise.all(
    Array.from({ length: 20 }, () => api.call('sendMessage', { room, body: { text: 'x' } })),
  );
  await Promise.all(
    atOnce(crowd, (at) => {
      const { id: messageId } = sent[(at * 7) % sent.length] ?? assert.fail('no message');
      return api.call('markRead', { messageId, body: { userId: 'alice' } });
    }),
  );
  const { lastReadSeq, unreadCount } = await api.call('getReadState', { room, query: { userId: 'alice' } });
  assert.deepEqual([lastReadSeq, unreadCount], [20, 0]);
}

/** 400 subscriptions on one socket: exactly 20 are there. */
export async function subscribeAtOnce({ chat }: CrowdStage): Promise<void> {
  const rooms = await Promise.all(Array.from({ length: 40 }, () => chat.conversation(['alice'])));
  const client = await (await chat.user('alice')).connect();
  const asks = Array.from({ length: 10 }, () =>
    client.ask({ type: 'subscribe', conversations: rooms.map(({ id: ref }) => ({ ref })) }),
  );
  const answers = (await Promise.all(asks)).flatMap((ack) => {
    const { conversations } = ack['data'] as { conversations: { ref: string; code?: string }[] };
    return conversations;
  });
  assert.equal(answers.length, 400);
  const held = new Set(answers.filter(({ code }) => code === undefined).map(({ ref }) => ref));
  const refused = answers.filter(({ code }) => code === 'SUBSCRIPTION_LIMIT');
  assert.deepEqual([held.size, refused.length], [20, 400 - 10 * 20]);
  await client.ask({ type: 'unsubscribe', conversations: [[...held][0] ?? ''] });
  const [spare] = rooms.filter(({ id }) => !held.has(id));
  assert.equal((await subscribe(client, spare?.id ?? ''))['code'], undefined);
  await client.close();
}
