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

  async function listen(bus: Bus, topic: string) {
    const received: unknown[] = [];
    const stop = await bus.subscribe(topic, (message) => received.push(message));
    return { received, stop };
  }

  test(`[STA-5] ${name}: every listener of a topic hears each message once and in order, here and elsewhere`, async () => {
    const { first, second } = opened;
    const here = await listen(first, 'topic/order');
    const hereToo = await listen(first, 'topic/order');
    const there = await listen(second, 'topic/order');
    const other = await listen(second, 'topic/other');
    const messages = Array.from({ length: 200 }, (_, i) => ({ i, text: 'ä€😀' }));
    for (const message of messages) first.publish('topic/order', message);
    for (const { received } of [here, hereToo, there]) await eventually(() => assert.deepEqual(received, messages));
    second.publish('topic/other', 'end');
    await eventually(() => assert.deepEqual(other.received, ['end']));
    assert.equal(there.received.length, 200);
  });

  test(`[STA-5] ${name}: messages that carry JSON as text arrive as they were, among others`, async () => {
    const { first, second } = opened;
    const there = await listen(second, 'topic/texts');
    const json = JSON.stringify({ type: 'message', text: '"quotes"\n\\ and 😀 ä', more: { list: ['#', '{', '}'] } });
    const messages = [
      { entry: { change: 1, body: json, message: `${json}\n#[{}]\n`, type: 'message' } },
      '#not a mark',
      { frame: json, by: 'alice', empty: {}, none: null, list: [json] },
      { texts: { one: json, short: '{}' }, frame: json, other: { deep: { frame: json } } },
      { ada: { 'a.b': json, 'c,d:1': json, one: json }, 'e.f': { frame: json }, 'g:h': json },
      JSON.parse(`{ "data": { "__proto__": ${JSON.stringify(json)} } }`),
      null,
      [json],
      `${json}`,
      { frame: json },
    ];
    for (const message of messages) first.publish('topic/texts', message);
    await eventually(() => assert.deepEqual(there.received, messages));
  });

  test(`[STA-5] ${name}: the publishing process hears its message at once and exactly once`, async () => {
    const { first, second } = opened;
    const here = await listen(first, 'topic/echo');
    const there = await listen(second, 'topic/echo');
    first.publish('topic/echo', 1);
    assert.deepEqual(here.received, [1], 'before publish returns');
    // Its own envelope is back by the time that one from the other process has come the same way after it.
    await eventually(() => assert.deepEqual(there.received, [1]));
    second.publish('topic/echo', 2);
    await eventually(() => assert.deepEqual(here.received, [1, 2]));
    assert.deepEqual(there.received, [1, 2]);
  });

  test(`[STA-5] ${name}: what a listener publishes comes after the message it is hearing, for every listener`, async () => {
    const { first } = opened;
    await first.subscribe('topic/nested', (message) => {
      if (message === 'question') first.publish('topic/nested', 'answer');
    });
    const { received } = await listen(first, 'topic/nested');
    first.publish('topic/nested', 'question');
    assert.deepEqual(received, ['question', 'answer']);
  });

  test(`[STA-5] ${name}: a listener that has unsubscribed hears no more, the others still do`, async () => {
    const { first, second } = opened;
    const leaving = await listen(second, 'topic/leave');
    const staying = await listen(second, 'topic/leave');
    first.publish('topic/leave', 1);
    await eventually(() => assert.deepEqual(staying.received, [1]));
    leaving.stop();
    first.publish('topic/leave', 2);
    await eventually(() => assert.deepEqual(staying.received, [1, 2]));
    assert.deepEqual(leaving.received, [1]);
    staying.stop();
    const again = await listen(second, 'topic/leave');
    first.publish('topic/leave', 3);
    await eventually(() => assert.deepEqual(again.received, [3]));
  });

  test(`[STA-5] ${name}: a listener that throws is reported, and the others still get the message`, async () => {
    const { first, second } = opened;
    const failure = new Error('listener');
    await second.subscribe('topic/throw', () => {
      throw failure;
    });
    const { received } = await listen(second, 'topic/throw');
    first.publish('topic/throw', 1);
    await eventually(() => assert.deepEqual(received, [1]));
    assert.deepEqual(errors, [failure]);
  });

  test(`[STA-5] ${name}: a thousand topics reach the right listeners`, async () => {
    const { first, second } = opened;
    const topics = Array.from({ length: 1_000 }, (_, i) => `conversation/${i}`);
    const listening = await Promise.all(topics.map((topic) => listen(second, topic)));
    topics.forEach((topic, i) => {
      first.publish(topic, i);
    });
    await eventually(() => listening.every(({ received }) => received.length > 0));
    assert.deepEqual(
      listening.map(({ received }) => received),
      topics.map((_, i) => [i]),
    );
  });

  test(`[STA-5] ${name}: ping measures the round trip to the store, or null without one`, async () => {
    // On a busy machine a command of the test before may have found no answer in time, and the next ones fail for a second.
    const roundTrip = await eventually(() => opened.first.ping());
    assert.ok(name === 'memory' ? roundTrip === null : Number(roundTrip) >= 0);
  });
}
