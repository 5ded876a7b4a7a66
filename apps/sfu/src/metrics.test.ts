import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, startTestNode } from '../testkit/node.ts';
import { renderMetrics } from './metrics.ts';

test('[MED-91] every series is there from the start, at zero and with its help', () => {
  const lines = renderMetrics([{ load: undefined }, { load: undefined }])
    .trimEnd()
    .split('\n');
  const series = lines.filter((line) => !line.startsWith('#'));
  assert.ok(series.every((line) => line.endsWith(' 0')));
  assert.ok(series.includes('parley_media_nacks_total{process="1",direction="in"} 0'));
  assert.ok(series.includes('parley_media_video_subscriptions{process="0",layer="paused"} 0'));
  const names = new Set(series.map((line) => line.slice(0, line.indexOf('{'))));
  for (const name of names) assert.ok(lines.some((line) => line.startsWith(`# HELP ${name} `)));
  assert.equal(series.length % 2, 0, 'of both processes');
});

test('[MED-91] a node shows its metrics on its control port, to who has the token, and never to a page', async (context) => {
  const kit = await startTestNode({ METRICS_TOKEN: 'scrape-me' });
  context.after(() => kit.stop());
  const scrape = (headers: Record<string, string>) => fetch(`${kit.node.internalUrl}/metrics`, { headers });
  const authorization = 'Bearer scrape-me';
  const refused = await scrape({});
  assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer']);
  assert.equal((await scrape({ authorization: 'Bearer other' })).status, 401);
  assert.equal((await scrape({ authorization, origin: 'https://example.com' })).status, 403);
  const answer = await scrape({ authorization });
  assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4');
  assert.match(await answer.text(), /^# TYPE parley_media_bytes_total counter$/m);
  await eventually(
    async () => /parley_media_memory_bytes\{process="0"\} [1-9]/.test(await (await scrape({ authorization })).text()),
    'the process does not report',
  );
});
