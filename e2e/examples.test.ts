import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createApi, Svc, speaker } from '@parley/server';
import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { eventually, pageMs, processWorkMs } from '../apps/server/testkit/kit/eventually.ts';
import { skipWithoutBrowser } from './browser.ts';
import { openPlayground, type Playground } from './playground-kit.ts';

const example = (name: string): string => fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url));

/** The file as it is, with what it imports, as a bundler makes it. */
async function bundled(name: string): Promise<string> {
  const bundle = await rolldown({ input: example(name), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  return output[0].code;
}

describe('[EX] the examples run as they are written', { skip: skipWithoutBrowser(), timeout: 240_000 }, () => {
  let playground: Playground;
  let svc: Svc;
  before(async () => {
    // A page that the test puts there counts as one from elsewhere, which may not open sockets to this machine.
    playground = await openPlayground(['--disable-features=LocalNetworkAccessChecks']);
    const { SVC_API_KEY: apiKey = '' } = await playground.server.devEnv();
    svc = new Svc({ apiKey, baseUrl: playground.server.url });
  });
  after(() => playground?.close());

  /** A page of the service's origin with one example on it, and a backend for what it fetches. */
  async function run(name: string, api: Record<string, () => Promise<string>>, search = ''): Promise<Page> {
    const page = await playground.newPage();
    await page.route('**/api/**', async (route) => {
      const { pathname } = new URL(route.request().url());
      await route.fulfill({ body: (await api[pathname]?.()) ?? '', status: api[pathname] ? 200 : 404 });
    });
    const script = await bundled(name);
    await page.route('**/example.js', (route) => route.fulfill({ body: script, contentType: 'text/javascript' }));
    await page.route('**/example.html*', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: '<!doctype html><link rel="icon" href="data:,"><div id="grid"></div><div id="stage"></div><div id="messages"></div><script type="module" src="/example.js"></script>',
      }),
    );
    await page.goto(`${playground.url}/example.html${search}`);
    return page;
  }

  const plays = (page: Page, selector: string): Promise<unknown> =>
    eventually(
      async () =>
        assert.ok(
          await page.evaluate((one) => {
            const videos = [...document.querySelectorAll<HTMLVideoElement>(one)];
            return videos.some((video) => video.getVideoPlaybackQuality().totalVideoFrames > 5);
          }, selector),
        ),
      { withinMs: 30_000 },
    );

  test('[EX-1] backend.ts', async () => {
    const { SVC_API_KEY = '', SVC_URL = '' } = await playground.server.devEnv();
    const { stdout } = await promisify(execFile)(process.execPath, [example('backend')], {
      env: { SVC_API_KEY, SVC_URL },
    });
    assert.match(stdout, /^development \d{4}-\d\d-\d\dT.* \d+ \d+$/m);
    assert.equal((await svc.chat.conversations.get('standup')).roomId, (await svc.rooms.get('standup')).id);
  });

  const rtcToken = (identity: string) => async () =>
    (await svc.rooms.tokens.create('standup', { participantIdentity: identity, permissions: speaker() })).token;

  test('[EX-2] video-call.ts', async () => {
    const ada = await run('video-call', { '/api/room-token': rtcToken('ada') });
    const bob = await run('video-call', { '/api/room-token': rtcToken('bob') });
    await plays(ada, '#grid video[data-identity="bob"]');
    await plays(bob, '#grid video[data-identity="ada"]');
    assert.equal(await ada.evaluate(() => document.body.dataset['connection']), 'connected');
    await bob.close();
    await ada.close();
  });

  test('[SDK-62] devices.ts', async () => {
    const ada = await run('devices', { '/api/room-token': rtcToken('ada') });
    const bob = await run('video-call', { '/api/room-token': rtcToken('bob') });
    await plays(ada, '#stage video');
    await plays(bob, '#grid video[data-identity="ada"]');
    assert.ok((await ada.locator('#stage option').count()) > 0);
    assert.equal(await ada.locator('#messages').textContent(), '');
    await bob.close();
    await ada.close();
  });

  test('[EX-3] chat.ts', async () => {
    for (const userId of ['ada', 'bob']) await svc.chat.members.add('standup', { userId });
    await svc.chat.messages.send('standup', { text: 'Good morning', senderId: 'bob' });
    const token = async () => (await svc.chat.tokens.create({ userId: 'ada', conversations: ['standup'] })).token;
    const page = await run('chat', { '/api/chat-token': token });
    await page.locator('#messages', { hasText: 'Good morning' }).waitFor();
    await eventually(
      async () => {
        const { messages } = await svc.chat.messages.list('standup');
        assert.deepEqual(messages[0]?.reactions[0]?.userIds, ['ada']);
      },
      { withinMs: pageMs },
    );
    await eventually(
      async () => assert.match((await page.evaluate(() => document.body.dataset['reaction'])) ?? '', /👍 ada$/),
      { withinMs: pageMs },
    );
    await svc.chat.messages.send('standup', { text: 'Live', senderId: 'bob' });
    await page.locator('#messages', { hasText: 'Live' }).waitFor();
    await page.close();
  });

  test('[EX-4] watch-stream.ts', async () => {
    const { id } = await svc.liveStreams.create({ title: 'Launch', hostIdentity: 'ada' });
    const host = async () => (await svc.liveStreams.addHost(id, { identity: 'ada', role: 'HOST' })).rtc.token;
    const studio = await run('video-call', { '/api/room-token': host });
    await svc.liveStreams.start(id);
    const credentials = async () => JSON.stringify(await svc.liveStreams.createViewerToken(id, { identity: 'eve' }));
    const page = await run('watch-stream', { [`/api/streams/${id}/viewer`]: credentials }, `?stream=${id}`);
    await plays(page, '#stage video');
    const { conversationId } = await svc.liveStreams.get(id);
    await eventually(
      async () => assert.equal((await svc.chat.messages.list(conversationId)).messages[0]?.text, 'Hi from a viewer'),
      { withinMs: pageMs },
    );
    await page.close();
    await studio.close();
  });

  test('[EX-5] webhook-receiver.ts', async () => {
    const { POST } = await import('../examples/webhook-receiver.ts');
    const { received } = await import('../examples/application.ts');
    const server = createServer(async (request, response) => {
      const parts: Uint8Array[] = [];
      for await (const chunk of request) parts.push(chunk);
      const headers = new Headers(Object.entries(request.headers) as [string, string][]);
      const answer = await POST(
        new Request('http://localhost/', { method: 'POST', headers, body: Buffer.concat(parts) }),
      );
      response.writeHead(answer.status).end(await answer.text());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    process.env['HOOK_SECRET'] = await newEndpoint(url);
    const { id } = await svc.chat.messages.send('demo', { text: 'For the hook', senderId: 'mira' });
    await eventually(() => assert.ok(received.some((data) => JSON.stringify(data).includes(id))), {
      withinMs: processWorkMs,
    });
    assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 400);
    server.close();
  });

  async function newEndpoint(url: string): Promise<string> {
    const env = await playground.server.devEnv();
    const { accessToken } = await createApi({ baseUrl: playground.server.url }).call('login', {
      body: { email: env['SVC_DEV_EMAIL'] ?? '', password: env['SVC_DEV_PASSWORD'] ?? '' },
    });
    const api = createApi({ baseUrl: playground.server.url, credential: accessToken });
    const body = { url, environment: 'DEVELOPMENT' } as const;
    return (await api.call('createWebhook', { projectId: env['SVC_PROJECT_ID'] ?? '', body })).secret;
  }

  test('[EX] nothing went wrong in any page', () => {
    assert.deepEqual(playground.problems, []);
  });
});
