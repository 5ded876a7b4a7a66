import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChatKit } from '../../../../testkit/chat/chat.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { createMemoryBus } from '../../../adapters/bus/memory.ts';
import type { Bus } from '../../../core/ports.ts';
import type { Channel, Listener } from './channel.ts';
import { createChannels } from './channels.ts';

const listener: Listener = { userId: 'alice', connectionId: 'c', outlet: { write: () => {} }, cut: () => {} };

/** Channels of a process of its own, and what it hears. */
async function openChannels() {
  const service = await sharedService();
  const chat = await createChatKit(service);
  const { id, uuid } = await chat.conversation(['alice']);
  const heard = new Set<string>();
  const memory = createMemoryBus({ onError: (error) => assert.fail(String(error)) });
  const bus: Bus = {
    ...memory,
    async subscribe(topic, hear) {
      const stop = await memory.subscribe(topic, hear);
      heard.add(topic);
      return () => {
        heard.delete(topic);
        stop();
      };
    },
  };
  const clock = createFakeClock();
  const channels = createChannels({ db: service.adapters.db, bus, clock, onMessage: () => {} });
  const send = () => chat.project.api.call('sendMessage', { room: id, body: { text: 'a', senderId: 'alice' } });
  const remove = () => chat.project.api.call('deleteConversation', { room: id });
  const open = async (): Promise<Channel> => {
    const channel = await channels.get(uuid);
    assert.ok(channel);
    return channel;
  };
  return { channels, clock, heard, open, send, remove, uuid };
}

test('[STA-9] a conversation that nobody here listens to is heard for some seconds more', async () => {
  const { channels, clock, heard, open } = await openChannels();
  const channel = await open();
  channel.add(listener);
  clock.jump(60_000);
  channels.parkIdle();
  assert.equal(heard.size, 1, 'somebody listens');
  channel.remove(listener);
  clock.jump(14_000);
  channels.parkIdle();
  assert.equal(heard.size, 1, 'they may return at once');
  clock.jump(2_000);
  channels.parkIdle();
  assert.equal(heard.size, 0);
  assert.deepEqual([channels.isOpen(channel), channels.all()], [false, []]);
});

test('[STA-9] who returns to a parked conversation misses nothing; while it was quiet, memory still answers', async () => {
  const { channels, clock, heard, open, send } = await openChannels();
  const channel = await open();
  const park = (): void => {
    clock.jump(20_000);
    channels.parkIdle();
  };
  park();
  // [READ-5] Read marks have no change number: they may have moved meanwhile.
  const before = channel.memory;
  const [again, atOnce] = await Promise.all([open(), open()]);
  assert.deepEqual([again === channel, atOnce === channel, heard.size], [true, true, 1]);
  assert.notEqual(channel.memory, before);

  park();
  await send();
  const renewed = await open();
  assert.deepEqual([renewed === channel, renewed.head, channels.isOpen(renewed)], [false, channel.head + 1, true]);
  assert.equal(channels.isOpen(channel), false, 'who prepares a subscription to it begins anew');
});

test('[STA-9] a conversation that was deleted while it was parked is gone', async () => {
  const { channels, clock, heard, open, remove, uuid } = await openChannels();
  await open();
  clock.jump(20_000);
  channels.parkIdle();
  await remove();
  assert.equal(await channels.get(uuid), null);
  assert.equal(heard.size, 0);
});
