import type { Environment } from '@parley/contract';
import { eventually } from './eventually.ts';
import type { TestProject } from './people.ts';
import { joinAs, mint, newRoom } from './rooms.ts';
import type { TestService } from './service.ts';
import { openSignal } from './signal-client.ts';

/** One thing of every kind that a route can name, all of one project and environment. */
export interface World {
  apiKey: string;
  /** By the name a path parameter has. */
  ids: Readonly<Record<string, string>>;
  chatToken: string;
  /** Speaks for somebody in another conversation of the same project. */
  narrowChatToken: string;
  /** Reads only. */
  readChatToken: string;
  rtcToken: string;
}

const WEBHOOK_URL = 'https://hooks.example.com/parley';

/** Makes a world through the public API, by the owner and an API key of the environment. */
export async function createWorld(
  service: TestService,
  project: TestProject,
  environment: Environment,
): Promise<World> {
  const apiKey = await project.newKey(environment);
  const api = service.as(apiKey);
  const room = await newRoom(api);
  const conversation = await api.call('createConversation', { body: { name: 'world', members: ['ada', 'grace'] } });
  const elsewhere = await api.call('createConversation', { body: { name: 'elsewhere', members: ['ada'] } });
  const message = await api.call('sendMessage', { room: conversation.id, body: { text: 'x', senderId: 'ada' } });
  await api.call('addReaction', { messageId: message.id, body: { emoji: '👍', userId: 'ada' } });
  const { attachment } = await api.call('requestAttachment', {
    room: conversation.id,
    body: { filename: 'a.txt', mimeType: 'text/plain', size: 1, uploaderId: 'ada' },
  });
  const stream = await api.call('createLiveStream', { body: { title: 'world', hostIdentity: 'ada' } });
  const rtc = await api.call('mintRtcToken', { roomId: room.id, body: { participantIdentity: 'ada' } });
  const { projectId, owner } = { projectId: project.id, owner: project.owner.api };
  const webhook = await owner.call('createWebhook', { projectId, body: { url: WEBHOOK_URL, environment } });
  await owner.call('testWebhook', { projectId, webhookId: webhook.id });
  const [delivery] = await owner.call('listDeliveries', { projectId, webhookId: webhook.id });
  const client = await joinAs(service, api, room, 'grace');
  const [connection] = await api.call('listConnections', {});
  const { publicId } = await owner.call('createApiKey', { projectId, body: { name: 'world', environment } });
  const token = (body: object) => api.call('mintChatToken', { body: { userId: 'ada', ...body } });
  const [whole, narrow, reading] = await Promise.all([
    token({}),
    token({ conversations: [elsewhere.id] }),
    token({ scopes: ['chat:read'] }),
  ]);
  client.close();
  const refused = await openSignal(service.url, (await mint(api, room, 'eve', { permissions: { join: false } })).token);
  refused.send({ type: 'join', connectionId: 'refused' });
  const error = await eventually(async () => (await api.call('listErrors', {}))[0] ?? false);
  refused.close();
  return {
    apiKey,
    chatToken: whole.token,
    narrowChatToken: narrow.token,
    readChatToken: reading.token,
    rtcToken: rtc.token,
    ids: {
      projectId,
      id: room.id,
      roomId: room.id,
      tokenId: rtc.id,
      identity: 'grace',
      trackId: 'track_x',
      room: conversation.id,
      conversationId: conversation.id,
      messageId: message.id,
      attachmentId: attachment.id,
      emoji: '👍',
      streamId: stream.id,
      webhookId: webhook.id,
      deliveryId: delivery?.id ?? '',
      connectionId: connection?.id ?? '',
      errorId: error === false ? '' : error.id,
      publicId,
      userId: 'ada',
      name: 'node-1',
    },
  };
}
