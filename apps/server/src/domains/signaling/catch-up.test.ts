import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Room } from '@parley/contract';
import { assertRefused } from '../../../testkit/chat/chat.ts';
import { joinAs, newRoom, startRooms } from '../../../testkit/clients/rooms.ts';
import { startService } from '../../../testkit/kit/service.ts';
import { DatabaseUnavailable } from '../../core/db.ts';
import type { Adapters } from '../../core/ports.ts';

/** Adapters with a bus between processes that loses every message about rooms while `isLosing`, without a sign. */
function createLossyBus() {
  const state = { isLosing: false };
  const wrap = (adapters: Adapters): Adapters => {
    const { bus } = adapters;
    const subscribe: typeof bus.subscribe = (topic, listener) =>
      bus.subscribe(topic, (message) => {
        if (!state.isLosing || !topic.startsWith('rooms/')) listener(message);
      });
    // A bus inside one process loses nothing, and says so by answering null.
    const ping = async (): Promise<number> => (await bus.ping()) ?? 1;
    return { ...adapters, bus: { ...bus, subscribe, ping } };
  };
  return { state, wrap };
}

test('[SIG-16] what the bus lost without a sign is read from the store, once and in order', async (t) => {
  const service = await startRooms();
  const { state, wrap } = createLossyBus();
  const second = await startService({ beside: service, wrap });
  t.after(async () => {
    await second.stop();
    await service.stop();
  });
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const bob = await joinAs(second, api, room, 'bob');

  state.isLosing = true;
  const ada = await joinAs(service, api, room, 'ada');
  await api.call('updateRoom', { id: room.id, body: { metadata: { step: 1 } } });
  await ada.close();

  // Nothing else happens in the room: no later event shows that these are missing.
  await bob.take('participant.left');
  const received = bob.frames.filter(({ seq }) => typeof seq === 'number' && seq > bob.joined.seq);
  assert.deepEqual(
    received.map(({ type }) => type),
    ['participant.joined', 'room.updated', 'participant.left'],
  );
  assert.deepEqual(
    received.map(({ seq }) => seq),
    [1, 2, 3].map((step) => Number(received[0]?.['seq']) - 1 + step),
  );
  await bob.close();
});

/** Adapters with a database whose transactions are committed, and not answered while `isLosing`. */
function createSilentDb() {
  const state = { isLosing: false };
  const wrap = (adapters: Adapters): Adapters => ({
    ...adapters,
    db: {
      ...adapters.db,
      async transaction(work) {
        const result = await adapters.db.transaction(work);
        if (state.isLosing) throw new DatabaseUnavailable('the connection broke after the commit');
        return result;
      },
    },
  });
  return { state, wrap };
}

test('[SIG-16] a change whose commit was not answered reaches the room, also in one process without Redis', async (t) => {
  const { state, wrap } = createSilentDb();
  const service = await startRooms({ wrap });
  t.after(service.stop);
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const bob = await joinAs(service, api, room, 'bob');

  state.isLosing = true;
  const changed = api.call('updateRoom', { id: room.id, body: { metadata: { step: 1 } } });
  await assertRefused(changed, 503, 'SVC_SERVICE_UNAVAILABLE');
  state.isLosing = false;
  const told = await bob.take('room.updated');
  assert.deepEqual((told['room'] as Room).metadata, { step: 1 });
  await bob.close();
});
