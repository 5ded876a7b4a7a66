import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { joinAs, newRoom, type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';

let service: RoomsService;
before(async () => {
  service = await sharedRooms();
});

test("[SIG-17] metadata is the backend's: a participant changes it only with updateMetadata, given by token or live", async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const guest = '{"role":"guest"}';
  const token = { permissions: { publish: true, publishData: true }, metadata: guest };
  const ada = await joinAs(service, api, room, 'ada', { token });
  assert.equal(ada.joined.participant.permissions.updateMetadata, false);
  const promote = () => ada.ask({ type: 'participant.update', metadata: '{"role":"moderator"}' });
  const metadata = async () => (await api.call('listRoomParticipants', { id: room.id }))[0]?.metadata;
  const refused = await promote();
  assert.deepEqual([refused.type, refused['svcCode']], ['error', 'SVC_METADATA_NOT_ALLOWED']);
  assert.equal(await metadata(), guest);

  const of = { id: room.id, identity: 'ada' };
  await api.call('updateParticipant', { ...of, body: { permissions: { updateMetadata: true } } });
  await ada.take('permissions.changed');
  assert.equal((await promote()).type, 'response');
  assert.equal(await metadata(), '{"role":"moderator"}');
  await api.call('updateParticipant', { ...of, body: { permissions: { updateMetadata: false }, metadata: guest } });
  await ada.take(
    'permissions.changed',
    ({ permissions }) => !(permissions as { updateMetadata: boolean }).updateMetadata,
  );
  assert.equal((await promote())['svcCode'], 'SVC_METADATA_NOT_ALLOWED');
  assert.equal(await metadata(), guest);
  await ada.close();

  const bob = await joinAs(service, api, room, 'bob', { token: { permissions: { updateMetadata: true } } });
  assert.equal((await bob.ask({ type: 'participant.update', metadata: 'mine' })).type, 'response');
  await bob.close();
});
