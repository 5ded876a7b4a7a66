import assert from 'node:assert/strict';
import { Room } from '../src/room.ts';
import type { RoomOptions } from '../src/room-types.ts';
import { type FakeSocket, type FakeWorld, settle } from './fake-world.ts';

const permissions = { publish: true, subscribe: true, publishData: true, publishAudio: true, publishVideo: true };
const participant = { metadata: null, permissions, quality: null, tracks: [] };

/** A fresh join comes with the address, and is answered in one read with the hello [SDK-131]. */
const isCarried = ({ url }: FakeSocket): boolean => new URL(url).searchParams.has('first');

export function joinOf(socket: FakeSocket): FakeSocket['sent'][number] {
  if (isCarried(socket)) return JSON.parse(new URL(socket.url).searchParams.get('first') ?? '');
  return socket.sent.find(({ type }) => type === 'join') ?? assert.fail('nobody joined');
}

/** Answers the join of the newest socket: ada is in the room, and bob was there before. */
export async function welcome(
  world: FakeWorld,
  resumed = false,
  record = { recording: false },
  more = false,
): Promise<FakeSocket> {
  const socket = world.sockets.at(-1) ?? assert.fail('no socket');
  if (isCarried(socket)) socket.hello({ first: true });
  else {
    socket.hello();
    await settle();
  }
  const { id } = joinOf(socket);
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
