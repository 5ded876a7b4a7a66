import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../testkit/kit/fake-clock.ts';
import { startService } from '../../testkit/kit/service.ts';
import { watchLoopDelay } from './load-guard.ts';

test('[REQ-10] a process whose event loop stays late refuses requests, answers its operators, and recovers', async () => {
  const clock = createFakeClock();
  let delayMs = 1_500;
  const service = await startService({ clock, loopDelay: () => delayMs });
  const second = async () => {
    await clock.advance(1_000);
    return (await service.fetch('/v1/projects')).status;
  };
  assert.deepEqual([await second(), await second()], [401, 401], 'one long turn is no overload');
  assert.equal(await second(), 503);
  const refused = await service.fetch('/openapi.json');
  const { code } = (await refused.json()) as { code: string };
  assert.deepEqual([refused.status, code, refused.headers.get('retry-after')], [503, 'SVC_SERVICE_UNAVAILABLE', '1']);
  for (const path of ['/healthz', '/readyz', '/metrics']) assert.equal((await service.fetch(path)).status, 200, path);
  delayMs = 900;
  assert.equal(await second(), 401);
  await service.stop();
});

test('[REQ-10] 0 turns the guard off', async () => {
  const clock = createFakeClock();
  const service = await startService({ clock, env: { HTTP_MAX_LOOP_DELAY_MS: '0' }, loopDelay: () => 60_000 });
  for (let passed = 0; passed < 5; passed++) {
    await clock.advance(1_000);
    assert.equal((await service.fetch('/v1/projects')).status, 401);
  }
  await service.stop();
});

test('[REQ-10] the delay that is measured is the one since the last look', async () => {
  const loopDelay = watchLoopDelay();
  await eventually(() => loopDelay() > 0);
  const until = performance.now() + 400;
  while (performance.now() < until);
  await eventually(() => loopDelay() > 300, { everyMs: 1 });
  await eventually(() => loopDelay() < 300);
});
