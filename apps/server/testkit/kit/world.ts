import assert from 'node:assert/strict';
import type { Environment, Room, RouteName } from '@parley/contract';
import type { Api } from '@parley/server';
import { mediaOffer } from '../clients/media-offer.ts';
import { joinAs, mint, newRoom } from '../clients/rooms.ts';
import { openSignal } from '../clients/signal-client.ts';
import { createSoftPasskey } from '../clients/soft-passkey.ts';
import { eventually } from './eventually.ts';
import type { Person, TestProject } from './people.ts';
import type { TestService } from './service.ts';

type Ids = Readonly<Record<string, string>>;

/** What routes can name. */
export interface Named {
  /** By the name a path parameter has. */
  ids: Ids;
  /** Where one name means different things: by the route. */
  idsOfRoute: Readonly<Partial<Record<RouteName, Ids>>>;
}

/** One thing of every kind that a route can name, all of one project and environment. */
export interface World extends Named {
  apiKey: string;
  /** Of the owner of the conversation. */
  chatToken: string;
  chat: ChatTokens;
  rtcToken: string;
  /** Has a second factor, the passkey, and nothing to do with the project. */
  holder: Person;
  /** For the same room, and may not join it. */
  joinlessRtcToken: string;
  /** Ends the participant that is in the room meanwhile. */
  leave(): Promise<void>;
}

/** Chat tokens that may less than the owner's. */
export interface ChatTokens {
  /** Speaks for the owner, in another conversation of the same project only. */
  elsewhere: string;
  /** The owner's, with `chat:read` alone. */
  reading: string;
  /** The owner's, with `chat:send` alone. */
  sending: string;
  /** Of a plain member. */
  member: string;
  /** Of a former member. */
  removed: string;
}

/** Owns the conversation, sent its message and hosts the stream; the same user in every world. */
export const OWNER = 'ada';
const WEBHOOK_URL = 'https://hooks.example.com/parley';
let worldNumber = 0;

/** Makes a world through the public API, by the owner and an API key of the environment. */
export async function createWorld(
  service: TestService,
  project: TestProject,
  environment: Environment,
): Promise<World> {
  const apiKey = await project.newKey(environment);
  const api = service.as(apiKey);
  // Members, participants and hosts: nobody of another world has this name.
  const guest = `guest-${++worldNumber}`;
  const room = await createRoomPart(service, api, guest);
  const callId = await someCall(service, project, environment, room.client);
  const chat = await createChatPart(service, api, guest);
  const stream = await api.call('createLiveStream', { body: { title: 'world', hostIdentity: OWNER } });
  await api.call('registerHost', { streamId: stream.id, body: { identity: guest } });
  const ofProject = await createProjectPart(project, environment, guest);
  const holder = await newHolder(service);
  const data = await createDataPart(api, guest);
  return {
    apiKey,
    holder: holder.person,
    chatToken: chat.token,
    chat: chat.tokens,
    rtcToken: room.token,
    joinlessRtcToken: room.joinlessToken,
    ids: {
      ...room.ids,
      ...chat.ids,
      ...ofProject.ids,
      ...data.ids,
      callId,
      requestId: await someRequest(project, environment),
      passkeyId: holder.passkeyId,
      streamId: stream.id,
      identity: guest,
      userId: guest,
      name: 'node-1',
    },
    idsOfRoute: { ...room.idsOfRoute, ...chat.idsOfRoute, ...ofProject.idsOfRoute, ...data.idsOfRoute },
    leave: () => room.client.close(),
  };
}

/** The room of a world, with somebody in it. */
export async function createRoomPart(service: TestService, api: Api, guest: string) {
  const room = await newRoom(api);
  const own = await mint(api, room, OWNER);
  const client = await joinAs(service, api, room, guest);
  // As every client does: who is silent for 30 s is taken for gone.
  const beat = setInterval(() => (client.closed ? clearInterval(beat) : client.send({ type: 'ping', t: 0 })), 5_000);
  beat.unref();
  const [trackId] = await client.publish('AUDIO');
  const [connection] = await api.call('listConnections', { query: { roomId: room.id } });
  const joinless = await mint(api, room, `joinless-${guest}`, { permissions: { publish: true, join: false } });
  const sessionId = await joinPlainly(service, room, own.token);
  return {
    client,
    token: own.token,
    joinlessToken: joinless.token,
    ids: {
      id: room.id,
      roomId: room.id,
      tokenId: own.id,
      trackId: known(trackId),
      connectionId: known(connection).id,
      errorId: await someError(service, api, joinless.token, guest),
    },
    idsOfRoute: {
      trickleWhip: { sessionId },
      trickleWhep: { sessionId },
      endWhip: { sessionId },
      endWhep: { sessionId },
    },
  };
}

/** Joins by WHIP, and gives the id of the session. */
async function joinPlainly(service: TestService, room: Room, token: string): Promise<string> {
  const answer = await service.fetch(`/v1/rooms/${room.id}/whip`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/sdp' },
    body: mediaOffer('sendonly'),
  });
  assert.equal(answer.status, 201, await answer.clone().text());
  return known(answer.headers.get('location')?.split('/').at(-1));
}

/** Any request of the environment that is in the log. */
function someRequest({ id: projectId, owner }: TestProject, environment: Environment): Promise<string> {
  return eventually(async () => {
    const [request] = await owner.api.call('listProjectRequests', { projectId, query: { environment } });
    return known(request).requestId;
  });
}

/** A report of how the call was makes it one that can be read. */
async function someCall(
  service: TestService,
  { id: projectId, owner }: TestProject,
  environment: Environment,
  { token, connectionId }: Awaited<ReturnType<typeof joinAs>>,
): Promise<string> {
  const body = { connectionId, type: 'stats.sample' as const, data: { everyMs: 5_000, count: 1, tracks: [] } };
  await eventually(async () => (await service.as(token).call('sendTelemetry', { body })).accepted);
  return known((await owner.api.call('listProjectCalls', { projectId, query: { environment } }))[0]).id;
}

/** A join that is refused leaves an error. */
async function someError(service: TestService, api: Api, token: string, guest: string): Promise<string> {
  const connectionId = `refused-${guest}`;
  const refused = await openSignal(service.url, token);
  refused.send({ type: 'join', connectionId });
  const error = await eventually(async () => known((await api.call('listErrors', { query: { connectionId } }))[0]));
  await refused.close();
  return error.id;
}

async function createChatPart(service: TestService, api: Api, guest: string) {
  // A user whom a route shuts out or silences is nobody whom another route needs.
  const punished = { userId: `punished-${guest}` };
  const members = [{ userId: OWNER, role: 'OWNER' as const }, guest, `removed-${guest}`, punished.userId];
  const conversation = await api.call('createConversation', { body: { name: `world-${guest}`, members } });
  const elsewhere = await api.call('createConversation', { body: { name: `elsewhere-${guest}`, members: [OWNER] } });
  const room = conversation.id;
  await api.call('removeConversationMember', { room, userId: `removed-${guest}` });
  const message = await api.call('sendMessage', { room, body: { text: 'x', senderId: OWNER } });
  await api.call('addReaction', { messageId: message.id, body: { emoji: '👍', userId: OWNER } });
  const ask = async () => {
    const poll = { question: 'x', options: ['a', 'b'] };
    return { messageId: (await api.call('sendMessage', { room, body: { poll, senderId: OWNER } })).id };
  };
  const asked = await ask();
  const token = async (userId: string, body: object = {}) =>
    (await api.call('mintChatToken', { body: { userId, ...body } })).token;
  const spare = await api.call('mintChatToken', { body: { userId: OWNER } });
  const device = await api.call('putPushDevice', { body: { kind: 'FCM', token: `of-${room}`, userId: OWNER } });
  await api.call('putChatUser', { userId: guest, body: { name: guest } });
  await api.call('setDraft', { room, query: { userId: OWNER }, body: { text: 'x' } });
  const sendAt = new Date(Date.now() + 86_400_000).toISOString();
  const scheduled = async () =>
    (await api.call('scheduleMessage', { room, body: { text: 'x', senderId: OWNER, sendAt } })).id;
  // By the owner of the conversation: who moderates decides about others only (MOD-29).
  const { id: reported } = await api.call('sendMessage', { room, body: { text: 'x', senderId: guest } });
  const reader = service.as(await token(OWNER));
  const report = await reader.call('reportMessage', { messageId: reported, body: { reason: 'spam' } });
  const deletion = await api.call('deleteUserMessages', punished);
  await api.call('setModerationHook', { body: { url: WEBHOOK_URL, timeoutMs: 100 } });
  const attachmentId = await uploadedFile(api, room);
  // Completed before there is a scanner: it need not wait for one.
  await api.call('completeAttachment', { attachmentId });
  await api.call('setScanHook', { body: { url: WEBHOOK_URL, timeoutMs: 100 } });
  return {
    idsOfRoute: {
      revokeChatToken: { tokenId: spare.id },
      cancelScheduled: { scheduledId: await scheduled() },
      castVote: asked,
      retractVote: asked,
      listPollVotes: asked,
      closePoll: await ask(),
      banFromConversation: punished,
      muteInConversation: punished,
      banFromChat: punished,
      muteInChat: punished,
      shadowInConversation: punished,
      shadowInChat: punished,
      deleteUserMessages: punished,
      deleteProjectUserMessages: punished,
    },
    token: await token(OWNER),
    tokens: {
      elsewhere: await token(OWNER, { conversations: [elsewhere.id] }),
      reading: await token(OWNER, { scopes: ['chat:read'] }),
      sending: await token(OWNER, { scopes: ['chat:send'] }),
      member: await token(guest),
      removed: await token(`removed-${guest}`),
    },
    ids: {
      room,
      conversationId: room,
      messageId: message.id,
      attachmentId,
      deviceId: device.id,
      scheduledId: await scheduled(),
      reportId: report.id,
      deletionId: deletion.id,
      blockedId: `blocked-${guest}`,
      emoji: '👍',
    },
  };
}

/** A user who is erased by a route is nobody: the others go on being named. */
async function createDataPart(api: Api, guest: string) {
  const line = {
    kind: 'conversation',
    externalId: guest,
    name: `import-${guest}`,
    createdAt: '2020-01-01T00:00:00.000Z',
  };
  const body = JSON.stringify(line);
  const { job, uploadUrl, headers } = await api.call('importConversations', { body: { size: body.length } });
  const put = await fetch(uploadUrl, { method: 'PUT', headers, body });
  assert.equal(put.status, 204);
  return {
    ids: { jobId: (await api.call('exportUser', { userId: `exported-${guest}` })).id },
    idsOfRoute: { eraseUser: { userId: `nobody-${guest}` }, startImport: { jobId: job.id } },
  };
}

async function uploadedFile(api: Api, room: string): Promise<string> {
  const { attachment, uploadUrl, headers } = await api.call('requestAttachment', {
    room,
    body: { filename: 'a.txt', mimeType: 'text/plain', size: 1, uploaderId: OWNER },
  });
  const answer = await fetch(uploadUrl, { method: 'PUT', headers, body: 'x' });
  assert.ok(answer.ok, await answer.text());
  return attachment.id;
}

async function createProjectPart({ id: projectId, owner }: TestProject, environment: Environment, guest: string) {
  const { api } = owner;
  const webhook = await api.call('createWebhook', { projectId, body: { url: WEBHOOK_URL, environment } });
  const delivery = await api.call('testWebhook', { projectId, webhookId: webhook.id });
  const { publicId } = await api.call('createApiKey', { projectId, body: { name: 'world', environment } });
  // Revoked: where a key signs, a token that nobody has shown may exist, and none is unknown.
  const signingKey = { name: 'world', environment, algorithm: 'HS256' as const };
  const { id: signingKeyId } = await api.call('createSigningKey', { projectId, body: signingKey });
  await api.call('revokeSigningKey', { projectId, signingKeyId });
  const alert = await api.call('createProjectAlert', {
    projectId,
    query: { environment },
    body: { name: 'world', kind: 'NODE_OFFLINE' },
  });
  const email = `${guest}-${webhook.id.slice(-8)}@example.com`.toLowerCase();
  await api.call('addProjectMember', { projectId, body: { email, role: 'VIEWER' } });
  const [session] = await api.call('listSessions', {});
  const member = { userId: email };
  const cutOffUser = { userId: `shut-out-${guest}` };
  return {
    ids: { projectId, webhookId: webhook.id, deliveryId: delivery.id, publicId, signingKeyId, alertId: alert.id },
    idsOfRoute: {
      endSession: { sessionId: known(session).id },
      changeProjectMember: member,
      removeProjectMember: member,
      // Nobody whom the world needs.
      revokeUser: cutOffUser,
      unbanUser: cutOffUser,
    },
  };
}

/** A person who has a passkey. */
export async function newHolder(service: TestService): Promise<{ person: Person; passkeyId: string }> {
  const person = await service.newPerson('holder');
  const { origin } = new URL(service.config.publicUrl);
  const credential = createSoftPasskey(origin).create(await person.api.call('startPasskey'));
  const { passkey } = await person.api.call('addPasskey', { body: { name: 'Passkey', credential } });
  return { person, passkeyId: passkey.id };
}

/** Nothing in a world may be missing: a test about a foreign object would then be about none. */
function known<T>(thing: T | undefined | null | ''): T {
  assert.ok(thing, 'a part of the world was not made');
  return thing;
}
