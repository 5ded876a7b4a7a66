import assert from 'node:assert/strict';
import { request } from 'node:http';
import { before, test } from 'node:test';
import { startService, type TestService } from '../../testkit/kit/service.ts';
import { sharedService } from '../../testkit/kit/shared-service.ts';

/** Every route that only development mode has, as somebody would ask for it. */
const asked = [
  ['GET', '/dev/mail'],
  ['GET', '/dev/mail.json'],
  ['GET', '/dev/events'],
  ['GET', '/dev/events.json'],
  ['POST', '/dev/events'],
  ['GET', '/dev/login?code=x'],
  ['GET', '/playground/api/rooms'],
  ['POST', '/playground/api/rooms/x'],
] as const;

const strangers = [
  'rebound.example',
  'localhost.rebound.example',
  '127.0.0.1.rebound.example:4000',
  'localhost:4000@rebound.example',
  'localhost.',
  '192.168.1.5',
  '0.0.0.0',
  '[::2]',
  'a b',
  '[',
];

let service: TestService;
before(async () => {
  service = await sharedService();
});

/** What no `fetch` would send: another Host. */
function ask(to: TestService, host: string, method: string, path: string): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const { port } = to.config;
  request({ host: '127.0.0.1', port, method, path, headers: { host } }, async (response) => {
    resolve({ status: response.statusCode ?? 0, text: (await response.toArray()).join('') });
  })
    .on('error', reject)
    .end();
  return promise;
}

test('[DEV-2] no development route answers under a name that a stranger could have pointed at this machine', async () => {
  const mounted = service.service.mounted.filter((name) => / \/(dev\/|playground\/api)/.test(name));
  assert.equal(mounted.length, asked.length, 'a route that is not asked here');
  for (const [method, path] of asked)
    for (const host of strangers) {
      const { status, text } = await ask(service, host, method, path);
      const { code, message } = JSON.parse(text) as { code: string; message: string };
      assert.deepEqual([status, code], [403, 'SVC_ORIGIN_NOT_ALLOWED'], `${method} ${path} at ${host}`);
      assert.match(message, /open it at localhost/);
    }
});

test('[DEV-2] the names of this machine are answered, on any port', async () => {
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:4000', '127.8.9.1', '[::1]', '[::1]:4000'])
    for (const [method, path] of asked) {
      const { text } = await ask(service, host, method, path);
      assert.ok(!text.includes('SVC_ORIGIN_NOT_ALLOWED'), `${method} ${path} at ${host}: ${text}`);
    }
});

test('[DEV-2] a public development instance answers at its PUBLIC_URL too, and at no other name', async () => {
  const env = { PUBLIC_URL: 'https://dev.parley.example', ALLOW_PUBLIC_DEVELOPMENT: 'true' };
  const open = await startService({ env });
  assert.equal((await ask(open, 'dev.parley.example', 'GET', '/dev/mail.json')).status, 200);
  assert.equal((await ask(open, 'rebound.example', 'GET', '/dev/mail.json')).status, 403);
  await open.stop();
});
