import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import type { BusConnection } from '../redis-stores.ts';
import { createSubscriber } from './redis-subscriber.ts';

/**
 * A subscriber of a server that notes what it is asked for, and when, and may be slow to answer; its clock wakes a little
 * early, as timers do.
 */
function stage(t: TestContext) {
  const clock = createFakeClock();
  const commands: { at: number; channels: readonly string[] }[] = [];
  const on = { ready: () => {}, loss: () => {} };
  let isReady = true;
  let gaps = 0;
  /** As the library has it: it knows only what was confirmed. */
  const heard = new Set<string>();
  const left: string[] = [];
  let slow: (() => void)[] | null = null;
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
    async subscribe(channels, listener) {
      commands.push({ at: clock.elapsed(), channels });
      // The library waits for a connection.
      if (!isReady) await new Promise(() => {});
      if (slow) await new Promise<void>((resolve) => slow?.push(resolve));
      for (const channel of channels) heard.add(channel);
      if (channels.includes('beat')) listener('', 'beat');
    },
    async unsubscribe(channels) {
      for (const channel of channels) heard.delete(channel);
      left.push(...channels);
    },
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
  const answers = {
    delay(): void {
      slow = [];
    },
    /** The oldest that is delayed. */
    give: (): void => slow?.shift()?.(),
  };
  return { subscriber, clock, commands, heard, left, answers, setReady, gaps: () => gaps };
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

test('[STA-8] what is left while a crowd of channels is heard again is not heard', async (t) => {
  const { subscriber, commands, heard, answers, setReady } = stage(t);
  const channels = Array.from({ length: 1_500 }, (_, at) => `channel/${at}`);
  await Promise.all(channels.map((channel) => subscriber.listen(channel)));
  setReady(false);
  answers.delay();
  setReady(true);
  const before = commands.length;
  subscriber.leave(['channel/3', 'channel/1400']);
  answers.give();
  await turn();
  answers.give();
  await turn();
  assert.equal(commands.length, before + 2, 'the rest, and the beats');
  assert.deepEqual([heard.size, heard.has('channel/3'), heard.has('channel/1400')], [1_498, false, false]);
});

test('[STA-8] what is left before it is heard is left once it is, and heard by who comes back meanwhile', async (t) => {
  const { subscriber, clock, heard, left, answers } = stage(t);
  answers.delay();
  const first = subscriber.listen('a');
  const other = subscriber.listen('b');
  await turn();
  subscriber.leave(['a', 'b']);
  const again = subscriber.listen('b');
  assert.deepEqual(left, [], 'of these the library knows nothing yet');
  answers.give();
  await Promise.all([first, other]);
  assert.deepEqual([left, [...heard]], [['a'], ['b']]);
  await clock.advance(20);
  answers.give();
  await again;
  assert.deepEqual([...heard], ['b']);
});
