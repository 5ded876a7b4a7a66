import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, processWorkMs } from '../../../testkit/kit/eventually.ts';
import { askRedis, hasRedisServer, openTestRedis, startOwnRedis, testRedisUrl } from '../../../testkit/kit/redis.ts';
import { startTcpProxy } from '../../../testkit/peers/tcp-proxy.ts';
import type { Bus } from '../../core/ports.ts';
import { createRedis } from '../redis.ts';
import { busContract } from './bus.contract.ts';
import { createMemoryBus } from './memory.ts';
import { openRedisBus } from './redis.ts';

suite('memory', () =>
  busContract('memory', async (onError) => {
    const bus = createMemoryBus({ onError });
    return { first: bus, second: bus, close: () => bus.close() };
  }));

suite('redis', { skip: testRedisUrl === undefined && 'no PARLEY_TEST_REDIS_URL' }, () =>
  busContract('redis', async (onError) => {
    const { connections, close } = await openTestRedis(2);
    const [first, second] = await Promise.all(connections.map((redis) => openRedisBus({ redis, onError })));
    assert.ok(first && second);
    return {
      first,
      second,
      async close() {
        await first.close();
        await second.close();
        await close();
      },
    };
  }),
);

/** Processes of one Redis of their own, which counts what it is asked. */
async function openCounted(t: TestContext) {
  const own = await startOwnRedis();
  t.after(own.kill);
  const openOne = async () => {
    const redis = createRedis({ url: own.url, prefix: 'counted:' });
    await redis.ready();
    const bus = await openRedisBus({ redis, onError, graceMs: 200 });
    t.after(async () => {
      await bus.close();
      await redis.close();
    });
    return { redis, bus };
  };
  const [one, two] = [await openOne(), await openOne()];
  const callsOf = async (command: string): Promise<number> => {
    const text = await askRedis(own.url, (client) => client.info('commandstats'));
    return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  };
  const heard = () => askRedis(own.url, (client) => client.pubSubChannels('counted:bus2/*'));
  return { one, two, callsOf, heard };
}

const skip = !hasRedisServer && 'no redis-server on this machine';
const onError = (error: unknown) => assert.fail(String(error));

test('[STA-8] redis: a topic is heard while somebody listens and a little longer; a turn is one command', {
  skip,
}, async (t) => {
  const { one, two, callsOf, heard } = await openCounted(t);
  const topics = Array.from({ length: 500 }, (_, i) => `topic/${i}`);
  const received: unknown[] = [];
  const subscribeAll = (bus: Bus) =>
    Promise.all(topics.map((topic) => bus.subscribe(topic, (message) => received.push(message))));

  const before = await callsOf('subscribe');
  const stops = await subscribeAll(one.bus);
  const more = await subscribeAll(one.bus);
  assert.equal((await callsOf('subscribe')) - before, 1);
  assert.equal((await heard()).length, 500);

  for (const topic of [...topics, ...topics]) two.bus.publish(topic, topic);
  await eventually(() => received.length === 2_000);
  // The first time Redis has to be told the script.
  assert.ok((await callsOf('eval')) + (await callsOf('evalsha')) <= 2);

  for (const stop of stops) stop();
  assert.equal((await heard()).length, 500, 'others still listen');
  for (const stop of more) stop();
  const back = await subscribeAll(one.bus);
  assert.equal((await callsOf('subscribe')) - before, 1, 'they returned at once');
  for (const stop of back.slice(1)) stop();
  await eventually(async () => assert.deepEqual(await heard(), ['counted:bus2/topic/0']));
  assert.equal(await callsOf('unsubscribe'), 1);
});

test('[STA-8] redis: who comes back to a topic that is no longer heard hears it again', { skip }, async (t) => {
  const { one, two, heard } = await openCounted(t);
  for (let round = 0; round < 3; round++) {
    const received: unknown[] = [];
    const stop = await one.bus.subscribe('topic', (message) => received.push(message));
    // On a busy machine a command may find no answer in time; then the next ones fail for a second.
    await eventually(() => {
      two.bus.publish('topic', round);
      assert.ok(received.includes(round));
    });
    stop();
    await eventually(async () => assert.deepEqual(await heard(), []));
  }
});

/** A process's bus, with a count of its gaps. */
async function openProcess(url: string) {
  const redis = createRedis({ url, prefix: 'bus-test:' });
  await redis.ready();
  const bus = await openRedisBus({ redis, onError });
  const received: unknown[] = [];
  let gaps = 0;
  bus.onGap(() => {
    gaps += 1;
  });
  await bus.subscribe('topic', (message) => received.push(message));
  const close = async () => {
    await bus.close();
    await redis.close();
  };
  /** Not one of before: that of a start which waited for no beat, as on a busy machine. */
  const gapAfter = async (act: () => void | Promise<void>): Promise<void> => {
    const known = gaps;
    await act();
    await eventually(() => gaps > known, { withinMs: processWorkMs });
  };
  return { bus, received, gapAfter, close };
}

test('[STA-6] redis: after the server was killed every process hears of a gap, and messages flow again', {
  skip,
}, async (t) => {
  const own = await startOwnRedis();
  t.after(own.kill);
  const [one, two] = await Promise.all([openProcess(own.url), openProcess(own.url)]);
  t.after(one.close);
  t.after(two.close);
  one.bus.publish('topic', 'before');
  await eventually(() => assert.deepEqual(two.received, ['before']));

  await own.kill();
  one.bus.publish('topic', 'meanwhile');
  await eventually(() => assert.deepEqual(one.received, ['before', 'meanwhile']), { withinMs: processWorkMs });
  await assert.rejects(one.bus.ping());

  await one.gapAfter(() => two.gapAfter(() => own.start()));
  one.bus.publish('topic', 'after');
  await eventually(() => assert.deepEqual(two.received, ['before', 'after']), { withinMs: processWorkMs });
  assert.deepEqual(one.received, ['before', 'meanwhile', 'after']);
});

test('[STA-6] redis: a server that hangs and comes back is a gap too', { skip }, async (t) => {
  const own = await startOwnRedis();
  t.after(own.kill);
  const one = await openProcess(own.url);
  t.after(one.close);
  own.freeze();
  await assert.rejects(one.bus.ping());
  await eventually(() => assert.rejects(one.bus.ping(), /not reachable/), { withinMs: processWorkMs });
  // The connection that listens has its own watch, up to a beat (800 ms) behind; thawed before, it has missed nothing.
  await sleep(2_000);
  await one.gapAfter(() => own.thaw());
  one.bus.publish('topic', 'after');
  await eventually(() => assert.deepEqual(one.received, ['after']), { withinMs: processWorkMs });
});

test('[STA-6] redis: a connection that is deaf without a sign is replaced', { skip }, async (t) => {
  const own = await startOwnRedis();
  t.after(own.kill);
  const proxy = await startTcpProxy(own.url);
  t.after(proxy.close);
  const one = await openProcess(proxy.url);
  const two = await openProcess(own.url);
  t.after(one.close);
  t.after(two.close);
  // Frozen connections stay frozen; new ones pass.
  await one.gapAfter(() => proxy.freezeOpenOnes());
  two.bus.publish('topic', 'after');
  await eventually(() => assert.deepEqual(one.received, ['after']), { withinMs: processWorkMs });
});

test('[STA-6] redis: what a process could not send is a gap for its subscribers', { skip }, async (t) => {
  const own = await startOwnRedis();
  t.after(own.kill);
  const proxy = await startTcpProxy(own.url);
  t.after(proxy.close);
  const cutOff = await openProcess(proxy.url);
  const other = await openProcess(own.url);
  t.after(cutOff.close);
  t.after(other.close);
  proxy.cut();
  cutOff.bus.publish('topic', 'unheard');
  await eventually(() => assert.deepEqual(cutOff.received, ['unheard']), { withinMs: processWorkMs });
  await other.gapAfter(() => proxy.restore());
  assert.deepEqual(other.received, []);
});

test('[STA-6] redis: a process starts without a server, serves itself and joins when the server comes', {
  skip,
}, async (t) => {
  const own = await startOwnRedis();
  t.after(own.kill);
  await own.kill();
  const one = await openProcess(own.url);
  t.after(one.close);
  one.bus.publish('topic', 1);
  await eventually(() => assert.deepEqual(one.received, [1]), { withinMs: processWorkMs });
  await one.gapAfter(() => own.start());
  const two = await openProcess(own.url);
  t.after(two.close);
  two.bus.publish('topic', 2);
  await eventually(() => assert.deepEqual(one.received, [1, 2]), { withinMs: processWorkMs });
});

test('[STA-25] redis: while the server is away nobody waits to hear a topic, and hears it when the server is back', {
  skip,
}, async (t) => {
  const own = await startOwnRedis();
  t.after(own.kill);
  const proxy = await startTcpProxy(own.url);
  t.after(proxy.close);
  const [one, two] = await Promise.all([openProcess(proxy.url), openProcess(own.url)]);
  t.after(one.close);
  t.after(two.close);
  const connections = proxy.connections();
  proxy.cut();
  await eventually(() => proxy.connections() === 0, { withinMs: processWorkMs });
  // Its next attempts to connect do not end: a topic that waits for one would wait until the test is over.
  proxy.freeze();
  await eventually(() => proxy.connections() === connections, { withinMs: processWorkMs });
  const heard: unknown[] = [];
  let isJoined = false;
  const topics = Array.from({ length: 5 }, (_, at) => `late/${at}`);
  const joining = Promise.all(topics.map((topic) => one.bus.subscribe(topic, (message) => heard.push(message))));
  void joining.then(() => {
    isJoined = true;
  });
  await eventually(() => isJoined);

  await one.gapAfter(() => proxy.restore());
  for (const [at, topic] of topics.entries()) two.bus.publish(topic, at);
  await eventually(() => assert.deepEqual(heard, [0, 1, 2, 3, 4]));
});
