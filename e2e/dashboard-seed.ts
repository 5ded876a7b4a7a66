import type { Alert, Conversation, LiveStream, Room, Webhook } from '@parley/contract';
import { joinAs, type RoomsService } from '../apps/server/testkit/clients/rooms.ts';
import type { SignalClient } from '../apps/server/testkit/clients/signal-client.ts';
import { openSocket, type SocketClient } from '../apps/server/testkit/clients/socket-client.ts';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import { startReceiver, type TestReceiver } from '../apps/server/testkit/peers/receiver.ts';

/** A project in which something happens, made through the public doors. */
export interface LivelyProject {
  room: Room;
  webhook: Webhook;
  conversation: Conversation;
  stream: LiveStream;
  /** It fires. */
  alert: Alert;
  connectionId: string;
  errorId: string;
  callId: string;
  /** Of one that failed. */
  requestId: string;
  close(): Promise<void>;
}

export async function fillProject(service: RoomsService, project: TestProject): Promise<LivelyProject> {
  const room = await project.api.call('createRoom', { body: { name: 'standup' } });
  await project.api.call('createRoom', { body: { name: 'retro-2026.11' } });
  const people = [await joinAs(service, project.api, room, 'ada'), await joinAs(service, project.api, room, 'grace')];
  await Promise.all(people.map((person) => person.publish('AUDIO', 'VIDEO')));
  const stopBeating = await keepAlive(service, people);
  const { connectionId, errorId } = await failToConnect(service, project, room);
  const callId = await measure(service, project, people);
  const requestId = await failToAsk(project);
  const { webhook, receiver } = await tellSomebody(project);
  const { conversation, socket } = await talk(service, project, room);
  await moderate(service, project, conversation);
  await plan(service, project, conversation);
  const stream = await goLive(project);
  const alert = await sendTooMuch(service, project);
  return {
    room,
    webhook,
    conversation,
    stream,
    alert,
    connectionId,
    errorId,
    callId,
    requestId,
    async close() {
      stopBeating();
      for (const person of people) person.ws.terminate();
      socket.ws.terminate();
      await receiver.close();
    },
  };
}

/** Neither the node nor its participants fall silent while a test looks at them. */
async function keepAlive(service: RoomsService, people: readonly SignalClient[]): Promise<() => void> {
  const beat = async (): Promise<void> => {
    for (const person of people) person.send({ type: 'ping', t: service.clock.now() });
    await service.node.heartbeat(load);
  };
  await beat();
  const timer = setInterval(() => void beat().catch(() => {}), 4_000);
  return () => clearInterval(timer);
}

const load = {
  activeRooms: 1,
  activeParticipants: 2,
  cpuPercent: 12.5,
  memoryPercent: 31,
  networkInBps: 2_400_000,
  networkOutBps: 4_700_000,
};

/** Both tell how their call was: the first loses what it sends, and the second sees it stand still. */
async function measure(
  service: RoomsService,
  { id, owner }: TestProject,
  [ada, grace]: readonly (SignalClient & { token: string; connectionId: string })[],
): Promise<string> {
  const [kbps, rtt, jitter] = [
    [420, 380, 90, 400],
    [48, 51, 120, 50],
    [4, 5, 38, 6],
  ];
  const track = {
    id: 'tr_camera',
    kind: 'video',
    kbps,
    rtt,
    jitter,
    fps: [24, 23, 9, 24],
    height: [360, 360, 180, 360],
  };
  const told = [
    { of: ada, tracks: [{ ...track, way: 'out', loss: [0, 14, 12, 0] }] },
    { of: grace, tracks: [{ ...track, way: 'in', loss: [0, 2, 1, 0], freeze: [0, 3_000, 400, 0] }] },
  ];
  for (const { of, tracks } of told) {
    const data = { everyMs: 5_000, count: 4, bandwidth: [900, 700, 260, 800], tracks };
    const body = { connectionId: of?.connectionId ?? '', type: 'stats.sample' as const, data };
    await eventually(async () => (await service.as(of?.token ?? '').call('sendTelemetry', { body })).accepted);
  }
  const [call] = await owner.api.call('listProjectCalls', { projectId: id });
  return call?.id ?? '';
}

/** A backend that asks for a room that is not there. */
async function failToAsk({ id: projectId, owner, api }: TestProject): Promise<string> {
  await api.call('getRoom', { id: 'nowhere' }).catch(() => undefined);
  return eventually(async () => {
    const query = { code: 'SVC_ROOM_NOT_FOUND' };
    const [request] = await owner.api.call('listProjectRequests', { projectId, query });
    if (!request) throw new Error('not logged yet');
    return request.requestId;
  });
}

/** A client that tells how it could not get through its firewall. */
async function failToConnect(service: RoomsService, project: TestProject, room: Room) {
  const { token } = await project.api.call('mintRtcToken', { roomId: room.id, body: { participantIdentity: 'linus' } });
  const api = service.as(token);
  const connectionId = `firewalled-${room.id}`;
  const steps = ['signaling.connecting', 'signaling.connected', 'ice.checking', 'ice.failed'] as const;
  for (const [index, type] of steps.entries()) {
    const timestamp = new Date(service.clock.now() - 20_000 + index * 3_100).toISOString();
    await api.call('sendTelemetry', { body: { connectionId, type, timestamp, data: { step: index } } });
  }
  const errorId = await eventually(async () => {
    const [error] = await project.api.call('listErrors', { query: { connectionId } });
    if (!error) throw new Error('the failure is not listed yet');
    return error.id;
  });
  return { connectionId, errorId };
}

/** An endpoint that answers all but one kind of event. */
async function tellSomebody(project: TestProject): Promise<{ webhook: Webhook; receiver: TestReceiver }> {
  const receiver = await startReceiver((request) =>
    request.body.includes('"live_stream.started"') ? { status: 503, body: 'Back in a minute.' } : 204,
  );
  const { api } = project.owner;
  const webhook = await api.call('createWebhook', {
    projectId: project.id,
    body: { url: receiver.url, environment: 'DEVELOPMENT', description: 'Receiver of the tests' },
  });
  const at = { projectId: project.id, webhookId: webhook.id };
  await api.call('testWebhook', { ...at, body: { eventType: 'live_stream.created' } });
  await eventually(() => receiver.requests.length > 0);
  await api.call('testWebhook', { ...at, body: { eventType: 'live_stream.started' } });
  await eventually(async () => {
    const deliveries = await api.call('listDeliveries', at);
    return (
      deliveries.some(({ status }) => status === 'RETRYING') && deliveries.some(({ status }) => status === 'DELIVERED')
    );
  });
  return { webhook, receiver };
}

/** An alert that fires, and one that does not. */
async function sendTooMuch({ service, clock }: RoomsService, { id: projectId, api }: TestProject): Promise<Alert> {
  await service.usage.storeCounts();
  await api.call('createAlert', { body: { name: 'Joins fail', kind: 'JOIN_SUCCESS_BELOW', webhook: false } });
  const { id: alertId } = await api.call('createAlert', {
    body: { name: 'Many messages', kind: 'USAGE_ABOVE', bound: 1, meter: 'messages', period: 'MONTH', webhook: false },
  });
  for (const minutes of [-1, 0])
    await service.alerts.evaluate(undefined, { projectId, at: clock.now() + minutes * 60_000 });
  return api.call('getAlert', { alertId });
}

const said = ['Good morning', 'Is everybody here?', 'Two minutes', 'I share the agenda', 'Ready when you are'];

/** A conversation beside the room, with an edit, a deletion and somebody who is present. */
async function talk(
  service: RoomsService,
  { api }: TestProject,
  room: Room,
): Promise<{ conversation: Conversation; socket: SocketClient }> {
  const members = [{ userId: 'ada', role: 'OWNER' as const }, 'grace', 'linus'];
  const conversation = await api.call('createConversation', { body: { name: 'standup', roomId: room.id, members } });
  await api.call('createConversation', { body: { name: 'announcements', type: 'CHANNEL', retentionDays: 30 } });
  const messages = [];
  for (const [index, text] of said.entries()) {
    const senderId = ['ada', 'grace', 'linus'][index % 3] ?? 'ada';
    messages.push(
      await api.call('sendMessage', {
        room: conversation.id,
        body: { text, senderId, clientSentAt: service.clock.now() - 40 },
      }),
    );
  }
  const [first, second] = messages;
  if (first) await api.call('editMessage', { messageId: first.id, body: { text: 'Good morning!' } });
  if (second) await api.call('deleteMessage', { messageId: second.id });
  await api.call('removeConversationMember', { room: conversation.id, userId: 'linus' });
  const { token } = await api.call('mintChatToken', { body: { userId: 'ada' } });
  const socket = await openSocket(`${service.url}/v1/chat/ws`, { protocols: ['svc.chat.v1', `bearer.${token}`] });
  await socket.take('hello');
  await socket.ask({ type: 'subscribe', conversations: [{ ref: conversation.id }] });
  return { conversation, socket };
}

/** Rules, somebody who is banned and somebody who is muted, two reports, a device, and an export. */
async function moderate(service: RoomsService, { api }: TestProject, { id: room }: Conversation): Promise<void> {
  const { messages } = await api.call('listMessages', { room });
  const [newest, before] = messages.filter(({ senderId }) => senderId !== 'grace');
  const grace = await api.call('mintChatToken', { body: { userId: 'grace' } });
  const report = (messageId: string, reason: 'spam' | 'harassment') =>
    service.as(grace.token).call('reportMessage', { messageId, body: { reason } });
  if (newest) await report(newest.id, 'harassment');
  if (before) {
    const { id: reportId } = await report(before.id, 'spam');
    await api.call('resolveChatReport', { reportId, body: { action: 'none' } });
  }
  const wordLists = [
    { name: 'insults', action: 'mask' as const, words: ['darn', 'heck', 'blast'] },
    { name: 'payments', action: 'flag' as const, words: ['wire money'], patterns: ['\\d{4} \\d{4} \\d{4}'] },
  ];
  await api.call('setChatModeration', { body: { wordLists, links: 'moderators' } });
  await api.call('setModerationHook', { body: { url: 'https://backend.example.com/moderate', onFailure: 'closed' } });
  await api.call('setScanHook', { body: { url: 'https://scanner.example.com/scan' } });
  await api.call('setLinkPreviews', { body: { enabled: true } });
  await api.call('deleteUserMessages', { userId: 'mallory' });
  const until = new Date(service.clock.now() + 86_400_000).toISOString();
  await api.call('banFromChat', { userId: 'mallory', body: { reason: 'Advertises in every room' } });
  await api.call('muteInChat', { userId: 'trudy', body: { until } });
  await api.call('putPushDevice', { body: { kind: 'FCM', token: 'token-of-a-telephone-0123456789', userId: 'ada' } });
  await api.call('exportUser', { userId: 'ada' });
  const record = { name: 'Ada', avatarUrl: 'https://example.com/ada.png', role: 'host', metadata: { team: 'engines' } };
  await api.call('putChatUser', { userId: 'ada', body: record });
}

/** A pinned poll with a vote, something to be sent later, slow mode, and two who were stopped. */
async function plan({ clock }: RoomsService, { api }: TestProject, { id: room }: Conversation): Promise<void> {
  const poll = { question: 'Retro on Friday?', options: ['Yes', 'No'] };
  const { id: messageId } = await api.call('sendMessage', { room, body: { poll, senderId: 'ada' } });
  await api.call('castVote', { messageId, body: { userId: 'grace', optionIds: [1] } });
  await api.call('pinMessage', { messageId, query: { userId: 'ada' } });
  const sendAt = new Date(clock.now() + 86_400_000).toISOString();
  await api.call('scheduleMessage', { room, body: { text: 'Standup in ten minutes', senderId: 'ada', sendAt } });
  await api.call('updateConversation', { room, body: { slowModeSeconds: 30 } });
  await api.call('banFromConversation', { room, userId: 'linus', body: { reason: 'Joined under a false name' } });
  await api.call('muteInConversation', { room, userId: 'grace', body: { until: sendAt } });
}

/** One stream in each of its states; the running one is given. */
async function goLive({ api }: TestProject): Promise<LiveStream> {
  const create = (title: string, scheduledAt?: string) =>
    api.call('createLiveStream', { body: { title, hostIdentity: 'ada', ...(scheduledAt ? { scheduledAt } : {}) } });
  await create('Town hall', '2027-01-14T16:00:00.000Z');
  const over = await create('Rehearsal');
  await api.call('startLiveStream', { streamId: over.id });
  await api.call('endLiveStream', { streamId: over.id });
  const live = await create('Launch day');
  await api.call('registerHost', { streamId: live.id, body: { identity: 'grace', role: 'CO_HOST' } });
  return api.call('startLiveStream', { streamId: live.id });
}
