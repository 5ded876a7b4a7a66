/**
 * The kit's service worker in a Chromium: `node tools/proof/push-worker.ts`. What a push service would deliver is
 * delivered by the browser's own tools, and the notifications are those that the browser holds.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CDPSession, Page } from 'playwright-core';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { siteFile, startChromium } from '../../e2e/browser.ts';

const modules = {
  '@parley/client/push-worker': new URL('../../packages/client/src/push-worker/index.ts', import.meta.url),
};
const worker = `import { servePush } from '/0/index.ts'; servePush();`;
// The one without windows has no notifications.
const withWindows = '/usr/bin/chromium';

const message = { title: 'New message', conversationId: 'conv_1', messageId: 'msg_1', mention: 'false' };

async function serve(): Promise<{ origin: string; close: () => void }> {
  const server = createServer(async (request, response) => {
    const file =
      request.url === '/push-worker.js'
        ? { contentType: 'text/javascript', body: worker }
        : await siteFile(modules, request.url ?? '/');
    if (file) response.setHeader('content-type', file.contentType).end(file.body);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server always has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return { origin: `http://localhost:${port}`, close: () => server.closeAllConnections() };
}

/** The id by which the browser's tools know the worker. */
async function registrationOf(session: CDPSession, page: Page): Promise<string> {
  const found = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
      if (first) resolve(first.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/push-worker.js', { type: 'module' });
    await navigator.serviceWorker.ready;
  });
  return found;
}

const notifications = (page: Page) =>
  page.evaluate(async () => {
    const shown = await (await navigator.serviceWorker.ready).getNotifications();
    return shown.map(({ title, body, tag }) => ({ title, body, tag }));
  });

const site = await serve();
const { browser, stop } = await startChromium([], withWindows);
try {
  const context = await browser.newContext();
  await context.grantPermissions(['notifications'], { origin: site.origin });
  const page = await context.newPage();
  await page.goto(site.origin);
  const session = await context.newCDPSession(page);
  const registrationId = await registrationOf(session, page);
  const deliver = (data: unknown) =>
    session.send('ServiceWorker.deliverPushMessage', {
      origin: `${site.origin}/`,
      registrationId,
      data: typeof data === 'string' ? data : JSON.stringify(data),
    });
  await page.evaluate(() => {
    navigator.serviceWorker.addEventListener('message', ({ data }) => {
      document.title = JSON.stringify(data);
    });
  });

  // Playwright gives every page the focus.
  const focus = (enabled: boolean) => session.send('Emulation.setFocusEmulationEnabled', { enabled });
  await focus(false);
  await (await context.newPage()).bringToFront();
  await deliver(message);
  await eventually(async () =>
    assert.deepEqual(await notifications(page), [{ title: 'New message', body: '', tag: 'conv_1' }]),
  );
  console.log('ok   a message is a notification while no page has the focus');

  await deliver({ ...message, title: 'ada', body: 'Hello', messageId: 'msg_2' });
  await eventually(async () =>
    assert.deepEqual(await notifications(page), [{ title: 'ada', body: 'Hello', tag: 'conv_1' }]),
  );
  console.log('ok   the next one of its conversation takes its place');

  await deliver({ ...message, conversationId: 'conv_2' });
  await eventually(async () => assert.equal((await notifications(page)).length, 2));
  console.log('ok   one of another conversation stands beside it');

  await deliver('not ours');
  await deliver({ kind: 'of another library' });
  await page.bringToFront();
  await focus(true);
  await deliver({ ...message, messageId: 'msg_4' });
  await eventually(async () => assert.match(await page.title(), /"type":"parley.push".*"messageId":"msg_4"/));
  assert.equal((await notifications(page)).length, 2);
  console.log('ok   a page with the focus gets the message itself; what is not ours is left alone');
} finally {
  await stop();
  site.close();
}
process.exit(0);
