import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Room } from '@parley/contract';
import { joinAs, mint, newRoom, type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';
import { JoinRefused, joinRoom } from '../../../testkit/clients/signal-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';

let service: RoomsService;
before(async () => {
  service = await sharedRooms();
});

const refusal = (code: string, status: number) => (error: unknown) => {
  const { code: got, status: gotStatus } = error as { code: string; status: number };
  assert.deepEqual([got, gotStatus], [code, status]);
  return true;
};

test('[ROOM-1] a name is unique among the open rooms of a project and environment, also under concurrent requests', async () => {
  const project = await service.newProject();
  const production = service.as(await project.newKey('PRODUCTION'));
  const tries = await Promise.allSettled(
    Array.from({ length: 50 }, () => project.api.call('createRoom', { body: { name: 'lobby' } })),
  );
  const made = tries.filter(({ status }) => status === 'fulfilled');
  assert.equal(made.length, 1);
  for (const one of tries) if (one.status === 'rejected') refusal('SVC_ROOM_NAME_TAKEN', 409)(one.reason);

  assert.equal((await production.call('createRoom', { body: { name: 'lobby' } })).environment, 'PRODUCTION');
  const room = await project.api.call('getRoom', { id: 'lobby' });
  const closed = await project.api.call('closeRoom', { id: room.id });
  assert.deepEqual([closed.status, closed.closeReason], ['CLOSED', 'API']);
  const again = await project.api.call('createRoom', { body: { name: 'lobby' } });
  assert.notEqual(again.id, room.id);
  assert.equal((await project.api.call('getRoom', { id: 'lobby' })).id, again.id);
});

test('[ROOM-2] a room is found by id or name, a closed one by id; another project or environment finds nothing', async () => {
  const [project, other] = [await service.newProject(), await service.newProject()];
  const room = await newRoom(project.api, { metadata: { topic: 'x' }, maxParticipants: 5 });
  assert.match(room.id, /^room_[0-9a-z]{24}$/);
  assert.equal(room.publicId, room.id);
  assert.deepEqual(
    [room.status, room.participantCount, room.serverName, room.maxParticipants, room.metadata],
    ['ACTIVE', 0, null, 5, { topic: 'x' }],
  );
  assert.equal((await project.api.call('getRoom', { id: room.name })).id, room.id);
  const production = service.as(await project.newKey('PRODUCTION'));
  for (const api of [other.api, production]) {
    for (const id of [room.id, room.name])
      await assert.rejects(api.call('getRoom', { id }), refusal('SVC_ROOM_NOT_FOUND', 404));
    await assert.rejects(api.call('closeRoom', { id: room.id }), refusal('SVC_ROOM_NOT_FOUND', 404));
    await assert.rejects(mint(api, room, 'x'), refusal('SVC_ROOM_NOT_FOUND', 404));
  }
  await project.api.call('closeRoom', { id: room.id });
  assert.equal((await project.api.call('getRoom', { id: room.id })).status, 'CLOSED');
  await assert.rejects(project.api.call('getRoom', { id: room.name }), refusal('SVC_ROOM_NOT_FOUND', 404));
  assert.deepEqual(await project.api.call('listRooms', {}), []);
  for (const name of ['', 'a b', 'ü', 'a/b', 'x'.repeat(129), `room_${'0'.repeat(24)}`])
    await assert.rejects(project.api.call('createRoom', { body: { name } }), refusal('SVC_VALIDATION_FAILED', 400));
});

test('[ROOM-2] the list has open rooms only, newest first, and pages by cursor', async () => {
  const { api } = await service.newProject();
  const made: string[] = [];
  for (let n = 0; n < 5; n++) made.push((await newRoom(api)).id);
  await api.call('closeRoom', { id: made[2] ?? '' });
  const expected = [made[4], made[3], made[1], made[0]];
  assert.deepEqual(
    (await api.call('listRooms', {})).map(({ id }) => id),
    expected,
  );
  const paged: string[] = [];
  let cursor: string | undefined;
  do {
    const { body, headers } = await api.request('listRooms', { query: { limit: 3, ...(cursor ? { cursor } : {}) } });
    paged.push(...body.map(({ id }) => id));
    cursor = headers.get('x-next-cursor') ?? undefined;
  } while (cursor);
  assert.deepEqual(paged, expected);
  const other = await service.newProject();
  const { headers } = await api.request('listRooms', { query: { limit: 1 } });
  const foreign = { query: { cursor: headers.get('x-next-cursor') ?? '' } };
  await assert.rejects(other.api.call('listRooms', foreign), refusal('SVC_INVALID_CURSOR', 400));
});

test('[ROOM-3] closing disconnects everybody with 4410, revokes the tokens, and lets nobody in afterwards', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const { token } = await mint(api, room, 'bob');
  const closed = await api.call('closeRoom', { id: room.id });
  assert.equal(closed.participantCount, 0);
  assert.deepEqual(await ada.whenClosed(), { code: 4410, reason: 'ROOM_CLOSED' });
  assert.equal((await ada.take('room.closed'))['reason'], 'ROOM_CLOSED');
  await assert.rejects(joinRoom(service.url, token), (error: Error) => /TOKEN_REVOKED|4401/.test(error.message));
  await assert.rejects(mint(api, room, 'carol'), refusal('SVC_ROOM_CLOSED', 409));
  assert.equal((await api.call('closeRoom', { id: room.id })).closedAt, closed.closedAt);
  await eventually(() => assert.deepEqual(service.node.rooms().get(room.id), []));
});

test('[ROOM-3] no join succeeds after closing has answered', async () => {
  const { api } = await service.newProject();
  for (let round = 0; round < 10; round++) {
    const room = await newRoom(api);
    const tokens = await Promise.all(Array.from({ length: 4 }, (_, n) => mint(api, room, `p-${n}`)));
    let isClosed = false;
    const joins = tokens.map(async ({ token }, n) => {
      for (let wait = 0; wait < n; wait++) await new Promise(setImmediate);
      const beganAfter = isClosed;
      const client = await joinRoom(service.url, token).catch(() => null);
      assert.ok(!(client && beganAfter));
      if (client) assert.equal((await client.whenClosed()).code, 4410);
    });
    await api.call('closeRoom', { id: room.id });
    isClosed = true;
    await Promise.all(joins);
    assert.equal((await api.call('getRoom', { id: room.id })).participantCount, 0);
  }
});

test('[ROOM-4] counts and participants come from the node; without it they are unknown, never zero', async () => {
  const { api, owner, id: projectId } = await service.newProject();
  const lone = await service.newNode('node-lone', { region: 'moon' });
  const room = await newRoom(api, { region: 'moon' });
  const ada = await joinAs(service, api, room, 'ada', { token: { metadata: 'hi' } });
  const [trackId] = await ada.publish('VIDEO');
  assert.equal(ada.joined.room.serverName, 'node-lone');
  await eventually(async () => {
    const [listed] = await api.call('listRooms', {});
    assert.deepEqual([listed?.participantCount, listed?.publisherCount, listed?.region], [1, 1, 'moon']);
  });
  const [participant] = await api.call('listRoomParticipants', { id: room.id });
  assert.deepEqual(
    [participant?.identity, participant?.metadata, participant?.isPublisher, participant?.tracks.map(({ id }) => id)],
    ['ada', 'hi', true, [trackId]],
  );
  const detail = await owner.api.call('getProjectRoom', { projectId, roomId: room.id });
  assert.deepEqual(
    detail.participants?.map(({ identity }) => identity),
    ['ada'],
  );

  lone.isDeaf = true;
  lone.disconnect();
  await eventually(async () => {
    assert.equal((await api.call('listRooms', {}))[0]?.participantCount, null);
    await assert.rejects(api.call('listRoomParticipants', { id: room.id }), refusal('SVC_MEDIA_UNAVAILABLE', 503));
    assert.equal((await owner.api.call('getProjectRoom', { projectId, roomId: room.id })).participants, null);
  });
  // Joining there is refused for now, and says so at once.
  const { token } = await mint(api, room, 'bob');
  const refused = await joinRoom(service.url, token).catch((error) => error);
  assert.ok(refused instanceof JoinRefused);
  assert.deepEqual([refused.frame['code'], refused.frame['retryable']], ['MEDIA_UNAVAILABLE', true]);
  assert.equal((await refused.socket.whenClosed()).code, 4503);
  // Other rooms are untouched.
  await (await joinAs(service, api, await newRoom(api), 'eve')).close();
  lone.isDeaf = false;
  await eventually(async () => assert.equal((await api.call('listRooms', {}))[1]?.participantCount, 1));
  await ada.close();
  // The rooms of the tests after this one are all on the first node.
  await owner.api.call('drainServer', { name: 'node-lone' });
});

test('[ROOM-5] a participant can be removed, and may come back with a new token', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const [ada, bob] = [await joinAs(service, api, room, 'ada'), await joinAs(service, api, room, 'bob')];
  const removed = await api.call('removeParticipant', { id: room.id, identity: 'bob' });
  assert.deepEqual([removed.identity, removed.state, removed.reason], ['bob', 'DISCONNECTED', 'PARTICIPANT_REMOVED']);
  assert.deepEqual(await bob.whenClosed(), { code: 4410, reason: 'PARTICIPANT_REMOVED' });
  assert.equal((await ada.take('participant.left'))['reason'], 'PARTICIPANT_REMOVED');
  await eventually(() => assert.deepEqual(service.node.rooms().get(room.id), ['ada']));
  await assert.rejects(
    api.call('removeParticipant', { id: room.id, identity: 'bob' }),
    refusal('SVC_PARTICIPANT_NOT_FOUND', 404),
  );
  await (await joinAs(service, api, room, 'bob')).close();
  await ada.close();
});

test('[ROOM-5] permissions change live, at the node too, and hold for a rejoin', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const [ada, bob] = [await joinAs(service, api, room, 'ada'), await joinAs(service, api, room, 'bob')];
  await ada.publish('AUDIO');
  const changed = await api.call('updateParticipant', {
    id: room.id,
    identity: 'ada',
    body: { permissions: { publish: false }, metadata: 'muted by us' },
  });
  assert.deepEqual([changed.permissions.publish, changed.metadata, changed.tracks], [false, 'muted by us', []]);
  const frame = await ada.take('permissions.changed');
  assert.equal((frame['permissions'] as { publish: boolean }).publish, false);
  const updated = (await bob.take('participant.updated'))['participant'] as { metadata: string };
  assert.equal(updated.metadata, 'muted by us');
  await bob.take('track.unpublished');
  await assert.rejects(ada.publish('AUDIO'), /PUBLISH_NOT_ALLOWED/);
  await ada.close();
  const again = await joinRoom(service.url, ada.token);
  await assert.rejects(again.publish('AUDIO'), /PUBLISH_NOT_ALLOWED/);
  await Promise.all([again.close(), bob.close()]);
});

test('[ROOM-5] a track is muted for all, and the publisher is notified', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const [ada, bob] = [await joinAs(service, api, room, 'ada'), await joinAs(service, api, room, 'bob')];
  const [trackId = ''] = await ada.publish('AUDIO');
  await bob.take('track.published');
  const at = { id: room.id, identity: 'ada', trackId };
  assert.equal((await api.call('muteTrack', { ...at, body: {} })).muted, true);
  assert.deepEqual(await pick(ada.take('server.mute'), 'trackId', 'muted'), { trackId, muted: true });
  const update = { identity: 'ada', trackId, muted: true, by: 'SERVER' };
  assert.deepEqual(await pick(bob.take('track.muted'), 'identity', 'trackId', 'muted', 'by'), update);
  assert.equal((await api.call('muteTrack', { ...at, body: { muted: false } })).muted, false);
  await bob.take('track.muted', (frame) => frame['muted'] === false);
  await assert.rejects(
    api.call('muteTrack', { ...at, trackId: 'trk_nothing', body: {} }),
    refusal('SVC_TRACK_NOT_FOUND', 404),
  );
  await Promise.all([ada.close(), bob.close()]);
});

const pick = async (frame: Promise<Record<string, unknown>>, ...names: string[]): Promise<Record<string, unknown>> => {
  const whole = await frame;
  return Object.fromEntries(names.map((name) => [name, whole[name]]));
};

test('[ROOM-5] data reaches those who may use data, and no payload that a frame could not hold', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const mute = await joinAs(service, api, room, 'mute', { token: { permissions: { publishData: false } } });
  const send = (body: { payload: string }) => api.call('sendRoomData', { id: room.id, body });
  assert.deepEqual(await send({ payload: 'hello' }), { delivered: 1 });
  assert.deepEqual(await pick(ada.take('data'), 'from', 'payload', 'encoding'), {
    from: null,
    payload: 'hello',
    encoding: 'utf8',
  });
  assert.ok(!mute.frames.some(({ type }) => type === 'data'));
  for (const payload of ['x'.repeat(8193), '\u0001'.repeat(3_000)])
    await assert.rejects(send({ payload }), refusal('SVC_PAYLOAD_TOO_LARGE', 413));
  await Promise.all([ada.close(), mute.close()]);
});

test('[ROOM-5] the room itself changes for everybody in it', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api, { metadata: { a: 1 } });
  const ada = await joinAs(service, api, room, 'ada');
  const changed = await api.call('updateRoom', { id: room.id, body: { metadata: { b: 2 }, maxParticipants: 1 } });
  assert.deepEqual([changed.metadata, changed.maxParticipants], [{ b: 2 }, 1]);
  const update = (await ada.take('room.updated'))['room'] as Room;
  assert.deepEqual([update.metadata, update.maxParticipants], [{ b: 2 }, 1]);
  const { token } = await mint(api, room, 'bob');
  await assert.rejects(joinRoom(service.url, token), /ROOM_FULL/);
  const cleared = await api.call('updateRoom', { id: room.id, body: { metadata: null, maxParticipants: null } });
  assert.deepEqual([cleared.metadata, cleared.maxParticipants], [{}, 50]);
  await assert.rejects(
    api.call('updateRoom', { id: room.id, body: { metadata: { long: 'x'.repeat(5_000) } } }),
    refusal('SVC_METADATA_TOO_LARGE', 400),
  );
  await ada.close();
});

test('[RTC-106] a room has 50 places, or up to 1,000 if it asks for them', async () => {
  const { api } = await service.newProject();
  const rooms = await Promise.all(
    [undefined, 7, 1000, 5000].map((maxParticipants) =>
      newRoom(api, maxParticipants === undefined ? {} : { maxParticipants }),
    ),
  );
  assert.deepEqual(
    rooms.map(({ maxParticipants }) => maxParticipants),
    [50, 7, 1000, 1000],
  );
});

test('[RTC-98] the backend says that a room is recorded: to those in it, and to everybody who joins', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  assert.deepEqual([room.recording, ada.joined.room.recording], [false, false]);
  const set = (recording: boolean) => api.call('updateRoom', { id: room.id, body: { recording } });
  const told = async () => ((await ada.take('room.updated'))['room'] as Room).recording;
  assert.equal((await set(true)).recording, true);
  assert.equal(await told(), true);
  const bob = await joinAs(service, api, room, 'bob');
  assert.equal(bob.joined.room.recording, true);
  await api.call('updateRoom', { id: room.id, body: { metadata: { b: 2 } } });
  assert.equal(await told(), true, 'another change leaves it');
  await set(false);
  assert.deepEqual([await told(), (await api.call('getRoom', { id: room.id })).recording], [false, false]);
  const [first] = [await newRoom(api, { recording: true })];
  assert.equal(first.recording, true);
  await Promise.all([ada.close(), bob.close()]);
});

test('[ROOM-6] a stay is recorded from the accepted join to the leaving', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const [open] = await api.call('listRoomSessions', { id: room.id });
  assert.deepEqual(
    [open?.participantIdentity, open?.leftAt, open?.durationMs, open?.disconnectReason],
    ['ada', null, null, null],
  );
  assert.equal((await api.call('getRoom', { id: room.id })).activeSessionId, open?.roomSessionId);
  ada.send({ type: 'leave' });
  assert.deepEqual(await ada.whenClosed(), { code: 1000, reason: 'CLIENT_INITIATED' });
  const [past] = await api.call('listRoomSessions', { id: room.id });
  assert.equal(past?.disconnectReason, 'CLIENT_INITIATED');
  assert.equal(past?.durationMs, Date.parse(past?.leftAt ?? '') - Date.parse(past?.joinedAt ?? ''));
  const after = await api.call('getRoom', { id: room.id });
  assert.deepEqual([after.activeSessionId, after.serverName, after.participantCount], [null, null, 0]);
});

test('[ROOM-7] a dashboard member uses the same rooms by role: viewers read, developers manage', async () => {
  const project = await service.newProject();
  const [viewer, developer] = [await project.member('VIEWER'), await project.member('DEVELOPER')];
  const projectId = project.id;
  const room = await developer.api.call('createProjectRoom', { projectId, body: { name: 'dash' } });
  assert.equal(room.environment, 'DEVELOPMENT');
  assert.equal((await viewer.api.call('listProjectRooms', { projectId }))[0]?.id, room.id);
  await assert.rejects(
    viewer.api.call('closeProjectRoom', { projectId, roomId: room.id }),
    refusal('SVC_PERMISSION_DENIED', 403),
  );
  const ada = await joinAs(service, project.api, room, 'ada');
  const [trackId = ''] = await ada.publish('AUDIO');
  const at = { projectId, roomId: room.id, identity: 'ada' };
  assert.equal((await developer.api.call('muteProjectTrack', { ...at, trackId, body: {} })).muted, true);
  const body = { permissions: { publish: false } };
  assert.equal((await developer.api.call('updateProjectParticipant', { ...at, body })).permissions.publish, false);
  assert.equal((await developer.api.call('removeProjectParticipant', at)).identity, 'ada');
  const closed = await developer.api.call('closeProjectRoom', { projectId, roomId: room.id });
  assert.equal(closed.closeReason, 'DASHBOARD');
});
