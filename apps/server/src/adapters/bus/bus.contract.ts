import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../../testkit/kit/eventually.ts';
import type { Bus } from '../../core/ports.ts';

/** What a bus promises. `first` and `second` belong to two processes where there can be two. */
export function busContract(
  name: string,
  open: (onError: (error: unknown) => void) => Promise<{ first: Bus; second: Bus; close(): Promise<void> }>,
): void {
  const errors: unknown[] = [];
  let opened: Awaited<ReturnType<typeof open>>;
  before(async () => {
    opened = await open((error) => errors.push(error));
  });
  after(() => opened.close());

  async function hear(bus: Bus, topic: string) {
    const heard: unknown[] = [];
    const stop = await bus.subscribe(topic, (message) => heard.push(message));
    return { heard, stop };
  }

  test(`[STA-5] ${name}: every listener of a topic hears each message once and in order, here and elsewhere`, async () => {
    const { first, second } = opened;
    const here = await hear(first, 'topic/order');
    const hereToo = await hear(first, 'topic/order');
    const there = await hear(second, 'topic/order');
    const other = await hear(second, 'topic/other');
    const messages = Array.from({ length: 200 }, (_, i) => ({ i, text: 'ä€😀' }));
    for (const message of messages) first.publish('topic/order', message);
    for (const { heard } of [here, hereToo, there]) await eventually(() => assert.deepEqual(heard, messages));
    second.publish('topic/other', 'end');
    await eventually(() => assert.deepEqual(other.heard, ['end']));
    assert.equal(there.heard.length, 200);
  });

  test(`[STA-5] ${name}: the publishing process hears its message at once and exactly once`, async () => {
    const { first, second } = opened;
    const here = await hear(first, 'topic/echo');
    const there = await hear(second, 'topic/echo');
    first.publish('topic/echo', 1);
    assert.deepEqual(here.heard, [1], 'before publish returns');
    // Its own envelope is back by the time that one from the other process has come the same way after it.
    await eventually(() => assert.deepEqual(there.heard, [1]));
    second.publish('topic/echo', 2);
    await eventually(() => assert.deepEqual(here.heard, [1, 2]));
    assert.deepEqual(there.heard, [1, 2]);
  });

  test(`[STA-5] ${name}: what a listener publishes comes after the message it is hearing, for every listener`, async () => {
    const { first } = opened;
    await first.subscribe('topic/nested', (message) => {
      if (message === 'question') first.publish('topic/nested', 'answer');
    });
    const { heard } = await hear(first, 'topic/nested');
    first.publish('topic/nested', 'question');
    assert.deepEqual(heard, ['question', 'answer']);
  });

  test(`[STA-5] ${name}: a listener that has unsubscribed hears no more, the others still do`, async () => {
    const { first, second } = opened;
    const leaving = await hear(second, 'topic/leave');
    const staying = await hear(second, 'topic/leave');
    first.publish('topic/leave', 1);
    await eventually(() => assert.deepEqual(staying.heard, [1]));
    leaving.stop();
    first.publish('topic/leave', 2);
    await eventually(() => assert.deepEqual(staying.heard, [1, 2]));
    assert.deepEqual(leaving.heard, [1]);
    staying.stop();
    const again = await hear(second, 'topic/leave');
    first.publish('topic/leave', 3);
    await eventually(() => assert.deepEqual(again.heard, [3]));
  });

  test(`[STA-5] ${name}: a listener that throws is reported, and the others still get the message`, async () => {
    const { first, second } = opened;
    const failure = new Error('listener');
    await second.subscribe('topic/throw', () => {
      throw failure;
    });
    const { heard } = await hear(second, 'topic/throw');
    first.publish('topic/throw', 1);
    await eventually(() => assert.deepEqual(heard, [1]));
    assert.deepEqual(errors, [failure]);
  });

  test(`[STA-5] ${name}: a thousand topics reach the right listeners`, async () => {
    const { first, second } = opened;
    const topics = Array.from({ length: 1_000 }, (_, i) => `conversation/${i}`);
    const listening = await Promise.all(topics.map((topic) => hear(second, topic)));
    topics.forEach((topic, i) => {
      first.publish(topic, i);
    });
    await eventually(() =>
      assert.deepEqual(
        listening.map(({ heard }) => heard),
        topics.map((_, i) => [i]),
      ),
    );
  });

  test(`[STA-5] ${name}: ping measures the round trip to the store, or null without one`, async () => {
    const roundTrip = await opened.first.ping();
    assert.ok(name === 'memory' ? roundTrip === null : Number(roundTrip) >= 0);
  });
}
