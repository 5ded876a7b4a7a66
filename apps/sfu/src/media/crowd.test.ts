import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stageRoom } from '../../testkit/room-stage.ts';
import { RoomPeople } from '../control/room-people.ts';

const silent = { subscribe: false, publish: false, publishAudio: false, publishVideo: false, publishData: false };
const viewing = { id: '', identity: '', order: 0, isAutoSubscribed: true, isAdaptive: false, isPlain: false };

/** What one more join into a room with so many viewers answers, and how often it looks at one of those. */
function joinInto(viewers: number) {
  const { room, join } = stageRoom();
  let looks = 0;
  const watched = ['identity', 'publications', 'publisher', 'snapshot'] as const;
  for (const id of ['p', 'q', 'r']) join(id);
  for (let n = 0; n < viewers; n++) {
    const id = `viewer-${n}`;
    const viewer = room.add({ ...viewing, id, identity: id, permissions: { join: true, ...silent }, isViewer: true });
    for (const name of watched) {
      const value = viewer[name];
      Object.defineProperty(viewer, name, {
        get() {
          looks += 1;
          return value;
        },
      });
    }
  }
  looks = 0;
  join('s');
  const answered = room.snapshot({ withoutViewers: true }).participants.map(({ identity }) => identity);
  return { answered, looks, all: room.snapshot({ brief: true }).participants.length };
}

test('[RUN-33] who joins a room on a node is answered its members and looks at no viewer, of ten thousand as of ten', () => {
  const members = ['p', 'q', 'r', 's'];
  assert.deepEqual(joinInto(10), { answered: members, looks: 0, all: 14 });
  assert.deepEqual(joinInto(10_000), { answered: members, looks: 0, all: 10_004 });
});

test('[RUN-33] the people of a room are found by identity and by owner, wherever they moved', () => {
  const people = new RoomPeople();
  const ada = { identity: 'ada', owner: 'c1', worker: 0 };
  people.set('ps_1', ada);
  people.set('ps_2', { ...ada, worker: 1 });
  people.set('ps_3', { identity: 'bob', owner: 'c2', worker: 1 });
  assert.deepEqual([people.ofIdentity('ada'), people.ofOwner('c1'), people.size], [ada, ['ps_1', 'ps_2'], 3]);
  people.set('ps_1', { ...ada, owner: 'c2' });
  people.delete('ps_2');
  assert.deepEqual([[...people.owners()], people.ofOwner('c1')], [['c2'], []]);
  people.delete('ps_1');
  people.delete('ps_1');
  assert.deepEqual([people.ofIdentity('ada'), people.ofIdentity('bob')?.worker, people.size], [undefined, 1, 1]);
});
