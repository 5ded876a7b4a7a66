import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import type { BusConnection } from '../redis-stores.ts';
import { createSubscriber } from './redis-subscriber.ts';

/** A subscriber of a server that notes what it is asked for, and when; its clock wakes a little early, as timers do. */
function stage(t: TestContext) {
  const clock = createFakeClock();
  const commands: { at: number; channels: readonly string[] }[] = [];
  const on = { ready: () => {}, loss: () => {} };
  let isReady = true;
  let gaps = 0;
  const connection: BusConnection = {
    get isReady() {
      return isReady;
    },
    onReady(listener) {
      on.ready = listener;
    },
    onLoss(listener) {
      on.loss = listener;
    },
    connect() {},
    async hear(channels, listener) {
      commands.push({ at: clock.elapsed(), channels });
      // The library waits for a connection.
      if (!isReady) await new Promise(() => {});
      if (channels.includes('beat')) listener('', 'beat');
    },
    async unhear() {},
    destroy() {},
  };
  const subscriber = createSubscriber({
    openConnection: () => connection,
    beatChannels: ['beat'],
    sendBeat: async () => {},
    onMessage: () => {},
    onGap: () => {
      gaps += 1;
    },
    clock: { elapsed: clock.elapsed, sleep: (ms) => clock.sleep(Math.max(0.1, ms - 0.7)) },
  });
  t.after(subscriber.close);
  const setReady = (next: boolean): void => {
    isReady = next;
    if (next) on.ready();
    else on.loss();
  };
  return { subscriber, clock, commands, setReady, gaps: () => gaps };
}

test('[STA-23] the first channel is asked for at once, those after it together, and no two commands within 10 ms', async (t) => {
  const { subscriber, clock, commands } = stage(t);
  await subscriber.listen('first');
  assert.equal(commands.length, 1);
  const joined: Promise<void>[] = [];
  for (let at = 0; at < 100; at++) {
    joined.push(subscriber.listen(`channel/${at}`));
    await turn();
    await clock.advance(0.3);
  }
  await clock.advance(20);
  await Promise.all(joined);
  const distances = commands.slice(1).map(({ at }, place) => at - (commands[place]?.at ?? 0));
  assert.ok(distances.length >= 2 && distances.length <= 4, String(distances));
  assert.ok(
    distances.every((distance) => distance >= 10),
    String(distances),
  );
  assert.equal(new Set(commands.flatMap(({ channels }) => channels)).size, 101);

  await clock.advance(10);
  await subscriber.listen('later');
  assert.deepEqual(commands.at(-1), { at: clock.elapsed(), channels: ['later'] });
});

test('[STA-25] without a connection nothing is asked and nobody waits; with one all is, before the gap notice', async (t) => {
  const { subscriber, clock, commands, setReady, gaps } = stage(t);
  await subscriber.listen('before');
  setReady(false);
  const late = Promise.all([subscriber.listen('late/0'), subscriber.listen('late/1')]);
  await clock.advance(20);
  await late;
  assert.deepEqual([commands.length, gaps()], [1, 0]);
  setReady(true);
  await turn();
  assert.deepEqual(
    commands.slice(1).map(({ channels }) => channels),
    [['before', 'late/0', 'late/1'], ['beat']],
  );
  assert.equal(gaps(), 1);
});
