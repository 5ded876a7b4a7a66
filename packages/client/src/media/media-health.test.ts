import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeWorld } from '../../testkit/fake-world.ts';
import { createMediaHealth } from './media-health.ts';

function rig(isSignalConnected = () => true, restarted = async () => {}) {
  const world = createFakeWorld();
  const log: string[] = [];
  const health = createMediaHealth({
    runtime: world,
    restart(transport) {
      log.push(`restart ${transport}`);
      return restarted();
    },
    isSignalConnected,
    rejoin: () => log.push('rejoin'),
    giveUp: () => log.push('give up'),
    onBroken: (isBroken) => log.push(isBroken ? 'broken' : 'whole'),
  });
  return { world, log, health };
}

test('[SDK-21] a short dropout of media heals by itself and is not reported', async () => {
  const { world, log, health } = rig();
  health.changed('sub', 'disconnected');
  await world.advance(3_000);
  health.changed('sub', 'connected');
  await world.advance(60_000);
  assert.deepEqual(log, []);
});

test('[SDK-21] a broken transport is restarted, and reported as broken until media flows again', async () => {
  const { world, log, health } = rig();
  health.changed('sub', 'disconnected');
  await world.advance(4_000);
  health.changed('sub', 'connected');
  await world.advance(60_000);
  assert.deepEqual(log, ['broken', 'restart sub', 'whole']);
});

test('[SDK-21] what cannot be restarted is rejoined, then fails: it never stays broken', async () => {
  const { world, log, health } = rig();
  health.changed('pub', 'failed');
  await world.advance(40_000);
  assert.deepEqual(log, ['broken', 'restart pub', 'restart pub', 'restart pub', 'rejoin']);
  for (let join = 0; join < 2; join++) {
    health.signalConnected(true);
    health.changed('pub', 'failed');
    await world.advance(40_000);
  }
  assert.equal(log.filter((entry) => entry === 'rejoin').length, 2);
  assert.equal(log.at(-1), 'give up');
});

test('[SDK-21] while signaling is lost nothing is asked; it is repaired when signaling is back', async () => {
  let isConnected = false;
  const { world, log, health } = rig(() => isConnected);
  health.changed('sub', 'failed');
  await world.advance(60_000);
  assert.deepEqual(log, ['broken']);
  isConnected = true;
  health.signalConnected(false);
  assert.deepEqual(log, ['broken', 'restart sub']);
});

test('[SDK-29] a restart that fails after the call has ended is nobody’s business', async () => {
  const restarting = Promise.withResolvers<void>();
  const { world, log, health } = rig(undefined, () => restarting.promise);
  health.changed('pub', 'failed');
  health.close();
  restarting.reject(new Error('the connection is gone'));
  await world.advance(60_000);
  assert.deepEqual([log, world.timers], [['broken', 'restart pub'], 0]);
});

test('[SDK-21] a transport that is over, with nothing to carry, is not broken any more', async () => {
  const { world, log, health } = rig();
  health.changed('pub', 'failed');
  health.changed('pub', 'closed');
  await world.advance(120_000);
  assert.deepEqual(log, ['broken', 'restart pub', 'whole']);
});
