import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAudience } from './audience.ts';

/** The full size, 200 viewers, is tools/proof/stream-audience.ts. */
test('[LIVE-6] real peers up to the ceiling, in two media processes, receive the stream, none above it, and the end reaches all', async (context) => {
  const [viewers, ceiling] = [6, 4];
  const result = await runAudience({
    viewers,
    ceiling,
    processes: 2,
    packetsPerSecond: 60,
    bytes: 600,
    measureMs: 500,
  });
  context.diagnostic(JSON.stringify(result));
  assert.deepEqual([result.admitted, result.refused], [ceiling, { SVC_ROOM_FULL: viewers - ceiling }]);
  assert.equal(result.viewerCount, ceiling);
  assert.ok(result.fewest > 0, 'everybody receives');
  assert.deepEqual(result.ends, { STREAM_ENDED: ceiling });
});
