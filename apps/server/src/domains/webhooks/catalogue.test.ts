import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { addWebhook, settle } from '../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import {
  hasValidSignature,
  hasValidStandardSignature,
  type ReceivedRequest,
  startReceiver,
  type TestReceiver,
} from '../../../testkit/peers/receiver.ts';

let service: TestService;
let project: TestProject;
let receiver: TestReceiver;
before(async () => {
  service = await sharedService();
  project = await service.newProject();
  receiver = await startReceiver();
});
after(async () => {
  await receiver.close();
});

/** The catalogue as the specification and the contract write it, by hand: our own table is what is tested. */
const reaction = ['conversationId', 'messageId', 'userId', 'emoji', 'count', 'at'];
const catalogue: Record<string, string[]> = {
  'live_stream.created': ['streamId', 'title', 'visibility', 'hostIdentity', 'createdAt'],
  'live_stream.started': ['streamId', 'startedAt'],
  'live_stream.ended': ['streamId', 'endedAt', 'durationMs'],
  'live_stream.host_joined': ['streamId', 'identity', 'role', 'at'],
  'live_stream.host_left': ['streamId', 'identity', 'at'],
  'live_stream.viewer_joined': ['streamId', 'identity', 'at'],
  'live_stream.viewer_left': ['streamId', 'identity', 'at'],
  'message.created': ['conversationId', 'roomId', 'message'],
  'message.updated': ['conversationId', 'message', 'previousEditedAt', 'at'],
  'message.deleted': ['conversationId', 'messageId', 'senderId', 'deletedBy', 'deletedAt', 'message'],
  'reaction.added': reaction,
  'reaction.removed': reaction,
  'conversation.created': ['conversation', 'members'],
  'member.added': ['conversationId', 'userId', 'role', 'reactivated', 'at'],
  'member.removed': ['conversationId', 'userId', 'removedBy', 'at'],
};

interface Arrived {
  type: string;
  data: Record<string, unknown>;
  request: ReceivedRequest;
}

async function arrived(): Promise<Arrived[]> {
  await settle(service);
  return eventually(() => {
    const events: Arrived[] = receiver.requests.map((request) => ({ ...JSON.parse(request.body.toString()), request }));
    assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(Object.keys(catalogue)));
    return events;
  });
}

async function liveAStream(): Promise<string> {
  const { api } = project;
  const { id: streamId } = await api.call('createLiveStream', { body: { title: 'Launch', hostIdentity: 'ada' } });
  await api.call('registerHost', { streamId, body: { identity: 'grace' } });
  await api.call('startLiveStream', { streamId });
  await api.call('createViewerToken', { streamId, body: { identity: 'vera' } });
  await api.call('leaveLiveStream', { streamId, body: { identity: 'vera' } });
  await api.call('removeHost', { streamId, identity: 'grace' });
  await api.call('endLiveStream', { streamId });
  return streamId;
}

async function talk(): Promise<string> {
  const { api } = project;
  const { id: room } = await api.call('createConversation', { body: { name: 'talk', members: ['alice'] } });
  await api.call('addConversationMember', { room, body: { userId: 'bob' } });
  const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'first words', senderId: 'alice' } });
  await api.call('editMessage', { messageId, body: { text: 'better words' } });
  await api.call('addReaction', { messageId, body: { emoji: '👍', userId: 'bob' } });
  await api.call('removeReaction', { messageId, emoji: '👍', query: { userId: 'bob' } });
  await api.call('deleteMessage', { messageId });
  await api.call('removeConversationMember', { room, userId: 'bob' });
  return room;
}

/** With a program that is not ours. */
function opensslSays(request: ReceivedRequest, secret: string): string {
  const time = /^t=(\d+),/.exec(String(request.headers['svc-signature']))?.[1];
  const input = Buffer.concat([Buffer.from(`${time}.`), request.body]);
  const printed = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret], { input }).toString();
  return `t=${time},v1=${/([0-9a-f]{64})/.exec(printed)?.[1]}`;
}

test('[WH-20] the fifteen events arrive by what causes them, each with exactly its fields and a good signature', async () => {
  const { secret } = await addWebhook(project, { url: receiver.url, events: Object.keys(catalogue) });
  const streamId = await liveAStream();
  const conversationId = await talk();
  const events = await arrived();

  for (const { type, data, request } of events) {
    assert.deepEqual(Object.keys(data).sort(), catalogue[type]?.toSorted(), type);
    assert.ok(hasValidSignature(request, secret, Date.now() / 1000), type);
    assert.ok(hasValidStandardSignature(request, secret, Date.now() / 1000), type);
    assert.equal(request.headers['svc-signature'], opensslSays(request, secret), type);
  }

  // The stream has a conversation of its own, with its own creation and members.
  const ofType = (type: string): Record<string, unknown> =>
    events.find(
      ({ type: each, data }) => each === type && (data['conversationId'] ?? conversationId) === conversationId,
    )?.data ?? {};
  for (const { type, data } of events) {
    if (type.startsWith('live_stream.')) assert.equal(data['streamId'], streamId, type);
  }
  assert.partialDeepStrictEqual(ofType('live_stream.host_joined'), { identity: 'grace', role: 'CO_HOST' });
  assert.partialDeepStrictEqual(ofType('live_stream.viewer_left'), { identity: 'vera' });
  assert.ok(Number(ofType('live_stream.ended')['durationMs']) >= 0);
  assert.partialDeepStrictEqual(ofType('message.updated'), {
    conversationId,
    previousEditedAt: null,
    message: { text: 'better words', edited: true },
  });
  assert.partialDeepStrictEqual(ofType('message.deleted'), {
    senderId: 'alice',
    message: { text: null, deleted: true, metadata: {}, reactions: [] },
  });
  assert.partialDeepStrictEqual(ofType('reaction.removed'), { userId: 'bob', emoji: '👍', count: 0 });
  assert.partialDeepStrictEqual(ofType('member.added'), { userId: 'bob', role: 'MEMBER', reactivated: false });
  assert.deepEqual(
    events.filter(({ type, data }) => type !== 'live_stream.created' && 'title' in data),
    [],
    'the title is told once',
  );
});
