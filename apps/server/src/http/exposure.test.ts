import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownPort } from '../../testkit/kit/ports.ts';
import { startService } from '../../testkit/kit/service.ts';
import { sharedService } from '../../testkit/kit/shared-service.ts';

test('[OBS-16] /metrics asks for METRICS_TOKEN as Bearer', async () => {
  const service = await startService({ env: { METRICS_TOKEN: 'scraper' } });
  for (const authorization of ['', 'Bearer', 'Bearer other', 'Basic scraper', 'scraper']) {
    const refused = await service.fetch('/metrics', { headers: { authorization } });
    assert.deepEqual([refused.status, ((await refused.json()) as { code: string }).code], [401, 'SVC_UNAUTHENTICATED']);
  }
  const metrics = await service.fetch('/metrics', { headers: { authorization: 'Bearer scraper' } });
  assert.match(await metrics.text(), /^# HELP parley_/);
  await service.stop();
});

test('[OBS-16] METRICS_PORT takes /metrics off the public port', async () => {
  const port = await ownPort();
  const service = await startService({ env: { METRICS_PORT: String(port), METRICS_TOKEN: 'scraper' } });
  const at = (path: string, authorization: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } });
  assert.equal((await service.fetch('/metrics')).status, 404);
  assert.equal((await at('/metrics', '')).status, 401);
  assert.equal((await at('/v1/rooms', 'Bearer scraper')).status, 404);
  assert.match(await (await at('/metrics', 'Bearer scraper')).text(), /process_resident_memory_bytes/);
  await service.stop();
});

test('[OBS-16] without either it answers as before', async () => {
  const service = await sharedService();
  assert.equal((await service.fetch('/metrics')).status, 200);
  assert.equal((await service.fetch('/healthz')).headers.get('strict-transport-security'), null);
});

test('[SEC-31] where PUBLIC_URL is https, browsers are told to stay there', async () => {
  const service = await startService({ env: { PUBLIC_URL: 'https://rtc.example', ALLOW_PUBLIC_DEVELOPMENT: 'true' } });
  for (const path of ['/healthz', '/v1/nothing', '/docs'])
    assert.equal((await service.fetch(path)).headers.get('strict-transport-security'), 'max-age=31536000', path);
  await service.stop();
});
