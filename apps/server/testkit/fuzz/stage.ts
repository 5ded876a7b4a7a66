import assert from 'node:assert/strict';
import type { Credential } from '@parley/contract';
import type { Api } from '@parley/server';
import { codeAt } from '../clients/factors.ts';
import { mediaOffer } from '../clients/media-offer.ts';
import { joinAs, joinPlainly, mint, newRoom, type RoomsService } from '../clients/rooms.ts';
import type { SocketClient } from '../clients/socket-client.ts';
import type { Person, TestProject } from '../kit/people.ts';
import { createWorld, newHolder, OWNER, type World } from '../kit/world.ts';
import type { Hints } from './values.ts';

/** What one route is asked with: ids that exist, and a credential of every kind it may take. */
export interface Props {
  ids: Hints;
  bearers: Readonly<Record<Exclude<Credential, 'none'>, string>>;
  headers?: Readonly<Record<string, string>>;
}

/** A world, and for every route that ends or changes something for good a thing of its own to end. */
export interface Stage {
  world: World;
  props(route: string): Promise<Props>;
  close(): Promise<void>;
}

export const SDP_OFFER = mediaOffer('sendonly');
const FILE = 'x'.repeat(16);
let named = 0;
const newName = (): string => `stage-${++named}`;

/** A new owner each time: what one round ended is of no use to the next. */
export async function createStage(service: RoomsService, operator: Person): Promise<Stage> {
  const owner = await service.newPerson('owner');
  const project = await service.newProject(owner);
  const world = await createWorld(service, project, 'DEVELOPMENT');
  // A key of its own: what the fuzz spends of a budget is not missing here.
  const api = service.as(await project.newKey('DEVELOPMENT'));
  const member = await project.member('VIEWER');
  const stranger = await service.newPerson('stranger');
  const stream = await newStream(api, { isLive: true });
  const clients: SocketClient[] = [];
  const seat = async () => {
    const taken = await takeSeat(service, api);
    clients.push(taken.client);
    return taken.ids;
  };
  const common: Props = {
    ids: {
      ...world.ids,
      ...(await seat()),
      ...stream,
      userId: OWNER,
      email: stranger.email,
      password: 'long enough',
      url: 'https://hooks.example.com/other',
      senderId: 'ada',
      uploaderId: 'ada',
      hostIdentity: 'ada',
      participantIdentity: 'grace',
      threadRootId: world.ids['messageId'] ?? '',
      replyTo: world.ids['messageId'] ?? '',
      internalUrl: service.node.internalUrl,
      publicHost: '127.0.0.1',
      environment: 'DEVELOPMENT',
      mimeType: 'text/plain',
      since: new Date(service.clock.now() - 60_000).toISOString(),
    },
    bearers: {
      apiKey: world.apiKey,
      chatToken: world.chatToken,
      rtcToken: world.rtcToken,
      session: owner.accessToken,
      sfuSecret: service.config.sfuSecrets[0] ?? '',
    },
  };
  const own = createOwnThings({ service, project, operator, api, member, seat });

  return {
    world,
    async props(route) {
      const { ids = {}, bearers = {}, headers = {} } = (await own[route]?.()) ?? {};
      return { ids: { ...common.ids, ...ids }, bearers: { ...common.bearers, ...bearers }, headers };
    },
    async close() {
      await Promise.all([world.leave(), ...clients.map((client) => client.close())]);
    },
  };
}

type OwnThings = () => Promise<{
  ids?: Hints;
  bearers?: Partial<Props['bearers']>;
  headers?: Readonly<Record<string, string>>;
}>;

interface OwnDeps {
  service: RoomsService;
  project: TestProject;
  operator: Person;
  api: Api;
  member: Person;
  /** A room with grace in it, who publishes a track. */
  seat(): Promise<Hints>;
}

/** By route: what it would otherwise take from the routes after it, and what only it needs. */
function createOwnThings({ service, project, operator, api, member, seat }: OwnDeps): Record<string, OwnThings> {
  const { id: projectId, owner } = project;
  const person = async (): Promise<Person> => service.newPerson('guest');
  const room: OwnThings = async () => {
    const { id } = await newRoom(api);
    return { ids: { id, roomId: id } };
  };
  const ofParticipant: OwnThings = async () => ({ ids: await seat() });
  const conversation: OwnThings = async () => ({ ids: await newConversation(api) });
  const poll: OwnThings = async () => ({ ids: await newPoll(api) });
  const stream: OwnThings = async () => ({ ids: await newStream(api, { isLive: false }) });
  const webhook: OwnThings = async () => {
    const body = { url: 'https://hooks.example.com/own', environment: 'DEVELOPMENT' as const };
    return { ids: { webhookId: (await owner.api.call('createWebhook', { projectId, body })).id } };
  };
  const alert: OwnThings = async () => {
    const { id } = await api.call('createAlert', { body: { name: newName(), kind: 'NODE_OFFLINE' } });
    return { ids: { alertId: id, until: new Date(service.clock.now() + 60_000).toISOString() } };
  };
  const signedIn: OwnThings = async () => ({ headers: { cookie: await cookieOf(service, await person()) } });
  const plain = (way: 'whip' | 'whep', isIn: boolean): OwnThings => {
    return async () => {
      const room = await newRoom(api);
      const { token } = await mint(api, room, 'ada');
      const sessionId = isIn ? await joinPlainly(service, room.id, way, token) : '';
      return { ids: { id: room.id, sessionId }, bearers: { rtcToken: token } };
    };
  };
  const ofOperator: OwnThings = async () => ({ bearers: { session: operator.accessToken } });
  const aNode: OwnThings = async () => {
    const body = { name: newName(), region: 'default', publicHost: '127.0.0.1', internalUrl: 'http://127.0.0.1:1' };
    await service.as(service.config.sfuSecrets[0]).call('registerServer', { body });
    return { ids: { name: body.name } };
  };
  const withName: OwnThings = async () => ({ ids: { name: newName() } });
  const holder: OwnThings = async () => {
    const { person, passkeyId } = await newHolder(service);
    return { ids: { passkeyId }, bearers: { session: person.accessToken } };
  };
  const withApp = (isConfirmed: boolean): OwnThings => {
    return async () => {
      const { api, accessToken } = await person();
      const { secret } = await api.call('startTotp');
      const code = codeAt(secret, service.clock.now());
      if (isConfirmed) await api.call('confirmTotp', { body: { code } });
      return { ids: { code }, bearers: { session: accessToken } };
    };
  };
  const someUser: OwnThings = async () => ({ ids: { userId: newName() } });
  const aMember: OwnThings = async () => ({ ids: { userId: member.userId } });

  return {
    createRoom: withName,
    createProjectRoom: withName,
    createConversation: withName,
    login: async () => ({ ids: { email: member.email, password: member.password } }),
    refreshSession: signedIn,
    logout: signedIn,
    endSession: async () => {
      const guest = await person();
      const [session] = await guest.api.call('listSessions', {});
      return { ids: { sessionId: session?.id ?? '' }, bearers: { session: guest.accessToken } };
    },
    changePassword: async () => {
      const { accessToken, password } = await person();
      return { ids: { currentPassword: password }, bearers: { session: accessToken } };
    },
    startTotp: async () => ({ bearers: { session: (await person()).accessToken } }),
    confirmTotp: withApp(false),
    removeTotp: withApp(true),
    startPasskey: holder,
    addPasskey: holder,
    renamePasskey: holder,
    removePasskey: holder,
    renewRecoveryCodes: holder,
    stepUp: holder,
    endAllSessions: async () => ({ bearers: { session: (await person()).accessToken } }),
    archiveProject: async () => ({
      ids: { projectId: (await owner.api.call('createProject', { body: { name: 'to archive' } })).id },
    }),
    changeProjectMember: aMember,
    removeProjectMember: aMember,
    drainServer: ofOperator,
    undrainServer: ofOperator,
    registerServer: async () => ({ ids: { name: 'node-fuzz' } }),
    deregisterServer: aNode,
    // It may say that it leaves, or where it is reached: not for the node that the rooms are on.
    heartbeatServer: aNode,
    closeRoom: room,
    closeProjectRoom: room,
    removeParticipant: ofParticipant,
    removeProjectParticipant: ofParticipant,
    updateParticipant: ofParticipant,
    updateProjectParticipant: ofParticipant,
    muteTrack: ofParticipant,
    muteProjectTrack: ofParticipant,
    revokeRtcToken: async () => {
      const room = await newRoom(api);
      return { ids: { roomId: room.id, tokenId: (await mint(api, room, 'ada')).tokenId } };
    },
    revokeChatToken: async () => {
      const { tokenId } = await api.call('mintChatToken', { body: { userId: newName() } });
      return { ids: { tokenId } };
    },
    deletePushDevice: async () => {
      const body = { kind: 'FCM' as const, token: newName(), userId: 'ada' };
      return { ids: { deviceId: (await api.call('putPushDevice', { body })).id } };
    },
    publishByWhip: plain('whip', false),
    watchByWhep: plain('whep', false),
    trickleWhip: plain('whip', true),
    trickleWhep: plain('whep', true),
    endWhip: plain('whip', true),
    endWhep: plain('whep', true),
    startLiveStream: stream,
    endLiveStream: stream,
    endProjectLiveStream: stream,
    registerHost: async () => ({ ids: { identity: newName() } }),
    removeHost: async () => {
      const made = await newStream(api, { isLive: true });
      const identity = newName();
      await api.call('registerHost', { streamId: made['streamId'] ?? '', body: { identity, role: 'CO_HOST' } });
      return { ids: { ...made, identity } };
    },
    revokeUser: someUser,
    eraseUser: someUser,
    getDataJob: async () => ({ ids: { jobId: (await api.call('exportUser', { userId: newName() })).id } }),
    startImport: async () => ({ ids: { jobId: await newImport(api) } }),
    updateWebhook: webhook,
    disableWebhook: webhook,
    deleteWebhook: webhook,
    deleteAlert: alert,
    deleteProjectAlert: alert,
    silenceAlert: alert,
    silenceProjectAlert: alert,
    addConversationMember: async () => ({ ids: { ...(await newConversation(api)), userId: newName() } }),
    removeReaction: async () => {
      const ids = await newConversation(api);
      await api.call('addReaction', { messageId: ids['messageId'] ?? '', body: { emoji: '👍', userId: 'ada' } });
      return { ids: { ...ids, userId: 'ada' } };
    },
    updateConversation: conversation,
    deleteConversation: conversation,
    changeConversationMember: conversation,
    removeConversationMember: conversation,
    deleteMessage: conversation,
    banFromConversation: conversation,
    unbanFromConversation: conversation,
    muteInConversation: conversation,
    unmuteInConversation: conversation,
    // Whom all chat loses, and whose messages go, is nobody's token.
    banFromChat: someUser,
    muteInChat: someUser,
    shadowInConversation: conversation,
    unshadowInConversation: conversation,
    shadowInChat: someUser,
    deleteUserMessages: someUser,
    deleteProjectUserMessages: someUser,
    deleteChatUser: async () => {
      const userId = newName();
      await api.call('putChatUser', { userId, body: {} });
      return { ids: { userId } };
    },
    reportMessage: async () => ({ ids: await newForeignMessage(api) }),
    resolveChatReport: async () => {
      const { messageId = '' } = await newForeignMessage(api);
      const { token } = await api.call('mintChatToken', { body: { userId: 'ada' } });
      const { id: reportId } = await service.as(token).call('reportMessage', { messageId, body: { reason: 'spam' } });
      return { ids: { reportId } };
    },
    castVote: poll,
    retractVote: poll,
    closePoll: poll,
    listPollVotes: poll,
    changeScheduled: async () => ({ ids: await newScheduled(api) }),
    cancelScheduled: async () => ({ ids: await newScheduled(api) }),
    completeAttachment: async () => ({ ids: await newAttachment(api, { isComplete: false }) }),
    getAttachmentDownload: async () => ({ ids: await newAttachment(api, { isComplete: true }) }),
  };
}

async function takeSeat(service: RoomsService, api: Api): Promise<{ client: SocketClient; ids: Hints }> {
  const room = await newRoom(api);
  const client = await joinAs(service, api, room, 'grace');
  const [trackId = ''] = await client.publish('AUDIO');
  return { client, ids: { id: room.id, roomId: room.id, identity: 'grace', trackId } };
}

/** Of ada, who may do everything in it, and grace; with a message of ada's. */
async function newConversation(api: Api): Promise<Hints> {
  const members = [{ userId: 'ada', role: 'OWNER' as const }, 'grace'];
  const { id: room } = await api.call('createConversation', { body: { name: newName(), members } });
  const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'x', senderId: 'ada' } });
  return { room, conversationId: room, messageId, userId: 'grace' };
}

/** In a conversation of ada's, by somebody who is nowhere else. */
async function newForeignMessage(api: Api): Promise<Hints> {
  const { room = '' } = await newConversation(api);
  const senderId = newName();
  return { room, messageId: (await api.call('sendMessage', { room, body: { text: 'x', senderId } })).id };
}

/** Of ada, who may vote in it. */
async function newPoll(api: Api): Promise<Hints> {
  const { room = '' } = await newConversation(api);
  const poll = { question: 'x', options: ['a', 'b'] };
  const { id: messageId } = await api.call('sendMessage', { room, body: { poll, senderId: 'ada' } });
  return { room, messageId, userId: 'ada' };
}

/** Of ada. */
async function newScheduled(api: Api): Promise<Hints> {
  const { room = '' } = await newConversation(api);
  const body = { text: 'x', senderId: 'ada', sendAt: new Date(Date.now() + 3_600_000).toISOString() };
  return { room, scheduledId: (await api.call('scheduleMessage', { room, body })).id };
}

async function newStream(api: Api, { isLive }: { isLive: boolean }): Promise<Hints> {
  const { id: streamId } = await api.call('createLiveStream', { body: { title: 'x', hostIdentity: 'ada' } });
  if (isLive) await api.call('startLiveStream', { streamId });
  return { streamId };
}

/** A file that is uploaded and not read yet. */
async function newImport(api: Api): Promise<string> {
  const { job, uploadUrl, headers } = await api.call('importConversations', { body: { size: FILE.length } });
  const stored = await fetch(uploadUrl, { method: 'PUT', headers, body: FILE });
  assert.equal(stored.status, 204, await stored.text());
  return job.id;
}

/** Uploaded by ada. */
export async function newAttachment(api: Api, { isComplete }: { isComplete: boolean }): Promise<Hints> {
  const { room = '' } = await newConversation(api);
  const body = { filename: 'a.txt', mimeType: 'text/plain', size: FILE.length, uploaderId: 'ada' };
  const { attachment, uploadUrl, headers } = await api.call('requestAttachment', { room, body });
  const stored = await fetch(uploadUrl, { method: 'PUT', headers, body: FILE });
  assert.equal(stored.status, 204, await stored.text());
  const attachmentId = attachment.id;
  if (isComplete) {
    const { scan } = await api.call('completeAttachment', { attachmentId });
    // No scanner answers for the project: its hook is there for the routes that ask for it.
    if (scan === 'PENDING') await api.call('setScanResult', { attachmentId, body: { result: 'CLEAN' } });
  }
  return { room, attachmentId };
}

/** The cookie of a sign-in. */
async function cookieOf(service: RoomsService, { email, password }: Person): Promise<string> {
  const response = await service.fetch('/v1/auth/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '10.99.0.1' },
    body: JSON.stringify({ email, password }),
  });
  assert.equal(response.status, 200, await response.text());
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}
