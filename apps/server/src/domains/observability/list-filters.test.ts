import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { joinAs, newRoom, type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';

let service: RoomsService;
before(async () => {
  service = await sharedRooms();
});

test('[DASH-61] rooms and streams are found by a part of their name, whatever is loaded', async () => {
  const { api, id: projectId, owner } = await service.newProject();
  for (const name of ['Stand-up', 'standing_100', 'Other']) {
    await api.call('createRoom', { body: { name } });
    await api.call('createLiveStream', { body: { title: name, hostIdentity: 'ada' } });
  }
  const rooms = async (name: string) =>
    (await owner.api.call('listProjectRooms', { projectId, query: { name, limit: 1 } })).map((room) => room.name);
  const streams = async (query: { title?: string; status?: 'CREATED' | 'LIVE' }) =>
    (await owner.api.call('listProjectLiveStreams', { projectId, query })).map(({ title }) => title);
  assert.deepEqual(await rooms('STAND-'), ['Stand-up']);
  assert.deepEqual(await rooms('_100'), ['standing_100']);
  assert.deepEqual([await rooms('%up'), await rooms('stand_')], [[], []]);
  assert.deepEqual(await streams({ title: 'stand' }), ['standing_100', 'Stand-up']);
  assert.deepEqual([(await streams({ status: 'CREATED' })).length, await streams({ status: 'LIVE' })], [3, []]);
});

test('[DASH-94] conversations by name and type, rooms by node and keys by environment are found, whatever is loaded', async () => {
  const project = await service.newProject();
  const { api, id: projectId, owner } = project;
  const rooms = [await newRoom(api), await newRoom(api)];
  await joinAs(service, api, rooms[0] ?? assert.fail(), 'ada');
  await api.call('createConversation', { body: { name: 'Stand-up', type: 'CHANNEL' } });
  for (const name of ['standing_100', 'Other']) await api.call('createConversation', { body: { name } });
  const conversations = async (query: { name?: string; type?: 'CHANNEL' | 'GROUP' }) =>
    (await owner.api.call('listProjectConversations', { projectId, query: { ...query, limit: 1 } })).map(
      ({ name }) => name,
    );
  assert.deepEqual([await conversations({ name: 'STAND-' }), await conversations({ name: '%up' })], [['Stand-up'], []]);
  assert.deepEqual(await conversations({ type: 'CHANNEL' }), ['Stand-up']);
  const onNode = async (serverName: string) =>
    (await owner.api.call('listProjectRooms', { projectId, query: { serverName, limit: 1 } })).map(({ id }) => id);
  assert.deepEqual([await onNode('node-1'), await onNode('node-9')], [[rooms[0]?.id], []]);
  await project.newKey('PRODUCTION');
  await project.newKey('DEVELOPMENT');
  const keys = async (environment?: string) =>
    (await owner.api.call('listApiKeys', { projectId, query: environment === undefined ? {} : { environment } })).map(
      (key) => key.environment,
    );
  assert.deepEqual(await keys('PRODUCTION'), ['PRODUCTION']);
  assert.deepEqual([(await keys('DEVELOPMENT')).length, (await keys()).length], [2, 3]);
});
