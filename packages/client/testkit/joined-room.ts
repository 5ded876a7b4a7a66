import assert from 'node:assert/strict';
import { Room } from '../src/room.ts';
import type { RoomOptions } from '../src/room-types.ts';
import { type FakeSocket, type FakeWorld, settle } from './fake-world.ts';

const permissions = { publish: true, subscribe: true, publishData: true, publishAudio: true, publishVideo: true };
const participant = { metadata: null, permissions, quality: null, tracks: [] };

/** Answers the join of the newest socket: ada is in the room, and bob was there before. */
export async function welcome(
  world: FakeWorld,
  resumed = false,
  record = { recording: false },
  more = false,
): Promise<FakeSocket> {
  const socket = world.sockets.at(-1) ?? assert.fail('no socket');
  socket.hello();
  await settle();
  const { id } = socket.sent.find(({ type }) => type === 'join') ?? assert.fail('nobody joined');
  socket.receive({
    type: 'joined',
    seq: 1,
    sessionId: 'ps_1',
    resumeToken: 'r',
    resumed,
    room: record,
    participant: { ...participant, identity: 'ada', sessionId: 'ps_1' },
    participants: [{ ...participant, identity: 'bob', sessionId: 'ps_2' }],
    iceServers: [],
    more,
  });
  socket.receive({ type: 'response', ref: id, data: {} });
  await settle();
  return socket;
}

export async function joined(
  world: FakeWorld,
  options: Partial<RoomOptions> = {},
  record = { recording: false },
): Promise<Room> {
  const room = new Room({ url: 'http://parley.test', token: 't', ...options }, world);
  const connecting = room.connect();
  await settle();
  await welcome(world, false, record);
  await connecting;
  return room;
}
