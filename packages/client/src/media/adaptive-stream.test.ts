import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeWorld } from '../../testkit/fake-world.ts';
import { createAdaptiveStream } from './adaptive-stream.ts';

function rig(isOn: boolean) {
  const world = createFakeWorld();
  const sent: object[] = [];
  const adaptive = createAdaptiveStream({ runtime: world, isOn, send: (updates) => sent.push(...updates) });
  return { world, adaptive, sent };
}

test('[SDK-72] media that the application took is asked for whole, once, and within its preferences', async () => {
  const { world, adaptive, sent } = rig(true);
  adaptive.take('trk_1');
  adaptive.take('trk_1');
  await world.advance(1_000);
  const whole = { trackId: 'trk_1', enabled: true, height: 16_384 };
  assert.deepEqual(sent, [whole]);
  adaptive.take('trk_1');
  assert.equal(world.timers, 0, 'there is nothing new to say');
  adaptive.prefer('trk_1', { enabled: false, maxLayer: 1 });
  await world.advance(1_000);
  assert.deepEqual(sent.slice(1), [{ ...whole, enabled: false, maxLayer: 1 }]);
});

test('[SDK-72] without adaptive streams everything comes whole anyway', async () => {
  const { world, adaptive, sent } = rig(false);
  adaptive.take('trk_1');
  await world.advance(1_000);
  assert.deepEqual(sent, []);
});
