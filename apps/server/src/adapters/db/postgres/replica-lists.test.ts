import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chatAs } from '../../../../testkit/chat/chat.ts';
import { joinAs, newRoom, type RoomsService, startRooms } from '../../../../testkit/clients/rooms.ts';
import { addWebhook } from '../../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { TestProject } from '../../../../testkit/kit/people.ts';
import { createReplicaStage, type ReplicaStage } from '../../../../testkit/kit/replica-stage.ts';
import { startReceiver, type TestReceiver } from '../../../../testkit/peers/receiver.ts';

const url = process.env['PARLEY_TEST_DATABASE_URL'];
const skip = !url && 'no PARLEY_TEST_DATABASE_URL';

let service: RoomsService;
let stage: ReplicaStage;
let receiver: TestReceiver;

before(async () => {
  if (skip) return;
  stage = createReplicaStage(url ?? '');
  receiver = await startReceiver(204);
  service = await startRooms({ wrap: stage.wrap });
});

after(async () => {
  if (skip) return;
  await service.stop();
  await stage.close();
  await receiver.close();
});

/** A list of the dashboard, and what brings something onto it: both say it by its id. */
interface List {
  write(): Promise<string>;
  read(): Promise<string[]>;
}

/** Of chat. */
async function chatLists({ id: projectId, owner, api }: TestProject): Promise<Record<string, List>> {
  const { id: room } = await api.call('createConversation', { body: { name: 'lists', members: ['ada'] } });
  const { token } = await api.call('mintChatToken', { body: { userId: 'ada' } });
  const inRoom = { projectId, conversationId: room };
  let made = 0;
  const say = async () => (await api.call('sendMessage', { room, body: { text: 'hello', senderId: 'bob' } })).id;
  return {
    conversations: {
      write: async () => (await api.call('createConversation', { body: { name: `list-${++made}` } })).id,
      read: async () => (await owner.api.call('listProjectConversations', { projectId })).map(({ id }) => id),
    },
    members: {
      write: async () =>
        (await api.call('addConversationMember', { room, body: { userId: `member-${++made}` } })).userId,
      read: async () => (await owner.api.call('listProjectConversationMembers', inRoom)).map(({ userId }) => userId),
    },
    'message metadata': {
      write: say,
      read: async () => (await owner.api.call('listProjectMessages', inRoom)).map(({ id }) => id),
    },
    'chat users': {
      write: async () => (await api.call('putChatUser', { userId: `user-${++made}`, body: {} })).userId,
      read: async () => (await owner.api.call('listProjectChatUsers', { projectId })).map(({ userId }) => userId),
    },
    'chat connections': {
      async write() {
        const userId = `connected-${++made}`;
        const minted = await api.call('mintChatToken', { body: { userId } });
        await chatAs(service, minted.token);
        return userId;
      },
      read: async () => (await owner.api.call('listChatConnections', { projectId })).map(({ userId }) => userId),
    },
    reports: {
      async write() {
        const messageId = await say();
        return (await service.as(token).call('reportMessage', { messageId, body: { reason: 'spam' } })).id;
      },
      read: async () => (await owner.api.call('listProjectReports', { projectId })).map(({ id }) => id),
    },
  };
}

/** Of rooms, calls and streams. */
function roomLists({ id: projectId, owner, api }: TestProject): Record<string, List> {
  const join = async () => joinAs(service, api, await newRoom(api), 'ada');
  const track = { id: 'tr_a', way: 'out', kind: 'audio', kbps: [30], loss: [0], rtt: [50] };
  const sample = { everyMs: 5_000, count: 1, bandwidth: [600], tracks: [track] };
  return {
    rooms: {
      write: async () => (await newRoom(api)).id,
      read: async () => (await owner.api.call('listProjectRooms', { projectId })).map(({ id }) => id),
    },
    'live streams': {
      write: async () => (await api.call('createLiveStream', { body: { title: 'list', hostIdentity: 'ada' } })).id,
      read: async () => (await owner.api.call('listProjectLiveStreams', { projectId })).map(({ id }) => id),
    },
    connections: {
      async write() {
        const { connectionId } = await join();
        await eventually(() => api.call('getConnection', { connectionId }));
        return connectionId;
      },
      read: async () =>
        (await owner.api.call('listProjectConnections', { projectId })).map(({ connectionId }) => connectionId),
    },
    calls: {
      async write() {
        const room = await newRoom(api);
        const { token, connectionId } = await joinAs(service, api, room, 'ada');
        const body = { connectionId, type: 'stats.sample' as const, data: sample };
        const send = () => service.as(token).call('sendTelemetry', { body });
        await eventually(async () => assert.ok((await send()).accepted));
        return room.id;
      },
      read: async () => (await owner.api.call('listProjectCalls', { projectId })).map(({ roomId }) => roomId ?? ''),
    },
  };
}

/** Of what was done and delivered. */
async function recordLists(project: TestProject): Promise<Record<string, List>> {
  const { id: projectId, owner, apiKey } = project;
  const webhook = await addWebhook(project, { url: receiver.url });
  const ofWebhook = { projectId, webhookId: webhook.id };
  return {
    requests: {
      async write() {
        const answer = await service.fetch('/v1/rooms', { headers: { authorization: `Bearer ${apiKey}` } });
        const requestId = answer.headers.get('x-request-id') ?? '';
        await eventually(() => owner.api.call('getProjectRequest', { projectId, requestId }));
        return requestId;
      },
      read: async () => (await owner.api.call('listProjectRequests', { projectId })).map(({ requestId }) => requestId),
    },
    'audit entries': {
      write: async () => (await owner.api.call('createApiKey', { projectId, body: { name: 'listed' } })).publicId,
      read: async () => (await owner.api.call('listAuditLogs', { projectId })).map(({ resourceId }) => resourceId),
    },
    deliveries: {
      write: async () => (await owner.api.call('testWebhook', ofWebhook)).id,
      read: async () => (await owner.api.call('listDeliveries', ofWebhook)).map(({ id }) => id),
    },
  };
}

/** Reads a list and says whether the replica answered alone, or the primary. */
async function ask({ read }: List, id: string): Promise<{ isListed: boolean; by: string }> {
  const { got, by } = await stage.follow(service, read);
  const answered = Object.entries(by).flatMap(([name, count]) => (count > 0 ? [name] : []));
  return { isListed: got.includes(id), by: answered.join(', ') };
}

test('[STA-17] [STA-21] each list of the dashboard is from the replica, and has what was committed before it was asked for', {
  skip,
}, async () => {
  const project = await service.newProject(await service.newPerson('lists'));
  const lists = { ...(await chatLists(project)), ...roomLists(project), ...(await recordLists(project)) };
  for (const [name, list] of Object.entries(lists)) {
    const first = await list.write();
    assert.deepEqual(await ask(list, first), { isListed: true, by: 'replica' }, name);
    let second = '';
    await stage.whileHeld(async () => {
      second = await list.write();
      assert.deepEqual(await ask(list, second), { isListed: true, by: 'behind' }, `${name} while it is held`);
    });
    assert.deepEqual(await ask(list, second), { isListed: true, by: 'replica' }, `${name} afterwards`);
  }
});

test('[STA-21] what applications list by their key is from the primary', { skip }, async () => {
  const { api } = await service.newProject(await service.newPerson('keys'));
  const { id: room } = await api.call('createConversation', { body: { name: 'own', members: ['ada'] } });
  const { by } = await stage.follow(service, async () => {
    await api.call('listConversations', {});
    await api.call('listConversationMembers', { room });
    await api.call('listChatReports', {});
    await api.call('listRooms', {});
    await api.call('listLiveStreams', {});
  });
  assert.deepEqual(by, { replica: 0, behind: 0, away: 0 });
});
