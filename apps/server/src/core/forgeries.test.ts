import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../testkit/kit/fake-clock.ts';
import { createForgeries } from './forgeries.ts';
import type { Log } from './log.ts';
import { createMetrics } from './metrics.ts';

test('[OBS-20] a flood of forged tokens is counted in full and logged once a minute', async () => {
  const lines: unknown[] = [];
  const clock = createFakeClock();
  const metrics = createMetrics();
  const log = { warn: (fields: unknown) => lines.push(fields) } as unknown as Log;
  const note = createForgeries({ metrics, log, clock });
  assert.match(metrics.render(), /^parley_forged_tokens_total\{family="rtc"\} 0$/m);
  for (let i = 0; i < 1_000; i++) note('rtc');
  assert.deepEqual(lines, [{ family: 'rtc', tokens: 1 }]);
  await clock.advance(60_000);
  note('chat');
  assert.deepEqual(lines[1], { family: 'chat', tokens: 1_000 });
  assert.match(metrics.render(), /^parley_forged_tokens_total\{family="rtc"\} 1000$/m);
});
