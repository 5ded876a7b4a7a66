import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { DATA_FLOW } from '@parley/media-description';
import { memoryNetwork } from '../../testkit/memory-network.ts';
import { FallbackBudget } from '../media/data-budget.ts';
import { DataRelay } from '../media/data-relay.ts';
import type { DataSender } from '../media/other-legs.ts';
import type { Participant } from '../media/participant.ts';
import { Legs } from './legs.ts';
import type { PipeSettings } from './pipe.ts';
import type { LeggedRoom } from './room-legs.ts';

const MEGABYTE = 1 << 20;
const permissions = { publishData: true } as Participant['permissions'];

function newMember(id: string, identity = id) {
  return { id, identity, isPlain: false, permissions, publications: new Map() };
}

function newRoom(members: ReturnType<typeof newMember>[], flow: unknown[] = []): LeggedRoom {
  return {
    id: 'room',
    participants: new Map(members.map((member) => [member.id, member])),
    fallbackPerSecond: 10,
    offerTrack() {},
    withdrawTrack() {},
    changeEncoding() {},
    deliver() {},
    onDataFlow: (sender, _, state) => void flow.push([sender, state]),
  };
}

/** Two processes that share a room, and a path between them that can be cut. */
async function stage() {
  const clock = { time: 0, now: () => clock.time, wall: () => clock.time };
  const path = { isUp: true };
  const socket = memoryNetwork().socket(path);
  const legs = [new Legs(socket, clock), new Legs(socket, clock)] as const;
  const flow: unknown[] = [];
  const here = newRoom([newMember('ps_ada')], flow);
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
  const [ada, bob] = ['ps_ada', 'ps_bob'].map(
    (id): DataSender => ({ ...newMember(id), fallbackSent: new FallbackBudget(10) }),
  ) as [DataSender, DataSender];
  const sendData = () => rooms[0].sendData(ada, 'reliable', {}, Buffer.alloc(MEGABYTE / 2));
  const fill = (): void => {
    path.isUp = false;
    while (sendData().sent > 0);
    for (let index = 0; index < 6; index += 1) rooms[0].joined(newMember(`ps_${index}`, 'x'.repeat(MEGABYTE)));
  };
  const close = () => legs.forEach((one) => void one.close());
  return { clock, path, here, flow, rooms, ada, bob, knownThere, sendData, fill, until, close };
}

test('[PIPE-7] data has half of the queue of a pipe: who comes is told though no more data is taken', async () => {
  const { path, rooms, knownThere, sendData, until, close } = await stage();
  path.isUp = false;
  let sent = 0;
  while (sendData().sent > 0) sent += 1;
  assert.ok(sent > 0);
  // Not a member of the room, so that the state would not make up for it.
  rooms[0].joined(newMember('ps_cy', 'x'.repeat(3 * MEGABYTE)));
  path.isUp = true;
  await until(() => knownThere().includes('ps_cy'));
  assert.deepEqual(sendData(), { sent: 1, refused: 0 }, 'there is place again');
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

test('[MED-102] a sender of another process is told to wait for a slow receiver of this one', async () => {
  const { flow, rooms, until, close } = await stage();
  rooms[1].announceDataFlow('ps_ada', DATA_FLOW.held);
  rooms[1].announceDataFlow('ps_nobody', DATA_FLOW.held);
  await until(() => flow.length > 0);
  rooms[1].announceDataFlow('ps_ada', DATA_FLOW.open);
  await until(() => flow.length > 1);
  assert.deepEqual(flow, [
    ['ps_ada', DATA_FLOW.held],
    ['ps_ada', DATA_FLOW.open],
  ]);
  close();
});

test('[PIPE-45] what a pipe does not take of reliable data counts as dropped, and its sender is told', async () => {
  const { clock, rooms, ada, fill, close } = await stage();
  fill();
  const told: number[] = [];
  const transport = { sendData: (_: string, [, , state = -1]: Uint8Array) => told.push(state) };
  // What the relay uses of a participant that only sends.
  const participants = new Map([[ada.id, { ...ada, subscriber: { transport } } as unknown as Participant]]);
  let dropped = 0;
  const relay = new DataRelay({
    ...{ room: 'room', participants, legs: rooms[0], clock },
    emit() {},
    onDropped: () => {
      dropped += 1;
    },
  });
  const head = { text: true };
  const payload = Buffer.alloc(8000);
  assert.deepEqual([relay.send(participants.get(ada.id), 'lossy', head, payload), dropped, told], [0, 1, []]);
  assert.deepEqual([relay.send(participants.get(ada.id), 'reliable', head, payload), dropped], [0, 2]);
  assert.deepEqual(told, [DATA_FLOW.missed]);
  close();
});

test('[PIPE-45] that a sender of another process has missed receivers is said again until the pipe takes it', async () => {
  const { path, flow, rooms, bob, until, close } = await stage();
  path.isUp = false;
  // From Bob's process to that of Ada, until not even a word finds place.
  for (let bytes = MEGABYTE / 2; bytes >= 1; bytes /= 2)
    while (rooms[1].sendData(bob, 'reliable', {}, Buffer.alloc(bytes)).sent > 0);
  rooms[1].announceDataFlow('ps_ada', DATA_FLOW.missed);
  path.isUp = true;
  await until(() => flow.length > 0);
  assert.deepEqual(flow, [['ps_ada', DATA_FLOW.missed]]);
  close();
});
