import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addWebhook, readWebhook, record, streamEvents } from '../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import { startService } from '../../../testkit/kit/service.ts';
import { startReceiver } from '../../../testkit/peers/receiver.ts';
import { createLanes } from '../../core/queue/lanes.ts';

test('[WH-9] an endpoint that hangs holds up neither other endpoints nor the API', async () => {
  // Time stands still: what hangs never times out, and everything else must come through all the same.
  const clock = createFakeClock();
  const service = await startService({ clock });
  const project = await service.newProject();
  const hanging = await Promise.all(Array.from({ length: 3 }, () => startReceiver('hang')));
  const good = await Promise.all(Array.from({ length: 3 }, () => startReceiver(204)));
  try {
    for (const { url } of [...hanging, ...good]) await addWebhook(project, { url });
    for (let at = 0; at < 100; at += 50) await record(service, project, streamEvents(50, `${at}_`));
    await eventually(() => {
      for (const { requests } of good) assert.equal(new Set(requests.map(({ body }) => body.toString())).size, 100);
    });
    for (const { requests } of hanging)
      assert.ok(requests.length <= 4, `${requests.length} requests wait for an answer`);
    const more = await addWebhook(project, { url: good[0]?.url ?? '' });
    assert.equal((await readWebhook(project, more.id)).status, 'ENABLED');
  } finally {
    await Promise.all([...hanging, ...good].map((receiver) => receiver.close()));
    await service.stop();
  }
});

const take = (lanes: ReturnType<typeof createLanes>, share = 1) => {
  const asks = lanes.asks();
  for (const ask of asks) lanes.claimed(ask, Math.ceil(ask.take * share));
  return new Map(asks.map((ask) => [ask.laneId, ask.take]));
};

test('[WH-9] places are shared evenly, and endpoints that fail share half of them at most', () => {
  const lanes = createLanes({ placesMax: 16, windowMax: 32 });
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) lanes.ready(id);
  assert.deepEqual(
    [...take(lanes).values()],
    Array(8).fill(2),
    'a lane`s window is four, but eight lanes want sixteen places',
  );
  assert.equal(lanes.asks().length, 0);
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    for (let n = 0; n < 2; n++) lanes.finished(id, { isDelivered: false, durationMs: 5000 });
  const next = take(lanes);
  const failing = [...next].filter(([id]) => id !== 'h').reduce((sum, [, count]) => sum + count, 0);
  assert.ok(failing <= 8, `${failing} places for failing endpoints`);
  assert.ok((next.get('h') ?? 0) >= 1);
});

test('[WH-9] a window grows with quick successes and shrinks with failures', () => {
  const lanes = createLanes({ placesMax: 1000, windowMax: 32 });
  lanes.ready('a');
  const windowNow = () => {
    const count = take(lanes).get('a') ?? 0;
    return count;
  };
  assert.equal(windowNow(), 4);
  for (let n = 0; n < 4; n++) lanes.finished('a', { isDelivered: true, durationMs: 5 });
  assert.equal(windowNow(), 8);
  for (let n = 0; n < 8; n++) lanes.finished('a', { isDelivered: true, durationMs: 4000 });
  assert.equal(windowNow(), 8, 'slow answers earn no more places');
  for (let n = 0; n < 8; n++) lanes.finished('a', { isDelivered: false, durationMs: 5000 });
  assert.equal(windowNow(), 1);
});
