import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type RoomsService, sharedRooms, startRooms } from '../../../testkit/clients/rooms.ts';
import { joinRoom } from '../../../testkit/clients/signal-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import { raceTransitions } from '../../../testkit/proofs/stream-races.ts';
import { withoutDeadline } from '../../core/delete-in-batches.ts';
import { sql } from '../../core/sql.ts';

let service: RoomsService;
before(async () => {
  service = await sharedRooms();
});

const create = (project: TestProject, body: object = {}) =>
  project.api.call('createLiveStream', { body: { title: 'Launch', hostIdentity: 'ada', ...body } });

/** Events of a stream in the order they were recorded. */
async function eventsOf(streamId: string): Promise<{ type: string; data: Record<string, unknown> }[]> {
  return service.adapters.db.query(sql`
    select type, data::json as data from events where type like 'live_stream.%' and data::json->>'streamId' = ${streamId} order by created_at, id`);
}

test('[LIVE-1] creating provisions a room, a conversation and the host in one go', async () => {
  const project = await service.newProject();
  const stream = await create(project, { tags: ['a'], metadata: { k: 1 }, visibility: 'UNLISTED', description: '' });
  assert.deepEqual(
    [
      stream.status,
      stream.visibility,
      stream.tags,
      stream.metadata,
      stream.viewerCount,
      stream.peakViewerCount,
      stream.durationMs,
      stream.description,
    ],
    ['CREATED', 'UNLISTED', ['a'], { k: 1 }, 0, 0, null, null],
  );
  assert.match(stream.id, /^stream_[0-9a-z]{24}$/);
  const room = await project.api.call('getRoom', { id: stream.roomId });
  assert.deepEqual([room.liveStreamId, room.conversationId], [stream.id, stream.conversationId]);
  const conversation = await project.api.call('getConversation', { room: stream.conversationId });
  assert.deepEqual([conversation.type, conversation.liveStreamId], ['ROOM', stream.id]);
  const detail = await project.owner.api.call('getProjectLiveStream', { projectId: project.id, streamId: stream.id });
  assert.deepEqual(
    detail.hosts.map(({ identity, role, removedAt }) => [identity, role, removedAt]),
    [['ada', 'HOST', null]],
  );
  assert.deepEqual(
    (await eventsOf(stream.id)).map(({ type, data }) => [type, Object.keys(data).sort()]),
    [['live_stream.created', ['createdAt', 'hostIdentity', 'streamId', 'title', 'visibility']]],
  );
});

test('[LIVE-1] the body is bounded, and a schedule must lie ahead', async () => {
  const project = await service.newProject();
  const bad = [
    { title: '' },
    { title: 'x'.repeat(201) },
    { hostIdentity: 'a b' },
    { description: 'x'.repeat(2001) },
    { thumbnailUrl: 'x'.repeat(2049) },
    { category: 'x'.repeat(65) },
    { language: 'x'.repeat(17) },
    { visibility: 'HIDDEN' },
    { scheduledAt: 'tomorrow' },
    { scheduledAt: '2001-01-01T00:00:00Z' },
    { tags: 'a' },
  ];
  for (const body of bad)
    await assert.rejects(create(project, body), failure('SVC_VALIDATION_FAILED'), JSON.stringify(body).slice(0, 60));
  await assert.rejects(create(project, { metadata: { text: 'x'.repeat(4_096) } }), failure('SVC_METADATA_TOO_LARGE'));
  const scheduled = await create(project, { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() });
  assert.equal(scheduled.status, 'CREATED');
});

/** The full size, 200 rounds over two processes, is tools/proof/stream-transitions.ts. */
test('[LIVE-2] start and end are won by one caller each, with one event each', async () => {
  const [rounds, callers] = [20, 8];
  const outcome = await raceTransitions({ urls: [service.url], service, rounds, callers });
  const { start, end, cancelled } = outcome;
  assert.deepEqual([start.faulty, end.faulty], [0, 0], JSON.stringify(outcome));
  assert.deepEqual([start.winners, start.events], [rounds - cancelled, rounds - cancelled]);
  assert.deepEqual([end.winners, end.events], [rounds, rounds]);
});

test('[LIVE-3] ENDED is the end: the room is closed, the conversation archived, and a cancelled stream has no duration', async () => {
  const project = await service.newProject();
  const { id, roomId, conversationId } = await create(project);
  const host = await project.api.call('registerHost', { streamId: id, body: { identity: 'ada' } });
  const ended = await project.api.call('endLiveStream', { streamId: id });
  assert.deepEqual([ended.status, ended.startedAt, ended.durationMs], ['ENDED', null, null]);
  assert.equal((await eventsOf(id)).at(-1)?.data['durationMs'], null);
  assert.deepEqual(
    [
      (await project.api.call('getRoom', { id: roomId })).status,
      (await project.api.call('getRoom', { id: roomId })).closeReason,
    ],
    ['CLOSED', 'STREAM_ENDED'],
  );
  assert.equal((await project.api.call('getConversation', { room: conversationId })).status, 'ARCHIVED');
  await assert.rejects(project.api.call('startLiveStream', { streamId: id }), failure('SVC_INVALID_STATE_TRANSITION'));
  await assert.rejects(
    project.api.call('registerHost', { streamId: id, body: { identity: 'bob' } }),
    failure('SVC_STREAM_ENDED'),
  );
  await assert.rejects(
    project.api.call('createViewerToken', { streamId: id, body: { identity: 'bob' } }),
    failure('SVC_STREAM_ENDED'),
  );
  await assert.rejects(joinRoom(service.url, host.rtc.token));
  const renamed = await project.api.call('updateLiveStream', { streamId: id, body: { title: 'Recording' } });
  assert.equal(renamed.title, 'Recording');
});

test('[LIVE-3] [RUN-30] a stream whose end was broken off is finalized once, also by processes that sweep at once', async () => {
  const project = await service.newProject();
  const { id, roomId, conversationId } = await create(project);
  const sweep = service.service.chores.find(({ name }) => name === 'live-streams');
  assert.ok(sweep);
  await service.adapters.db.execute(sql`
    update live_streams set status = 'ENDED', ended_at = now() where id = ${id}`);
  await Promise.all(Array.from({ length: 4 }, () => sweep.run(withoutDeadline)));
  assert.equal((await project.api.call('getRoom', { id: roomId })).closeReason, 'STREAM_ENDED');
  assert.equal((await project.api.call('getConversation', { room: conversationId })).status, 'ARCHIVED');
  const recorded = await service.adapters.db.query(sql`
    select type from events where project_id = ${project.id} and type = 'conversation.updated'`);
  assert.equal(recorded.length, 1);
});

test('[LIVE-4] hosts: one HOST, any co-host, removal revokes and can be undone', async () => {
  const project = await service.newProject();
  const { id, conversationId } = await create(project);
  const register = (identity: string, role?: 'HOST' | 'CO_HOST') =>
    project.api.call('registerHost', { streamId: id, body: { identity, ...(role ? { role } : {}) } });
  const host = await register('ada', 'CO_HOST');
  assert.deepEqual(
    [host.role, host.rtc.permissions.publish, host.chat.conversations],
    ['HOST', true, [conversationId]],
  );
  await assert.rejects(register('bob', 'HOST'), failure('SVC_HOST_EXISTS'));
  const bob = await register('bob');
  assert.equal(bob.role, 'CO_HOST');
  const live = await joinRoom(service.url, bob.rtc.token);
  await assert.rejects(
    project.api.call('removeHost', { streamId: id, identity: 'ada' }),
    failure('SVC_HOST_NOT_REMOVABLE'),
  );
  await assert.rejects(
    project.api.call('removeHost', { streamId: id, identity: 'nobody' }),
    failure('SVC_HOST_NOT_FOUND'),
  );
  const removed = await project.api.call('removeHost', { streamId: id, identity: 'bob' });
  assert.ok(removed.removedAt);
  await eventually(() => assert.equal(live.closed?.code, 4410));
  await assert.rejects(joinRoom(service.url, bob.rtc.token));
  await assert.rejects(
    project.api.call('removeHost', { streamId: id, identity: 'bob' }),
    failure('SVC_HOST_NOT_FOUND'),
  );
  // Back in the chat he is one of the audience.
  const member = await project.api.call('addConversationMember', { room: conversationId, body: { userId: 'bob' } });
  assert.equal(member.role, 'MEMBER');
  assert.equal((await register('bob')).role, 'CO_HOST');
  const types = (await eventsOf(id)).map(({ type, data }) => [type, data['identity'], data['role']]);
  assert.deepEqual(types.slice(1), [
    ['live_stream.host_joined', 'ada', 'HOST'],
    ['live_stream.host_joined', 'bob', 'CO_HOST'],
    ['live_stream.host_left', 'bob', undefined],
    ['live_stream.host_joined', 'bob', 'CO_HOST'],
  ]);
});

test('[LIVE-5] viewers only watch, are counted, and cannot be a host', async () => {
  const project = await service.newProject();
  const { id } = await create(project);
  const viewer = await project.api.call('createViewerToken', {
    streamId: id,
    body: { identity: 'eve', permissions: { publish: true }, publish: true } as { identity: string },
  });
  assert.deepEqual(
    [viewer.role, viewer.rtc.permissions],
    [
      'VIEWER',
      {
        join: true,
        subscribe: true,
        publish: false,
        publishAudio: false,
        publishVideo: false,
        publishData: false,
        updateMetadata: false,
      },
    ],
  );
  await assert.rejects(
    project.api.call('createViewerToken', { streamId: id, body: { identity: 'ada' } }),
    failure('SVC_HOST_EXISTS'),
  );
  const client = await joinRoom(service.url, viewer.rtc.token);
  await assert.rejects(client.publish('VIDEO'));
  await eventually(async () =>
    assert.deepEqual(
      [
        (await project.api.call('getLiveStream', { streamId: id })).viewerCount,
        (await project.api.call('getLiveStream', { streamId: id })).peakViewerCount,
      ],
      [1, 1],
    ),
  );
  const left = await project.api.call('leaveLiveStream', { streamId: id, body: { identity: 'eve' } });
  assert.deepEqual([left.streamId, left.identity], [id, 'eve']);
  assert.deepEqual((await eventsOf(id)).map(({ type, data }) => [type, Object.keys(data).sort()]).slice(1), [
    ['live_stream.viewer_joined', ['at', 'identity', 'streamId']],
    ['live_stream.viewer_left', ['at', 'identity', 'streamId']],
  ]);
});

test('[LIVE-10] viewers are counted without the node listing its room, and not while it cannot be reached', async (t) => {
  const own = await startRooms();
  t.after(() => own.stop());
  const { node } = own;
  const project = await own.newProject();
  const { id } = await create(project);
  const count = async () => (await project.api.call('getLiveStream', { streamId: id })).viewerCount;
  assert.equal(await count(), 0);
  const { rtc } = await project.api.call('registerHost', { streamId: id, body: { identity: 'ada' } });
  const ada = await joinRoom(own.url, rtc.token);
  const viewer = await project.api.call('createViewerToken', { streamId: id, body: { identity: 'eve' } });
  const eve = await joinRoom(own.url, viewer.rtc.token);
  node.forget('snapshot');
  assert.equal(await count(), 1);
  const [listed] = await project.api.call('listLiveStreams', {});
  assert.equal(listed?.viewerCount, 1);
  assert.equal(node.heard.get('snapshot'), undefined);

  node.isDeaf = true;
  node.disconnect();
  await eventually(async () => assert.equal(await count(), null));
  await Promise.all([ada.close(), eve.close()]);
});

test('[RUN-33] the media node is told who is a viewer, and nobody who joins is told of one', async () => {
  const project = await service.newProject();
  const { id } = await create(project);
  const isViewer = () => (service.node.heard.get('participant.add') as { viewer?: boolean }).viewer;
  const viewer = await project.api.call('createViewerToken', { streamId: id, body: { identity: 'eve' } });
  const eve = await joinRoom(service.url, viewer.rtc.token);
  assert.equal(isViewer(), true);
  const { rtc } = await project.api.call('registerHost', { streamId: id, body: { identity: 'ada' } });
  const ada = await joinRoom(service.url, rtc.token);
  assert.equal(isViewer(), undefined);
  assert.deepEqual([ada.others, ada.joined.participants], [[], []]);
  await Promise.all([eve.close(), ada.close()]);
});

/** A room of its own accord, up to what the deployment lets it. */
async function assertLargeRooms(url: string, api: TestProject['api']): Promise<void> {
  const usual = await api.call('createRoom', { body: { name: 'usual' } });
  const large = await api.call('createRoom', { body: { name: 'large', maxParticipants: 5 } });
  assert.deepEqual([usual.maxParticipants, large.maxParticipants], [1, 2]);
  for (const [room, places] of [[usual, 1] as const, [large, 2] as const]) {
    const joins = ['a', 'b', 'c'].map(async (participantIdentity) => {
      const { token } = await api.call('mintRtcToken', { roomId: room.id, body: { participantIdentity } });
      return joinRoom(url, token);
    });
    const outcomes = await Promise.allSettled(joins);
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, places);
  }
}

test('[LIVE-6] [RTC-105] the audience has its own ceiling, apart from the room’s, and a room one that it asked for', async () => {
  const env = {
    SIGNALING_MAX_PARTICIPANTS_PER_ROOM: '1',
    SIGNALING_MAX_PARTICIPANTS_OF_LARGE_ROOMS: '2',
    LIVE_STREAM_MAX_VIEWERS: '3',
  };
  const small = await startRooms({ env });
  try {
    const project = await small.newProject();
    await assertLargeRooms(small.url, project.api);
    const { id } = await project.api.call('createLiveStream', { body: { title: 'Small', hostIdentity: 'ada' } });
    const host = await project.api.call('registerHost', { streamId: id, body: { identity: 'ada' } });
    await joinRoom(small.url, host.rtc.token);
    const tokens = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((identity) =>
        project.api.call('createViewerToken', { streamId: id, body: { identity } }),
      ),
    );
    const joins = await Promise.allSettled(tokens.map(({ rtc }) => joinRoom(small.url, rtc.token)));
    assert.equal(joins.filter(({ status }) => status === 'fulfilled').length, 3);
  } finally {
    await small.stop();
  }
});

test('[LIVE-7] one project and environment never reaches another’s streams', async () => {
  const [mine, theirs] = [await service.newProject(), await service.newProject()];
  const { id } = await create(theirs);
  const production = service.as(await theirs.newKey('PRODUCTION'));
  for (const api of [mine.api, production]) {
    for (const name of ['getLiveStream', 'startLiveStream', 'endLiveStream'] as const)
      await assert.rejects(api.call(name, { streamId: id }), failure('SVC_STREAM_NOT_FOUND'));
    await assert.rejects(
      api.call('createViewerToken', { streamId: id, body: { identity: 'eve' } }),
      failure('SVC_STREAM_NOT_FOUND'),
    );
    assert.deepEqual(await api.call('listLiveStreams'), []);
  }
  assert.equal((await theirs.api.call('listLiveStreams')).length, 1);
});
