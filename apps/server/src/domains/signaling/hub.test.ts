import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import { frameText, type SocketFrame } from '../../core/socket.ts';
import type { RoomEvent } from '../rooms/index.ts';
import { createHub } from './hub.ts';
import { createMember, type Member, type RtcConnection, sendTo } from './member.ts';
import { sendPages } from './roster.ts';

const clock = createFakeClock();

/** A connection whose reader takes nothing once `queuedBytes` says so. */
function newConnection() {
  const state = { isOpen: true, queuedBytes: 0, closed: '', frames: [] as object[] };
  return Object.assign(state, {
    write: (frame: SocketFrame) => void state.frames.push(frame),
    send: (type: string, fields: object) => void state.frames.push({ type, ...fields }),
    close(code: number, reason: string) {
      Object.assign(state, { isOpen: false, closed: `${code} ${reason}` });
    },
  });
}

const newMember = (id: string, connection: object): Member =>
  createMember({ id, roomId: 'room', identity: id } as never, 'node-1', connection as RtcConnection, true);

const joined = (seq: number): RoomEvent =>
  ({ seq, type: 'participant.joined', data: { participant: { sessionId: `ses-${seq}`, tracks: [] } } }) as never;

function newHub(events: readonly RoomEvent[]) {
  return createHub({
    clock,
    log: { warn() {} } as never,
    roomBus: { subscribe: async () => () => {}, onGap() {} } as never,
    frameBytesMax: 16_384,
    usualSize: 50,
    eventsAfter: async (_, since) => events.filter(({ seq }) => seq > since),
    lastSeqs: async () => [],
    onMessage() {},
  });
}

test('[SIG-25] a room of exactly 50 is no large one, whatever this process has missed of it', async () => {
  const events = Array.from({ length: 50 }, (_, index) => joined(index + 1));
  const hub = newHub(events);
  const room = await hub.enter('room');
  await hub.welcome(room, newMember('ses-50', newConnection()), 49, { seq: 50, size: 50 }, () => {});
  assert.equal(room.size, 50);
  // One more has come since the count.
  events.push(joined(51));
  await hub.welcome(room, newMember('ses-51', newConnection()), 50, { seq: 50, size: 50 }, () => {});
  assert.equal(room.size, 51);
});

test('[SIG-23] quality that changes while somebody joins is told after their `joined`, the last of each', async () => {
  const hub = newHub([]);
  const room = await hub.enter('room');
  const state = newConnection();
  const member = newMember('ada', state);
  room.members.set('ada', member);
  for (const quality of ['LOST', 'GOOD'] as const)
    hub.announceQuality(room, [{ identity: 'bob', quality, score: null }]);
  assert.deepEqual(state.frames, []);
  await hub.welcome(room, member, 0, { seq: 0, size: 2 }, () => member.connection?.send('joined', {} as never));
  const updates = [{ identity: 'bob', quality: 'GOOD', score: null }];
  assert.deepEqual(state.frames, [{ type: 'joined' }, { type: 'quality', updates }]);
});

/** The text of what was written, without the head of its WebSocket frame. */
const writtenTo = ({
  frames,
}: {
  frames: object[];
}): {
  type: string;
  updates: { identity: string; quality: string }[];
  speakers: { identity: string; level: number; active: boolean }[];
}[] =>
  frames.map((frame) => {
    const text = String(frame);
    return JSON.parse(text.slice(text.indexOf('{')));
  });

test('[SIG-30] in a large room what nodes say of quality is told at most twice a second, the last of each', async () => {
  const hub = newHub([]);
  const room = await hub.enter('room');
  room.size = 200;
  room.nodes = new Set(['node-1', 'node-2']);
  const [near, far] = [newConnection(), newConnection()];
  const members = [newMember('near', near), { ...newMember('far', far), serverName: 'node-9' }];
  for (const member of members) room.members.set(member.session.id, { ...member, backlog: null });

  const seconds = 2;
  for (let turn = 0; turn < seconds * 20; turn += 1) {
    const quality = turn < seconds * 10 ? ('POOR' as const) : ('GOOD' as const);
    const updates = Array.from({ length: 20 }, (_, index) => ({ identity: `p-${index}`, quality, score: null }));
    hub.announceQuality(room, updates, `node-${1 + (turn % 2)}`);
    if (turn === 0) assert.equal(near.frames.length, 1, 'the first at once');
    await clock.advance(50);
  }
  await clock.advance(500);
  for (const { frames } of [near, far]) assert.ok(frames.length <= seconds * 2 + 2, `${frames.length} frames`);
  const last = new Map(
    writtenTo(near).flatMap(({ updates }) => updates.map(({ identity, quality }) => [identity, quality])),
  );
  assert.deepEqual([last.size, new Set(last.values())], [20, new Set(['GOOD'])]);

  // A node that is not one of the room's is heard by who has their media there alone.
  const before = near.frames.length;
  hub.announceQuality(room, [{ identity: 'far', quality: 'POOR', score: null }], 'node-9');
  await clock.advance(500);
  assert.deepEqual([near.frames.length, writtenTo(far).at(-1)?.updates[0]?.identity], [before, 'far']);
});

test('[SIG-32] a node that names strangers fills no memory, and who is said to speak keeps the place', async () => {
  const hub = newHub([]);
  const room = await hub.enter('room');
  room.size = 30;
  room.nodes = new Set(['node-1', 'node-2']);
  const state = newConnection();
  const member = newMember('ada', state);
  room.members.set('ada', { ...member, backlog: null });
  const told = () => writtenTo(state).flatMap(({ speakers }) => speakers);
  const named = (count: number, level: number, active = true) =>
    Array.from({ length: count }, (_, index) => ({ identity: `${level}-${index}`, level, active }));
  hub.tellSpeakers(room, named(15, 0.5), 'node-1');
  assert.deepEqual(told(), named(15, 0.5));
  for (const level of [0.01, 0.02]) hub.tellSpeakers(room, named(10_000, level), 'node-2');
  assert.ok(room.speaking.voices.size <= 50, `${room.speaking.voices.size} names`);
  await clock.advance(500);
  assert.equal(told().length, 20, 'nobody was pushed out by who is quieter');
  const heard = told().length;
  hub.tellSpeakers(room, named(10_000, 0.03, false), 'node-2');
  await clock.advance(500);
  assert.ok(told().length <= heard + 50);
  for (const level of [0.01, 0.02]) hub.tellSpeakers(room, named(10_000, level, false), 'node-2');
  hub.tellSpeakers(room, named(15, 0.5, false), 'node-1');
  await clock.advance(500);
  assert.equal(room.speaking.voices.size, 0, 'who is silent is not kept');
});

test('[FLEET-21] who speaks on a node that is not one of the room is told to who has their media there alone', async () => {
  const hub = newHub([]);
  const room = await hub.enter('room');
  room.size = 40;
  room.nodes = new Set(['node-1']);
  const [near, far] = [newConnection(), newConnection()];
  const members = [newMember('near', near), { ...newMember('far', far), serverName: 'node-9' }];
  for (const member of members) room.members.set(member.session.id, { ...member, backlog: null });
  const speaks = (identity: string) => ({ identity, level: 0.5, active: true });
  hub.tellSpeakers(room, [speaks('near')], 'node-1');
  hub.tellSpeakers(room, [speaks('far')], 'node-9');
  await clock.advance(500);
  const namesTold = (to: { frames: object[] }) =>
    writtenTo(to).flatMap(({ speakers }) => speakers.map(({ identity }) => identity));
  assert.deepEqual([namesTold(near), namesTold(far)], [['near'], ['near', 'far']]);

  // Once nobody has it there, nothing more is heard of that node: its people hold no place.
  hub.tellSpeakers(
    room,
    Array.from({ length: 20 }, (_, index) => speaks(`loud-${index}`)),
    'node-9',
  );
  await clock.advance(500);
  const [, last] = [...room.members.values()];
  if (last) hub.remove(room, last);
  hub.tellSpeakers(room, [{ ...speaks('quiet'), level: 0.2 }], 'node-1');
  await clock.advance(500);
  assert.equal(namesTold(near).at(-1), 'quiet');
});

test('[SIG-22] a client that does not take its pages within 15 seconds is closed as a slow consumer', async () => {
  const state = newConnection();
  state.queuedBytes = 300 * 1024;
  const sending = sendPages(clock, state as never, [frameText('page')]);
  await clock.advance(14_900);
  assert.equal(state.closed, '');
  await clock.advance(200);
  await sending;
  assert.deepEqual([state.closed, state.frames], ['4408 SLOW_CONSUMER', []]);
});

test('[SIG-22] a client for which too much waits until it has joined is closed, and nothing more is kept', () => {
  const state = newConnection();
  const member = newMember('ada', state);
  const say = (): void => sendTo(member, 'data', { payload: 'x'.repeat(20_000) } as never);
  for (let count = 0; count < 100; count += 1) say();
  assert.deepEqual([state.closed, member.backlog?.length], ['', 100]);
  for (let count = 0; count < 10; count += 1) say();
  assert.deepEqual([state.closed, member.backlog], ['4408 SLOW_CONSUMER', []]);
});
