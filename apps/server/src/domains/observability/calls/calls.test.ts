import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { joinAs, newRoom, type RoomsService, sharedRooms } from '../../../../testkit/clients/rooms.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { failure } from '../../../../testkit/kit/failure.ts';

let service: RoomsService;
before(async () => {
  service = await sharedRooms();
});

/** Twenty seconds of a microphone that goes out, with this loss. */
const sampled = (trackId: string, loss: number) => ({
  everyMs: 5_000,
  count: 4,
  bandwidth: [600, 600, 600, 600],
  tracks: [
    {
      id: trackId,
      way: 'out',
      kind: 'audio',
      kbps: [30, 30, 30, 30],
      loss: [loss, loss, loss, loss],
      rtt: [50, 50, 50, 50],
    },
  ],
});

type Stay = Awaited<ReturnType<typeof joinAs>>;

async function send(at: RoomsService, { token, connectionId }: Pick<Stay, 'token' | 'connectionId'>, data: object) {
  const body = { connectionId, type: 'stats.sample' as const, data: { ...data } };
  return (await at.as(token).call('sendTelemetry', { body })).accepted;
}

/** A call of two people, one of whom loses packets. */
async function badCall(at: RoomsService, loss = 14) {
  const project = await at.newProject();
  const room = await newRoom(project.api);
  const ada = await joinAs(at, project.api, room, 'ada');
  const grace = await joinAs(at, project.api, room, 'grace');
  await eventually(async () => assert.ok(await send(at, ada, sampled('tr_a', loss))));
  await eventually(async () => assert.ok(await send(at, grace, sampled('tr_g', 0))));
  const [call] = await project.owner.api.call('listProjectCalls', { projectId: project.id });
  return { project, room, ada, grace, call: call ?? assert.fail('no call is listed') };
}

test('[OBS-26] [OBS-27] samples make a call with scores and a sentence that names who lost packets', async () => {
  const { project, room, ada, call } = await badCall(service);
  assert.deepEqual([call.roomId, call.roomName, call.participantCount], [room.id, room.name, 2]);
  assert.ok((call.worstScore ?? 9) < 3.5 && (call.score ?? 0) > (call.worstScore ?? 9), JSON.stringify(call));
  const { api } = project.owner;
  const detail = await api.call('getProjectCall', { projectId: project.id, callId: call.id });
  assert.deepEqual(detail.participants.map(({ name }) => name).sort(), ['ada', 'grace']);
  assert.deepEqual(
    detail.findings.map(({ rule, participant }) => [rule, participant]),
    [['UPLINK_LOSS', 'ada']],
  );
  assert.match(detail.findings[0]?.sentence ?? '', /^The uplink of ada lost up to 14 % from /);
  const lane = detail.participants.find(({ name }) => name === 'ada');
  assert.ok(lane?.steps.some(({ type }) => type === 'join.succeeded'));
  assert.deepEqual(
    lane?.tracks[0]?.points.map(({ lossPercent }) => lossPercent),
    [14, 14, 14, 14],
  );
  // By our clock, five seconds apart.
  const times = lane?.tracks[0]?.points.map(({ at }) => Date.parse(at)) ?? [];
  assert.deepEqual(
    times.slice(1).map((time, index) => time - (times[index] ?? 0)),
    [5_000, 5_000, 5_000],
  );

  const worse = await newRoom(project.api);
  const linus = await joinAs(service, project.api, worse, 'linus');
  await eventually(async () => assert.ok(await send(service, linus, sampled('tr_l', 30))));
  const list = (query: object) => api.call('listProjectCalls', { projectId: project.id, query });
  assert.deepEqual(
    (await list({ sort: 'worst' })).map(({ roomId }) => roomId),
    [worse.id, room.id],
  );
  assert.deepEqual(
    (await list({ sort: 'worst', maxScore: 2 })).map(({ roomId }) => roomId),
    [worse.id],
  );
  assert.deepEqual(
    (await list({ roomId: room.id })).map(({ id }) => id),
    [call.id],
  );
  const { headers } = await api.request('listProjectCalls', {
    projectId: project.id,
    query: { sort: 'worst', limit: 1 },
  });
  const cursor = headers.get('x-next-cursor') ?? assert.fail();
  assert.deepEqual(
    (await list({ sort: 'worst', limit: 1, cursor })).map(({ id }) => id),
    [call.id],
  );
  // Samples of somebody else's connection, and nonsense, are not taken.
  assert.equal(await send(service, { token: linus.token, connectionId: ada.connectionId }, sampled('tr_a', 99)), false);
  assert.equal(await send(service, ada, { everyMs: 'often' }), false);
});

test('[OBS-28] a link shows one call without a sign-in, without names if wanted, for 24 hours', async () => {
  const { project, room, ada, call } = await badCall(service);
  const { api } = project.owner;
  const told = { trackId: 'tr_a', reason: 'ada went away', source: 'the mouth of ada' };
  const said = { connectionId: ada.connectionId, type: 'track.published' as const, data: told };
  assert.ok((await service.as(ada.token).call('sendTelemetry', { body: said })).accepted);
  const target = { projectId: project.id, callId: call.id };
  const share = (withoutNames: boolean) => api.call('shareCall', { ...target, body: { withoutNames } });
  const anybody = service.as('');
  const open = (url: string) => anybody.call('readSharedCall', { body: { token: new URL(url).hash.slice(1) } });
  const named = await share(false);
  assert.equal(new URL(named.url).pathname, '/shared-call');
  assert.deepEqual(await open(named.url), await api.call('getProjectCall', target));
  const nameless = await open((await share(true)).url);
  assert.doesNotMatch(JSON.stringify(nameless), /ada|grace|node-1|tr_a/);
  for (const secret of [room.id, room.name, ada.connectionId]) assert.ok(!JSON.stringify(nameless).includes(secret));
  assert.equal(nameless.participants[0]?.stays[0]?.connectionId, 'connection-1');
  assert.equal(nameless.roomId, null);
  assert.match(nameless.findings[0]?.sentence ?? '', /^The uplink of Participant \d lost/);
  const token = new URL(named.url).hash.slice(1);
  const altered = `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`;
  for (const forged of [token.slice(0, -2), altered, 'nothing'])
    await assert.rejects(
      anybody.call('readSharedCall', { body: { token: forged } }),
      failure('SVC_INVALID_TOKEN_LINK'),
    );
  const stranger = await service.newProject();
  const elsewhere = { projectId: stranger.id, callId: call.id };
  await assert.rejects(stranger.owner.api.call('getProjectCall', elsewhere), failure('SVC_CALL_NOT_FOUND'));
  await assert.rejects(stranger.owner.api.call('shareCall', { ...elsewhere, body: {} }), failure('SVC_CALL_NOT_FOUND'));
  const viewer = await project.member('VIEWER');
  await assert.rejects(viewer.api.call('shareCall', { ...target, body: {} }), failure('SVC_PERMISSION_DENIED'));
  const [entry] = await api.call('listAuditLogs', { projectId: project.id, query: { action: 'call.shared' } });
  assert.equal(entry?.resourceId, call.id);
  await api.call('archiveProject', { projectId: project.id });
  await assert.rejects(open(named.url), failure('SVC_PROJECT_ARCHIVED'));
});

test('[DASH-72] the lane of a participant has what they did: joined, published, muted, left', async () => {
  const { project, ada, call } = await badCall(service);
  const [audio] = await ada.publish('AUDIO');
  await ada.ask({ type: 'track.mute', trackId: audio, muted: true });
  await ada.ask({ type: 'track.mute', trackId: audio, muted: false });
  ada.send({ type: 'leave' });
  const ids = { projectId: project.id, callId: call.id };
  await eventually(async () => {
    const { participants } = await project.owner.api.call('getProjectCall', ids);
    const did = participants.find(({ name }) => name === 'ada')?.steps.map(({ type }) => type) ?? [];
    const wanted = ['join.succeeded', 'track.published', 'track.muted', 'track.unmuted', 'left'];
    assert.deepEqual(
      did.filter((type) => wanted.includes(type)),
      wanted,
    );
  });
});

test('[OBS-55] what the media node counted of a track stands beside what its SDK measured', async () => {
  const { project, room, ada, call } = await badCall(service, 0);
  const { node } = service;
  const nine = (value: number) => Array.from({ length: 9 }, () => value);
  const track = { id: 'tr_a', way: 'out' as const, kind: 'audio' as const };
  const counted = { ...track, kbps: nine(27), loss: nine(30) };
  const batch = { room: room.id, participant: ada.joined.sessionId, everyMs: 5_000, tracks: [counted] };
  // One may come early, more is beyond the time that has passed.
  for (let times = 0; times < 4; times++) node.emit('track.samples', batch);
  node.emit('track.samples', { ...batch, participant: 'ps_nobody' });
  const target = { projectId: project.id, callId: call.id };
  await eventually(async () => {
    const detail = await project.owner.api.call('getProjectCall', target);
    const tracks = detail.participants.find(({ name }) => name === 'ada')?.tracks ?? [];
    assert.deepEqual(
      tracks.map(({ measuredBy, publisher, points }) => [measuredBy, publisher, points[0]?.kbps]).sort(),
      [
        ['client', 'ada', 30],
        ['node', 'ada', 27],
      ],
    );
    // A sentence would be the node's: it has none.
    assert.deepEqual([detail.findings, detail.worstScore], [[], call.worstScore]);
  });
});
