import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeMedia } from '../testkit/fake-devices.ts';
import { createFakeWorld, type FakeSocket, settle } from '../testkit/fake-world.ts';
import { joined, joinOf, welcome } from '../testkit/joined-room.ts';
import { createAutoplay } from './media/autoplay.ts';
import { Room } from './room.ts';
import type { ParticipantState, TrackState } from './room-types.ts';

const camera = { id: 'trk_1', kind: 'VIDEO', source: 'CAMERA', name: 'desk', muted: false };

/** Ada is in a room with bob; `state` reads what her page would draw. */
async function rig() {
  const world = createFakeWorld();
  const room = await joined(world);
  const socket = world.sockets.at(-1) ?? assert.fail('no socket');
  return { world, room, socket, state: room.state.getSnapshot };
}

const bobIn = (room: Room): ParticipantState => room.state.getSnapshot().participants[0] ?? assert.fail('no bob');
const trackOf = (bob: ParticipantState): TrackState => bob.tracks[0] ?? assert.fail('no track');

function publishCamera(socket: FakeSocket): void {
  socket.receive({ type: 'track.published', seq: 2, identity: 'bob', track: camera });
}

test('[SDK-70] a call that is interrupted says why and since when; whole again, it does not', async () => {
  const { world, room, socket, state } = await rig();
  assert.deepEqual([state().error, state().reconnectingSince], [null, null]);
  const before = Date.now();
  socket.drop(1006);
  await world.advance(0);
  const { connection, error, reconnectingSince } = state();
  assert.deepEqual([connection, error?.code], ['reconnecting', 'network']);
  assert.ok(reconnectingSince !== null && reconnectingSince >= before && reconnectingSince <= Date.now());
  await world.advance(1_000);
  assert.equal(state().reconnectingSince, reconnectingSince, 'it goes on');
  await welcome(world, true);
  assert.deepEqual([state().connection, state().error, state().reconnectingSince], ['connected', null, null]);
  await room.leave();
});

test('[SDK-70] a call that is over says why, unless it was left', async () => {
  for (const [end, code] of [
    [({ socket }: { socket: FakeSocket }) => socket.drop(4404), 'room_closed'],
    [({ room }: { room: Room }) => void room.leave(), undefined],
  ] as const) {
    const { world, room, socket, state } = await rig();
    end({ room, socket });
    await world.advance(0);
    assert.deepEqual([state().connection, state().error?.code, state().self], ['disconnected', code, null]);
  }
});

test('[SDK-70] own quality and who speaks, loudest first, are part of it', async () => {
  const { room, socket, state } = await rig();
  const speakers = [
    { identity: 'ada', level: 0.2, active: true },
    { identity: 'bob', level: 0.7, active: true },
  ];
  socket.receive({ type: 'speakers', speakers });
  socket.receive({ type: 'quality', updates: [{ identity: 'ada', quality: 'POOR', score: 2 }] });
  assert.deepEqual([state().quality, state().activeSpeakers], ['poor', ['bob', 'ada']]);
  assert.deepEqual([bobIn(room).isSpeaking, bobIn(room).audioLevel, state().self?.quality], [true, 0.7, 'poor']);
  const { activeSpeakers } = state();
  socket.receive({ type: 'speakers', speakers: [{ identity: 'bob', level: 0.6, active: true }] });
  assert.equal(state().activeSpeakers, activeSpeakers, 'the same two, in the same order');
  await room.leave();
});

test('[SDK-70] [SDK-39] sound is blocked from the first element that may not play to the last that waits', async () => {
  const told: boolean[] = [];
  const autoplay = createAutoplay((isBlocked) => told.push(isBlocked));
  // What it uses of an element.
  const [one, two] = [0, 1].map(() => ({ play: async () => {} }) as HTMLMediaElement);
  assert.ok(one && two);
  autoplay.block(one);
  autoplay.block(two);
  autoplay.forget(one);
  assert.deepEqual([told, autoplay.isBlocked], [[true], true]);
  autoplay.forget(two);
  autoplay.forget(two);
  autoplay.block(one);
  await autoplay.start();
  assert.deepEqual([told, autoplay.isBlocked], [[true, false, true, false], false]);
});

test('[SDK-71] what did not change is the same object, up to the whole state', async () => {
  const { room, socket, state } = await rig();
  publishCamera(socket);
  const [all, self, bob] = [state(), state().self, bobIn(room)];
  socket.receive({ type: 'quality', updates: [{ identity: 'ada', quality: 'GOOD', score: 3 }] });
  assert.notEqual(state(), all);
  assert.notEqual(state().self, self);
  assert.equal(bobIn(room), bob);
  assert.equal(state().participants, all.participants);
  const now = state();
  socket.receive({ type: 'speakers', speakers: [] });
  assert.equal(state(), now, 'nobody speaks, as before');
  socket.receive({ type: 'speakers', speakers: [{ identity: 'bob', level: 0.5, active: true }] });
  assert.notEqual(bobIn(room), bob);
  assert.equal(bobIn(room).tracks, bob.tracks);
  assert.deepEqual([bob.isSpeaking, bob.participant === room.participants.get('bob')], [false, true]);
  await room.leave();
});

test('[SDK-90] a change of one participant reads that one again, however many others there are', async () => {
  const { room, socket, state } = await rig();
  const { permissions } = room.self;
  for (let at = 0; at < 100; at++) {
    const participant = { identity: `p${at}`, sessionId: `ps_${at}`, metadata: null, permissions, tracks: [camera] };
    socket.receive({ type: 'participant.joined', seq: at + 3, participant });
  }
  const before = state().participants;
  const read = new Set<string>();
  for (const participant of room.participants.values()) {
    const { identity, publications } = participant;
    Object.defineProperty(participant, 'publications', { get: () => read.add(identity) && publications });
  }
  socket.receive({ type: 'speakers', speakers: [{ identity: 'p7', level: 0.5, active: true }] });
  const { participants, activeSpeakers } = state();
  assert.deepEqual([[...read], activeSpeakers], [['p7'], ['p7']]);
  assert.deepEqual(
    participants.filter((one, at) => one !== before[at]).map(({ identity, isSpeaking }) => [identity, isSpeaking]),
    [['p7', true]],
  );
  read.clear();
  socket.receive({ type: 'quality', updates: [{ identity: 'ada', quality: 'POOR', score: 2 }] });
  assert.deepEqual([state().participants === participants, read.size], [true, 0], 'own changes read nobody else');
  await room.leave();
});

test('[SDK-71] tracks are there from their publication on, with name and who muted them', async () => {
  const { room, socket } = await rig();
  publishCamera(socket);
  const published = trackOf(bobIn(room));
  assert.deepEqual(published, {
    trackId: 'trk_1',
    kind: 'video',
    source: 'CAMERA',
    name: 'desk',
    metadata: null,
    isMuted: false,
    isMutedByServer: false,
    streamState: 'active',
    pauseReason: null,
    isSubscribed: false,
    track: null,
  });
  socket.receive({ type: 'track.muted', seq: 3, identity: 'bob', trackId: 'trk_1', muted: true, by: 'SERVER' });
  assert.deepEqual([trackOf(bobIn(room)).isMuted, trackOf(bobIn(room)).isMutedByServer], [true, true]);
  socket.receive({ type: 'track.muted', seq: 4, identity: 'bob', trackId: 'trk_1', muted: false, by: 'SERVER' });
  assert.deepEqual(trackOf(bobIn(room)), published);
  assert.equal(published.isMuted, false, 'it was not changed under those who drew it');
  await room.leave();
});

/** A browser's peer connection, as far as publishing a microphone goes. */
class MicrophonePeer {
  readonly #line = { mid: '0', direction: 'sendonly', sender: {}, stop() {} };
  readonly localDescription = {
    sdp: [
      ...['v=0', 'a=ice-ufrag:u', `a=ice-pwd:${'p'.repeat(22)}`, 'a=fingerprint:sha-256 00:11', 'a=setup:actpass'],
      ...['m=audio 9 UDP/TLS/RTP/SAVPF 111', 'a=mid:0', 'a=sendonly', 'a=rtpmap:111 opus/48000/2', ''],
    ].join('\r\n'),
  };
  addTransceiver = () => this.#line;
  getTransceivers = () => [this.#line];
  async setLocalDescription() {}
  async setRemoteDescription() {}
  close() {}
}

test('[SDK-51] what the server mutes shows at the muted participant, and each change is told once', async (context) => {
  const native = globalThis.RTCPeerConnection;
  Object.assign(globalThis, { RTCPeerConnection: MicrophonePeer });
  context.after(() => Object.assign(globalThis, { RTCPeerConnection: native }));
  const { room, socket, state } = await rig();
  const publishing = room.self.publish(fakeMedia('audio', 'mic-1'), { source: 'MICROPHONE' });
  await settle();
  const { id, tracks } = socket.sent.find(({ type }) => type === 'publish') ?? assert.fail('nothing is published');
  const [{ cid }] = tracks as [{ cid: string }];
  const answer = { ice: { ufrag: 'u', pwd: 'p' }, dtls: { role: 'passive', fingerprint: 'sha-256 00:11' } };
  const media = [{ mid: '0', kind: 'audio', direction: 'recvonly', codecs: [{ pt: 111, name: 'opus' }] }];
  const data = { tracks: [{ cid, trackId: 'trk_9' }], description: { ...answer, media } };
  socket.receive({ type: 'response', ref: id, data });
  const track = await publishing;
  const told: string[] = [];
  for (const name of ['trackMuted', 'trackUnmuted'] as const)
    room.on(name, ({ trackId }, { identity }) => void told.push(`${name} ${trackId} ${identity}`));
  const shown = () => state().self?.tracks.map(({ isMuted, isMutedByServer }) => [isMuted, isMutedByServer]);
  socket.receive({ type: 'server.mute', seq: 2, trackId: 'trk_9', muted: true });
  assert.deepEqual([shown(), track.mediaStreamTrack.enabled], [[[true, true]], false]);
  socket.receive({ type: 'server.mute', seq: 3, trackId: 'trk_9', muted: false });
  assert.deepEqual([shown(), track.mediaStreamTrack.enabled], [[[false, false]], true]);
  socket.receive({ type: 'server.mute', seq: 4, trackId: 'trk_other', muted: true });
  assert.deepEqual([shown(), told], [[[false, false]], ['trackMuted trk_9 ada', 'trackUnmuted trk_9 ada']]);
  await room.leave();
});

test('[SDK-71] the name is that of the metadata, or the identity', async () => {
  const { room, socket } = await rig();
  const { permissions } = bobIn(room).participant;
  const named = (metadata: string | null) => {
    const participant = { identity: 'bob', sessionId: 'ps_2', metadata, permissions, quality: null, tracks: [] };
    socket.receive({ type: 'participant.updated', seq: 2, participant });
    return bobIn(room).name;
  };
  assert.equal(bobIn(room).name, 'bob');
  assert.equal(named('{"name":"Bob Ross","team":"paint"}'), 'Bob Ross');
  assert.deepEqual(['null', '{', '{"name":7}', '{"name":""}', 'host', null].map(named), Array(6).fill('bob'));
  await room.leave();
});

test('[SDK-77] events about tracks name the track, as the state has it, and then its participant', async () => {
  const { room, socket } = await rig();
  const heard: [string, TrackState, string][] = [];
  for (const name of ['trackPublished', 'trackMuted', 'trackUnmuted', 'trackUnpublished'] as const)
    room.on(name, (track, { identity }) => {
      heard.push([name, track, identity]);
      const drawn = bobIn(room).tracks;
      assert.deepEqual(drawn, name === 'trackUnpublished' ? [] : [track]);
      assert.ok(name === 'trackUnpublished' || drawn[0] === track, 'the object that is drawn');
    });
  publishCamera(socket);
  const change = { identity: 'bob', trackId: 'trk_1' };
  socket.receive({ type: 'track.muted', seq: 3, ...change, muted: true, by: 'PUBLISHER' });
  socket.receive({ type: 'track.muted', seq: 4, ...change, muted: false, by: 'PUBLISHER' });
  socket.receive({ type: 'track.unpublished', seq: 5, ...change });
  assert.deepEqual(
    heard.map(([name, { trackId, source, isMuted }, identity]) => [name, trackId, source, isMuted, identity]),
    [
      ['trackPublished', 'trk_1', 'CAMERA', false, 'bob'],
      ['trackMuted', 'trk_1', 'CAMERA', true, 'bob'],
      ['trackUnmuted', 'trk_1', 'CAMERA', false, 'bob'],
      ['trackUnpublished', 'trk_1', 'CAMERA', false, 'bob'],
    ],
  );
  await room.leave();
});

test('[SDK-91] a track has the name and the metadata that its publisher gave it', async () => {
  const { room, socket } = await rig();
  const metadata = '{"slide":3}';
  socket.receive({ type: 'track.published', seq: 2, identity: 'bob', track: { ...camera, metadata } });
  assert.deepEqual([trackOf(bobIn(room)).name, trackOf(bobIn(room)).metadata], ['desk', metadata]);
  await room.leave();
});

test('[SDK-92] whether the room is recorded is known from the join on, and every change of it is told once', async () => {
  const { world, room, socket, state } = await rig();
  const told: boolean[] = [];
  room.on('recordingChanged', (isRecording) => told.push(isRecording));
  assert.equal(state().isRecording, false);
  for (const recording of [true, true]) socket.receive({ type: 'room.updated', seq: 2, room: { recording } });
  assert.deepEqual([state().isRecording, told], [true, [true]]);
  socket.drop(1006);
  await world.advance(1_000);
  assert.equal(state().isRecording, true, 'a lost connection ends no recording');
  await welcome(world, true);
  assert.deepEqual([state().isRecording, told], [false, [true, false]], 'the join says that it has ended meanwhile');
  await room.leave();

  const recorded = createFakeWorld();
  const late = await joined(recorded, {}, { recording: true });
  assert.equal(late.state.getSnapshot().isRecording, true);
  await late.leave();
  assert.equal(late.state.getSnapshot().isRecording, false);
});

test('[SDK-93] what oneself may do is in the state, and a change of it in the call is told, also one that was missed', async () => {
  const { world, room, socket, state } = await rig();
  const told: boolean[] = [];
  room.on('permissionsChanged', ({ publish }, self) => told.push(publish && self === room.self));
  const before = state().self?.permissions ?? assert.fail('no permissions');
  assert.equal(before.publish, true);
  const less = { ...before, publish: false };
  socket.receive({ type: 'permissions.changed', permissions: less, by: 'SERVER' });
  assert.deepEqual([state().self?.permissions, told], [less, [false]]);
  assert.equal(before.publish, true, 'the snapshot before is as it was');
  const now = state().self;
  socket.receive({ type: 'permissions.changed', permissions: { ...less }, by: 'SERVER' });
  assert.deepEqual([state().self === now, told.length], [true, 1], 'the same is no news');
  socket.drop(1006);
  await world.advance(1_000);
  await welcome(world, true);
  assert.deepEqual([state().self?.permissions?.publish, told], [true, [false, true]]);
  assert.equal(bobIn(room).permissions?.publish, true);
  await room.leave();
});

test('[RTC-107] the region that the application asks for is said with each join', async () => {
  const world = createFakeWorld();
  const room = await joined(world, { region: 'eu-west' });
  world.sockets.at(-1)?.drop(1006);
  await world.advance(1_000);
  await welcome(world);
  const said = world.sockets.map((socket) => joinOf(socket)['region']);
  assert.deepEqual(said, ['eu-west', 'eu-west']);
  assert.ok(!world.sockets.at(-1)?.url.includes('?'), 'to resume takes a secret, which no address may hold');
  await room.leave();
});

test('[MED-99] the join says how many videos the page takes at once, if it said so', async () => {
  for (const maxVisible of [9, undefined]) {
    const world = createFakeWorld();
    const room = await joined(world, maxVisible === undefined ? {} : { maxVisible });
    assert.equal(joinOf(world.sockets.at(-1) ?? assert.fail('no socket'))['maxVisible'], maxVisible);
    await room.leave();
  }
});

test('[SDK-120] a large room comes in pages and changes: what is left out is as before, what came already is skipped', async () => {
  const world = createFakeWorld();
  const room = new Room({ url: 'http://parley.test', token: 't' }, world);
  const joins: string[] = [];
  room.on('participantJoined', ({ identity }) => joins.push(identity));
  const connecting = room.connect();
  await settle();
  const socket = await welcome(world, false, undefined, true);
  assert.equal(joinOf(socket)['roster'], true);
  const permissions = { publish: true, subscribe: true };
  const whole = { metadata: 'm', permissions, quality: null, tracks: [camera] };
  socket.receive({ type: 'roster', more: true, participants: [{ identity: 'cem', sessionId: 'ps_3', ...whole }] });
  const pages = [
    { identity: 'dan', sessionId: 'ps_4', ...whole, tracks: [] },
    { identity: 'eve', sessionId: 'ps_5' },
  ];
  socket.receive({ type: 'roster', more: false, participants: pages });
  await connecting;
  const event = {
    type: 'participant.joined',
    participant: { identity: 'fay', sessionId: 'ps_6', ...whole, tracks: [] },
  };
  const next = { type: 'participant.joined', participant: { identity: 'gus', sessionId: 'ps_7' } };
  socket.receive({
    type: 'changes',
    from: 2,
    events: [event, { type: 'participant.left', identity: 'dan', reason: 'UNKNOWN' }],
  });
  // Another process may tell again what came with the join.
  socket.receive({ type: 'changes', from: 2, events: [event, { type: 'participant.left', identity: 'eve' }, next] });
  const { participants } = room.state.getSnapshot();
  assert.deepEqual(joins, ['bob', 'cem', 'dan', 'eve', 'fay', 'gus']);
  assert.deepEqual(
    participants.map(({ identity, metadata, tracks }) => [identity, metadata, tracks.length]),
    [
      ['bob', null, 0],
      ['cem', 'm', 1],
      ['eve', 'm', 0],
      ['fay', 'm', 0],
      ['gus', 'm', 0],
    ],
  );
  assert.deepEqual(participants.at(-1)?.permissions, permissions);
  await room.leave();
});
