import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Room } from '@parley/contract';
import type { MediaEvents } from '@parley/contract/media-control';
import type { Api } from '@parley/server';
import { joinAs, newRoom, type RoomsService, startRooms } from '../../../testkit/clients/rooms.ts';
import { joinRoom, type SignalClient } from '../../../testkit/clients/signal-client.ts';
import type { ServerFrame } from '../../../testkit/clients/socket-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { createFakeClock, type FakeClock } from '../../../testkit/kit/fake-clock.ts';

/** A room with more than two is a large one here. */
let service: RoomsService;
let clock: FakeClock;
let api: Api;
before(async () => {
  clock = createFakeClock();
  service = await startRooms({ clock, env: { SIGNALING_MAX_PARTICIPANTS_PER_ROOM: '2' } });
  ({ api } = await service.newProject());
});
after(() => service.stop());

const paged = { join: { roster: true } };
const join = (room: Room, identity: string, options = {}): Promise<SignalClient> =>
  joinAs(service, api, room, identity, options);

type Change = { type: string; participant?: { identity: string }; track?: object };
const eventsOf = (frame: ServerFrame): Change[] => frame['events'] as Change[];
const changesOf = (one: SignalClient): ServerFrame[] => one.frames.filter(({ type }) => type === 'changes');
const joinedNames = (frames: readonly ServerFrame[]): (string | undefined)[] =>
  frames.flatMap(eventsOf).map(({ participant }) => participant?.identity);

test('[SIG-19] in a large room the others come in pages, publishers first, and later joins share what was read', async () => {
  const room = await newRoom(api, { maxParticipants: 9 });
  await join(room, 'quiet');
  const speaker = await join(room, 'speaker');
  const [trackId] = await speaker.publish('AUDIO');
  await eventually(async () => assert.equal((await api.call('getRoom', { id: room.id })).publisherCount, 1));
  const third = await join(room, 'third', paged);
  assert.deepEqual(third.joined.participants, []);
  const [first, second, ...rest] = third.others;
  assert.deepEqual([first?.identity, second?.identity, rest], ['speaker', 'quiet', []]);
  const shown = { id: trackId, kind: 'AUDIO', source: 'MICROPHONE', name: null, metadata: null, muted: false };
  assert.deepEqual(first?.tracks, [shown]);
  // As of the one before, but for the tracks.
  assert.deepEqual(Object.keys(second ?? {}), ['identity', 'sessionId', 'tracks']);

  const asked = service.node.heard.get('snapshot');
  const fourth = await join(room, 'fourth', paged);
  assert.equal(service.node.heard.get('snapshot'), asked, 'the roster was not read again');
  assert.equal(fourth.joined.seq, third.joined.seq);
  assert.deepEqual(new Set(fourth.others.map(({ identity }) => identity)), new Set(['speaker', 'quiet', 'third']));
  const fifth = await join(room, 'fifth', paged);
  assert.deepEqual(new Set(fifth.others.map(({ identity }) => identity)), new Set(['speaker', 'quiet', 'third']));
  assert.deepEqual(joinedNames(changesOf(fifth)), ['fourth', 'fifth']);
  assert.equal(changesOf(fifth)[0]?.['from'], fifth.joined.seq + 1);

  await clock.advance(2_001);
  service.node.forget('snapshot');
  const sixth = await join(room, 'sixth', paged);
  const members = { room: room.id, brief: true, withoutViewers: true };
  assert.deepEqual(service.node.heard.get('snapshot'), members, 'read again after two seconds');
  assert.equal(sixth.others.length, 5);

  const older = await join(room, 'older');
  assert.deepEqual(older.others.map(({ identity }) => identity).sort(), [
    'fifth',
    'fourth',
    'quiet',
    'sixth',
    'speaker',
    'third',
  ]);
  assert.ok(
    older.others.every(({ permissions, joinedAt }) => permissions && joinedAt),
    'whole records',
  );
});

test('[SIG-20] in a large room events come together, at most twice a second, each once and in order', async () => {
  const room = await newRoom(api, { maxParticipants: 20 });
  const older = await join(room, 'older');
  await join(room, 'second');
  const watcher = await join(room, 'watcher', paged);
  await clock.advance(1_000);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) await join(room, name);
  await eventually(() => assert.equal(older.frames.filter(({ type }) => type === 'participant.joined').length, 8));
  assert.deepEqual(joinedNames(changesOf(watcher)).slice(-1), ['a'], 'the first goes at once');
  await clock.advance(500);
  await eventually(() => assert.deepEqual(joinedNames(changesOf(watcher)).slice(-6), names));
  assert.equal(watcher.frames.filter(({ type }) => type === 'participant.joined').length, 0);
  const [start, ...more] = changesOf(watcher).slice(-2);
  assert.equal(more[0]?.['from'], Number(start?.['from']) + (start ? eventsOf(start).length : 0));
  assert.equal(more[0] && eventsOf(more[0]).length, 5, 'one frame for five events');
});

test('[SIG-21] lost sockets of a large room are told together', async () => {
  const room = await newRoom(api, { maxParticipants: 20 });
  const crowd = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => join(room, name)));
  const watcher = await join(room, 'watcher', paged);
  await clock.advance(1_000);
  for (const one of crowd) one.ws.terminate();
  const lost = (): unknown[][] =>
    watcher.frames
      .filter(({ type }) => type === 'quality')
      .map((frame) => (frame['updates'] as { identity: string }[]).map(({ identity }) => identity));
  await eventually(() => assert.equal(lost().length, 1));
  // Time stands still until the server has noticed all of them.
  await eventually(async () => {
    const present = await api.call('listRoomParticipants', { id: room.id });
    assert.equal(present.filter(({ quality }) => quality === 'LOST').length, 5);
  });
  await eventually(async () => {
    await clock.advance(500);
    assert.deepEqual(lost().flat().sort(), ['a', 'b', 'c', 'd', 'e']);
  });
  assert.ok(lost().length < 5, `${lost().length} frames`);
});

test('[SIG-24] the pages of a room over two nodes have the tracks of both, once a second node is there', async () => {
  const far = await service.newNode('node-far', { region: 'far' });
  // The room begins on the first.
  far.reports = { cpuPercent: 90 };
  for (const node of [service.node, far]) await node.heartbeat();
  const room = await newRoom(api, { maxParticipants: 9 });
  const home = { join: { region: 'default' } };
  const ada = await join(room, 'ada', home);
  await join(room, 'quiet', home);
  const [atHome] = await ada.publish('AUDIO');
  await eventually(async () => assert.equal((await api.call('getRoom', { id: room.id })).publisherCount, 1));
  await join(room, 'early', { join: { ...home.join, roster: true } });
  const bob = await join(room, 'bob', { join: { region: 'far' } });
  assert.deepEqual(far.rooms().get(room.id), ['bob']);
  const [atFar] = await bob.publish('VIDEO');
  await eventually(async () => assert.equal((await api.call('getRoom', { id: room.id })).publisherCount, 2));
  const tracksSeen = async (region: string) => {
    const late = await join(room, `late-${region}`, { join: { region, roster: true } });
    return late.others.flatMap(({ identity, tracks = [] }) => tracks.map(({ id }) => [identity, id])).sort();
  };
  const both = [
    ['ada', atHome],
    ['bob', atFar],
  ];
  assert.deepEqual(await tracksSeen('default'), both);
  for (const node of [service.node, far]) node.forget('snapshot');
  assert.deepEqual(await tracksSeen('far'), both);
  const asked = [service.node, far].map(({ heard }) => heard.get('snapshot'));
  assert.deepEqual(asked, [undefined, undefined], 'who joins at the other node gets what was read for the first');
});

type States = MediaEvents['stream.states']['states'];

const statesTo = (one: SignalClient): States[] =>
  one.frames.flatMap(({ type, states }) => (type === 'stream.states' ? [states as States] : []));
const singlesTo = (one: SignalClient): States =>
  one.frames.flatMap(({ type, ts: _, ...state }) => (type === 'stream.state' ? [state as unknown as States[0]] : []));

test('[SIG-31] states that the node tells together come in pieces to who said `roster`, and one by one to others', async () => {
  const room = await newRoom(api, { maxParticipants: 9 });
  const older = await join(room, 'older');
  const newer = await join(room, 'newer', paged);
  const added = service.node.heard.get('participant.add') as { streamStates?: boolean };
  assert.equal(added.streamStates, true);
  // Ids are as long as a client may say them.
  const states: States = Array.from({ length: 250 }, (_, n) =>
    n % 2 === 0
      ? { trackId: String(n).padStart(64, 't'), state: 'PAUSED', reason: 'BANDWIDTH', layer: null }
      : { trackId: String(n).padStart(64, 't'), state: 'ACTIVE', reason: null, layer: 2 },
  );
  const tell = ({ joined }: SignalClient, some: States) =>
    service.node.emit('stream.states', { room: room.id, participant: joined.sessionId, states: some });
  for (const one of [older, newer]) {
    tell(one, []);
    tell(one, states);
  }
  await eventually(() => assert.equal(statesTo(newer).flat().length, 250));
  await eventually(() => assert.equal(singlesTo(older).length, 250));
  assert.deepEqual(
    statesTo(newer).map(({ length }) => length),
    [100, 100, 50],
  );
  assert.deepEqual([statesTo(newer).flat(), singlesTo(older)], [states, states]);
  assert.deepEqual([singlesTo(newer), statesTo(older)], [[], []]);
  for (const one of [older, newer]) assert.ok(one.largest() <= 16_384, `${one.largest()} bytes`);
});

test('[SIG-31] the node is told again by the process that takes a participant up', async () => {
  const room = await newRoom(api, { maxParticipants: 9 });
  const ada = await joinAs(service, api, room, 'ada', paged);
  const { sessionId, resumeToken } = ada.joined;
  const resume = { sessionId, resumeToken, lastSeq: ada.highestSeq() };
  ada.ws.terminate();
  const back = await joinRoom(service.url, ada.token, { resume, ...paged });
  assert.equal(back.joined.resumed, true);
  const address = { room: room.id, participant: sessionId };
  assert.deepEqual(service.node.heard.get('participant.attach'), { ...address, streamStates: true });
  const state = { trackId: 't', state: 'PAUSED' as const, reason: 'MUTED' as const, layer: null };
  service.node.emit('stream.states', { ...address, states: [state] });
  assert.deepEqual((await back.take('stream.states'))['states'], [state]);
});
