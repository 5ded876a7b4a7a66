import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Losses, seeded } from './udp-proxy.ts';

/** The share that is lost, and the mean length of a run of losses. */
function draw(path: { loss: number; burst: number }): { share: number; run: number } {
  const losses = new Losses();
  const random = seeded(7);
  let lost = 0;
  let runs = 0;
  let wasLost = false;
  const count = 200_000;
  for (let index = 0; index < count; index += 1) {
    const isLost = losses.next(path, random);
    if (isLost) lost += 1;
    if (isLost && !wasLost) runs += 1;
    wasLost = isLost;
  }
  return { share: lost / count, run: lost / runs };
}

test('the proxy loses the share that was asked for, alone or in bursts of the length that was asked for', () => {
  for (const loss of [0.01, 0.05, 0.1, 0.2]) {
    const bursts = draw({ loss, burst: 4 });
    assert.ok(Math.abs(bursts.share / loss - 1) < 0.1, `${bursts.share} of ${loss}`);
    assert.ok(Math.abs(bursts.run - 4) < 0.3, `runs of ${bursts.run}`);
    const alone = draw({ loss, burst: 0 });
    assert.ok(Math.abs(alone.share / loss - 1) < 0.1, `${alone.share} of ${loss}`);
    assert.ok(Math.abs(alone.run - 1 / (1 - loss)) < 0.05, `runs of ${alone.run}`);
  }
  assert.equal(draw({ loss: 1, burst: 4 }).share, 1);
});
