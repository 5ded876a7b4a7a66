import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { DataSender } from '../media/other-legs.ts';
import type { Participant } from '../media/participant.ts';
import { Legs } from './legs.ts';
import type { PipeSettings } from './pipe.ts';
import type { PipeSocket } from './pipe-socket.ts';
import type { LeggedRoom } from './room-legs.ts';

const MEGABYTE = 1 << 20;
const permissions = { publishData: true } as Participant['permissions'];

function newMember(id: string, identity = id) {
  return { id, identity, isPlain: false, permissions, publications: new Map() };
}

function newRoom(members: ReturnType<typeof newMember>[]): LeggedRoom {
  return {
    id: 'room',
    participants: new Map(members.map((member) => [member.id, member])),
    fallbackPerSecond: 10,
    offerTrack() {},
    withdrawTrack() {},
    changeEncoding() {},
    deliver() {},
  };
}

/** Two processes that share a room, and a path between them that can be cut. */
async function stage() {
  const clock = { time: 0, now: () => clock.time, wall: () => clock.time };
  const path = { isUp: true };
  const receivers = new Map<number, (datagram: Buffer) => void>();
  const socket = {
    attach: (pipe: number, receive: (datagram: Buffer) => void) => void receivers.set(pipe, receive),
    detach: (pipe: number) => void receivers.delete(pipe),
    send(parts: readonly Buffer[]) {
      const datagram = Buffer.concat(parts);
      if (path.isUp) setImmediate(() => receivers.get(datagram.readUInt32BE(0))?.(datagram));
    },
    close() {},
  } as unknown as PipeSocket;
  const legs = [new Legs(socket, clock), new Legs(socket, clock)] as const;
  const here = newRoom([newMember('ps_ada')]);
  const rooms = [legs[0].forRoom(here), legs[1].forRoom(newRoom([newMember('ps_bob')]))] as const;
  legs.forEach((one, index) => {
    const settings: PipeSettings = {
      ...{ id: 1 + index, peerId: 2 - index, host: '', port: 0, secret: '00'.repeat(32) },
      ...{ end: index === 0 ? 'a' : 'b', datagramBytes: 8192 },
    };
    one.execute({ order: 'open', peer: 'other', settings });
    one.execute({ order: 'link', peer: 'other', room: 'room' });
  });
  const until = async (isTrue: () => boolean): Promise<void> => {
    for (let round = 0; !isTrue(); round += 1) {
      assert.ok(round < 20_000, 'it does not come');
      clock.time += 20;
      for (const one of legs) one.tick(clock.time);
      for (const room of rooms) room.tick(clock.time);
      await turn();
    }
  };
  const knownThere = () => [...rooms[1].owners()].map(({ id }) => id);
  await until(() => knownThere().length === 1 && [...rooms[0].owners()].length === 1);
  const ada: DataSender = { ...newMember('ps_ada'), fallbackSent: undefined as never };
  const sendData = () => rooms[0].sendData(ada, 'reliable', {}, Buffer.alloc(MEGABYTE / 2));
  const fill = (): void => {
    path.isUp = false;
    while (sendData() > 0);
    for (let index = 0; index < 6; index += 1) rooms[0].joined(newMember(`ps_${index}`, 'x'.repeat(MEGABYTE)));
  };
  const close = () => legs.forEach((one) => void one.close());
  return { path, here, rooms, knownThere, sendData, fill, until, close };
}

test('[PIPE-7] data has half of the queue of a pipe: who comes is told though no more data is taken', async () => {
  const { path, rooms, knownThere, sendData, until, close } = await stage();
  path.isUp = false;
  let sent = 0;
  while (sendData() > 0) sent += 1;
  assert.ok(sent > 0);
  // Not a member of the room, so that the state would not make up for it.
  rooms[0].joined(newMember('ps_cy', 'x'.repeat(3 * MEGABYTE)));
  path.isUp = true;
  await until(() => knownThere().includes('ps_cy'));
  assert.equal(sendData(), 1, 'there is place again');
  close();
});

test('[PIPE-7] what a full queue refused is made up for by the state', async () => {
  const { path, here, rooms, knownThere, fill, until, close } = await stage();
  fill();
  const dan = newMember('ps_dan', 'x'.repeat(MEGABYTE));
  (here.participants as Map<string, typeof dan>).set(dan.id, dan).delete('ps_ada');
  rooms[0].joined(dan);
  rooms[0].left(newMember('ps_ada'));
  path.isUp = true;
  await until(() => knownThere().join() === 'ps_dan');
  close();
});

test('[PIPE-7] a room that ends while the queue is full ends in the other process', async () => {
  const { path, rooms, knownThere, fill, until, close } = await stage();
  fill();
  // Smaller than what was refused, until nothing finds place.
  for (let bytes = MEGABYTE / 2; bytes >= 1; bytes = Math.floor(bytes / 2))
    for (let index = 0; index < 3; index += 1) rooms[0].joined(newMember('ps_0', 'x'.repeat(bytes)));
  rooms[0].close();
  path.isUp = true;
  await until(() => knownThere().length === 0);
  close();
});
