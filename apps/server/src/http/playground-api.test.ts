import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { startService, type TestService } from '../../testkit/kit/service.ts';

let service: TestService;
before(async () => {
  service = await startService({ env: { PLAYGROUND_API_KEY: 'svk_dev_0000.nobody' } });
});
after(() => service.stop());

/** What no `fetch` would send: another Host, and a body that does not say how long it is. */
function ask(host: string, chunks: readonly Buffer[] = []): Promise<{ status: number; code: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; code: string }>();
  const method = chunks.length > 0 ? 'POST' : 'GET';
  const path = chunks.length > 0 ? '/playground/api/rooms/x' : '/playground/api/rooms';
  const { port } = service.config;
  const sending = request({ host: '127.0.0.1', port, method, path, headers: { host } }, async (response) => {
    const text = (await response.toArray()).join('');
    resolve({ status: response.statusCode ?? 0, code: (JSON.parse(text) as { code: string }).code });
  });
  sending.on('error', reject);
  for (const chunk of chunks) sending.write(chunk);
  sending.end();
  return promise;
}

test("[SEC-11] the playground's backend refuses a Host that is none of ours, or no host at all", async () => {
  for (const host of ['evil.example', 'a b', '[', 'x:99999'])
    assert.deepEqual(await ask(host), { status: 403, code: 'SVC_ORIGIN_NOT_ALLOWED' }, host);
  assert.notEqual((await ask(`127.0.0.1:${service.config.port}`)).code, 'SVC_ORIGIN_NOT_ALLOWED');
});

test("[SEC-11] a body for the playground's backend that grows too large is 413, whatever its header says", async () => {
  const chunk = Buffer.alloc(40_000, ' ');
  assert.deepEqual(await ask('localhost', [chunk, chunk]), { status: 413, code: 'SVC_PAYLOAD_TOO_LARGE' });
});
