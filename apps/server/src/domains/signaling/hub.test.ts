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
  for (const quality of ['LOST', 'GOOD'] as const) hub.tellQuality(room, [{ identity: 'bob', quality, score: null }]);
  assert.deepEqual(state.frames, []);
  await hub.welcome(room, member, 0, { seq: 0, size: 2 }, () => member.connection?.send('joined', {} as never));
  const updates = [{ identity: 'bob', quality: 'GOOD', score: null }];
  assert.deepEqual(state.frames, [{ type: 'joined' }, { type: 'quality', updates }]);
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
