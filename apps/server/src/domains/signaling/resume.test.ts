import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  joinAs,
  newRoom,
  passTime,
  type RoomsService,
  sharedRooms,
  startTimedRooms,
} from '../../../testkit/clients/rooms.ts';
import { joinRoom, type SignalClient } from '../../../testkit/clients/signal-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';

let service: RoomsService;
let second: TestService;
before(async () => {
  service = await sharedRooms();
  second = await startService({ beside: service });
});
after(async () => {
  await second.stop();
});

const resumeOf = (client: SignalClient) => ({
  sessionId: client.joined.sessionId,
  resumeToken: client.joined.resumeToken,
  lastSeq: client.highestSeq(),
});

test('[SIG-10] a lost socket is taken up at any process: same session, the missed events, media untouched', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const [ada, bob] = [await joinAs(service, api, room, 'ada'), await joinAs(service, api, room, 'bob')];
  const [own = ''] = await ada.publish('AUDIO');
  await ada.take('track.published');
  await ada.take('participant.joined');
  const resume = resumeOf(ada);
  ada.ws.terminate();
  const lost = (await bob.take('quality'))['updates'] as { identity: string; quality: string }[];
  assert.deepEqual([lost[0]?.identity, lost[0]?.quality], ['ada', 'LOST']);
  const carol = await joinAs(service, api, room, 'carol');
  assert.equal(carol.others.find(({ identity }) => identity === 'ada')?.quality, 'LOST');
  const [hers] = await carol.publish('VIDEO');
  await bob.take('track.published', ({ identity }) => identity === 'carol');

  const back = await joinRoom(second.url, ada.token, { resume });
  assert.deepEqual(
    [back.joined.resumed, back.joined.sessionId, back.joined.seq],
    [true, resume.sessionId, resume.lastSeq],
  );
  assert.deepEqual(
    back.joined.participant.tracks.map(({ id }) => id),
    [own],
  );
  const joined = (await back.take('participant.joined'))['participant'] as { identity: string };
  assert.equal(joined.identity, 'carol');
  assert.equal(((await back.take('track.published'))['track'] as { id: string }).id, hers);
  const found = (await bob.take('quality'))['updates'] as { identity: string; quality: string | null }[];
  assert.deepEqual([found[0]?.identity, found[0]?.quality], ['ada', null]);
  assert.ok(!bob.frames.some(({ type }) => type === 'participant.left'));
  // Its frames and events go by the new process from here on.
  const [more] = await back.publish('VIDEO');
  assert.equal(
    ((await bob.take('track.published', ({ identity }) => identity === 'ada'))['track'] as { id: string }).id !==
      undefined,
    true,
  );
  await bob.take('track.published', (frame) => (frame['track'] as { id: string }).id === more);
  assert.deepEqual(
    (await api.call('listRoomSessions', { id: room.id })).map(({ participantIdentity, leftAt }) => [
      participantIdentity,
      leftAt,
    ]),
    [
      ['carol', null],
      ['bob', null],
      ['ada', null],
    ],
  );
  for (const one of [bob, carol, back]) await one.close();
});

test('[SIG-10] coming back while the old socket is still open closes the old one, here and elsewhere', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const here = await joinRoom(service.url, ada.token, { resume: resumeOf(ada) });
  assert.deepEqual([here.joined.resumed, (await ada.whenClosed()).code], [true, 1001]);
  const there = await joinRoom(second.url, ada.token, { resume: resumeOf(here) });
  assert.deepEqual([there.joined.resumed, (await here.whenClosed()).code], [true, 1001]);
  assert.equal((await there.ask({ type: 'participant.update', metadata: 'still here' })).type, 'response');
  assert.deepEqual(service.node.rooms().get(room.id), ['ada']);
  await there.close();
});

test('[SIG-10] a wrong secret, another session or one that ended is no resume: a fresh join follows', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const [ada, bob] = [await joinAs(service, api, room, 'ada'), await joinAs(service, api, room, 'bob')];
  for (const resume of [
    { ...resumeOf(ada), resumeToken: 'guess' },
    { ...resumeOf(ada), sessionId: bob.joined.sessionId },
    { ...resumeOf(ada), sessionId: 'ps_none' },
    { ...resumeOf(ada), lastSeq: 1_000 },
  ]) {
    const fresh = await joinRoom(service.url, ada.token, { resume });
    assert.equal(fresh.joined.resumed, false);
    assert.notEqual(fresh.joined.sessionId, ada.joined.sessionId);
    assert.deepEqual(
      fresh.others.map(({ identity }) => identity),
      ['bob'],
    );
    await fresh.close();
  }
  assert.equal(bob.closed, null);
  await bob.close();
});

test('[SIG-11] a client that does not resume within 20 s has left when the socket was lost', async () => {
  const timed = await startTimedRooms();
  try {
    const { api } = await timed.newProject();
    const room = await newRoom(api);
    const [ada, bob] = [await joinAs(timed, api, room, 'ada'), await joinAs(timed, api, room, 'bob')];
    const stay = async () => {
      bob.send({ type: 'ping', t: 0 });
      await timed.node.heartbeat();
    };
    await passTime(timed, 3, stay);
    const lostAt = timed.clock.now();
    ada.ws.terminate();
    await bob.take('quality');
    await passTime(timed, 18, stay);
    assert.ok(!bob.frames.some(({ type }) => type === 'participant.left'));
    await passTime(timed, 4, stay);
    assert.deepEqual((await bob.take('participant.left'))['reason'], 'CONNECTION_TIMEOUT');
    const [past] = (await api.call('listRoomSessions', { id: room.id })).filter(
      ({ participantIdentity }) => participantIdentity === 'ada',
    );
    assert.equal(Date.parse(past?.leftAt ?? ''), lostAt);
    await eventually(() => assert.deepEqual(timed.node.rooms().get(room.id), ['bob']));
    const late = await joinRoom(timed.url, ada.token, { resume: resumeOf(ada) });
    assert.equal(late.joined.resumed, false);

    // Silence is a lost socket too: the minutes end with the last word.
    const lastWord = timed.clock.now();
    await passTime(timed, 55, stay);
    assert.equal((await late.whenClosed()).code, 4408);
    const silent = (await api.call('listRoomSessions', { id: room.id })).find(
      ({ sessionId }) => sessionId === late.joined.sessionId,
    );
    assert.equal(Date.parse(silent?.leftAt ?? ''), lastWord);
    assert.equal(bob.closed, null);
    await bob.close();
  } finally {
    await timed.stop();
  }
});

test('[SIG-12] a process that stops sends its clients to another, where they resume', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const leaving = await startService({ beside: service });
  const [ada, bob] = [await joinAs(leaving, api, room, 'ada'), await joinAs(service, api, room, 'bob')];
  await ada.take('participant.joined');
  const resume = resumeOf(ada);
  await leaving.stop();
  assert.deepEqual([(await ada.take('reconnect'))['action'], (await ada.whenClosed()).code], ['RESUME', 4503]);
  const back = await joinRoom(service.url, ada.token, { resume });
  assert.equal(back.joined.resumed, true);
  assert.ok(!bob.frames.some(({ type }) => type === 'participant.left'));
  for (const one of [back, bob]) await one.close();
});

test('[SIG-18] data for a participant whose socket is lost comes when it resumes, here or at another process', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const mayTalk = { token: { permissions: { publishData: true } } };
  const bob = await joinAs(service, api, room, 'bob', mayTalk);
  const { token, ...first } = await joinAs(service, api, room, 'ada', mayTalk);
  let ada: SignalClient = first;
  for (const [payload, url] of [
    ['while away', service.url],
    ['and again', second.url],
  ] as const) {
    const resume = resumeOf(ada);
    const isLost = bob.take('quality', ({ updates }) => JSON.stringify(updates).includes('LOST'));
    ada.ws.terminate();
    await isLost;
    const sent = await bob.ask({ type: 'data', payload, to: ['ada'] });
    assert.deepEqual((sent as { data?: unknown }).data, { delivered: 1 });
    ada = await joinRoom(url, token, { resume });
    assert.equal(ada.joined.resumed, true);
    assert.equal((await ada.take('data'))['payload'], payload);
  }
});

test('[SIG-29] data that comes while a session is handed over to another process reaches it too', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada', { token: { permissions: { publishData: true } } });
  const { sessionId } = ada.joined;
  const says = { from: null, topic: null, encoding: 'utf8', at: new Date().toISOString() } as const;
  const sent: string[] = [];
  const timer = setInterval(() => {
    const payload = String(sent.length);
    sent.push(payload);
    service.node.emit('data', { room: room.id, participant: sessionId, ...says, payload });
  });
  await ada.take('data');
  // The old socket is open, so that nothing is lost on its way to the client.
  const back = await joinRoom(second.url, ada.token, { resume: resumeOf(ada) });
  assert.equal(back.joined.resumed, true);
  await back.take('data');
  clearInterval(timer);
  const got = () =>
    [ada, back].flatMap(({ frames }) => frames.flatMap(({ type, payload }) => (type === 'data' ? [payload] : [])));
  await eventually(() => assert.deepEqual(got().sort(), sent.sort()));
  await back.close();
});
