import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { backendRoutes } from '@parley/playground/backend';
import { sharedRooms } from '../../testkit/clients/rooms.ts';
import { openPlayground } from '../../testkit/fuzz/playground.ts';
import { startService, type TestService } from '../../testkit/kit/service.ts';
import { sharedService } from '../../testkit/kit/shared-service.ts';
import { createWorld } from '../../testkit/kit/world.ts';

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

test("[SEC-10] the playground's backend: every route × origin × credential; only our own pages are answered", async () => {
  const open = await sharedService();
  const project = await open.newProject();
  openPlayground(open, project.apiKey);
  const credentials = ['', `Bearer ${project.apiKey}`, `Bearer ${project.owner.accessToken}`, 'Bearer forged'];
  const origins: [origin: string | null, isOurs: boolean][] = [
    [null, true],
    [open.config.publicUrl, true],
    ['null', false],
    ['https://evil.example', false],
    [`${open.config.publicUrl}.evil.example`, false],
  ];
  for (const at of backendRoutes)
    for (const [origin, isOurs] of origins)
      for (const authorization of credentials) {
        const [method = '', path = ''] = at.split(' ');
        const response = await open.fetch(`/playground/api/${path.replaceAll(/\{\w+\}/g, 'nothing')}`, {
          method,
          headers: { ...(origin === null ? {} : { origin }), ...(authorization === '' ? {} : { authorization }) },
        });
        const { code } = (await response.json()) as { code?: string };
        assert.equal(code === 'SVC_ORIGIN_NOT_ALLOWED', !isOurs, `${at} from ${origin}: ${response.status} ${code}`);
        assert.notEqual(response.status, 401, 'a credential of the visitor counts for nothing here');
      }
});

test("[SEC-10] the playground's backend reaches nothing beyond the environment of its key", async () => {
  const open = await sharedRooms();
  const [mine, theirs] = [await open.newProject(), await open.newProject()];
  const production = await createWorld(open, mine, 'PRODUCTION');
  const foreign = await createWorld(open, theirs, 'DEVELOPMENT');
  openPlayground(open, mine.apiKey);
  for (const { ids } of [production, foreign])
    for (const at of ['GET streams/{id}', 'POST streams/{id}/end', 'GET attachments/{id}']) {
      const [method = '', path = ''] = at.split(' ');
      const id = (path.startsWith('streams') ? ids['streamId'] : ids['attachmentId']) ?? '';
      const response = await open.fetch(`/playground/api/${path.replace('{id}', id)}`, { method });
      assert.equal(response.status, 404, `${at}: ${await response.text()}`);
    }
});
