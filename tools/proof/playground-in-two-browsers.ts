/**
 * The playground in Chromium and Debian's Firefox side by side: `node tools/proof/playground-in-two-browsers.ts`. Who joins
 * second sees who is there; a camera that is turned off leaves no picture; a WebSocket that cannot be constructed ends no
 * call; nothing on a page is meant for developers. Needs firefox-esr.
 */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { startProcess } from '../../apps/server/testkit/kit/process.ts';
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { sharedChromium } from '../../e2e/browser.ts';
import { embeddedNode } from '../../e2e/node-process.ts';
import { buildPages } from '../../e2e/page-builds.ts';
import { openFirefox, ownAddress } from './firefox-context.ts';

declare global {
  interface Window {
    sockets: { made: WebSocket[]; refusals: number };
  }
}

/** Sockets of this page can be cut, and the next ones fail to be constructed, as Firefox does while it goes offline. */
function watchSockets(): void {
  const Own = window.WebSocket;
  window.sockets = { made: [], refusals: 0 };
  window.WebSocket = class extends Own {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      if (window.sockets.refusals-- > 0) throw new DOMException('The operation is insecure.', 'SecurityError');
      super(...args);
      window.sockets.made.push(this);
    }
  };
}

const forDevelopers = /createTestTracks|`|\(\)|\btoken\b|\bSDK\b|undefined|\bSVC_/;

async function join(context: BrowserContext, url: string, name: string): Promise<Page> {
  const page = await context.newPage();
  await page.addInitScript(watchSockets);
  await page.goto(url);
  // Typed, as people do: what Playwright fills in here, this Firefox tells no React of.
  await page.getByLabel('Your name').focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.type(name);
  await page.getByRole('button', { name: 'Join' }).click();
  await page.locator('.parley-call[data-connection="connected"]').waitFor();
  return page;
}

const tileOf = (page: Page, name: string) => page.locator(`.parley-tile[data-identity^="${name}"]`);

/** A moving picture, not the last one. */
async function seesMoving(page: Page, name: string): Promise<void> {
  const timeOf = (): Promise<number> =>
    tileOf(page, name).evaluate((tile) => tile.querySelector('video')?.currentTime ?? 0);
  await tileOf(page, name).locator('video').waitFor();
  const before = await timeOf();
  await eventually(async () => assert.ok((await timeOf()) > before), { withinMs: 20_000 });
}

async function turnCameraOff(page: Page, name: string, other: Page): Promise<void> {
  const camera = page.getByRole('button', { name: 'Camera', exact: true });
  await camera.click();
  await tileOf(other, name).getByText('sends no picture').waitFor();
  assert.equal(await tileOf(other, name).locator('video').count(), 0);
  await camera.click();
  await seesMoving(other, name);
}

async function loseSockets(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.sockets.refusals = 3;
    for (const socket of window.sockets.made) socket.close();
  });
  await page.locator('.parley-call[data-connection="reconnecting"]').waitFor();
  await page.locator('.parley-call[data-connection="connected"]').waitFor();
  assert.ok((await page.evaluate(() => window.sockets.refusals)) <= 0, 'sockets were refused meanwhile');
}

buildPages();
const server = await startProcess({ ...(await embeddedNode()), SFU_ANNOUNCED_HOST: ownAddress });
const firefox = await openFirefox();
const chromium = await (await sharedChromium()).newContext({ permissions: ['camera', 'microphone'] });
try {
  const url = `http://localhost:${server.port}/playground/room/side-by-side`;
  const ada = await join(chromium, url, 'ada');
  const bob = await join(firefox.context, url, 'bob');
  await bob.getByText('Here: ada').waitFor();
  await ada.getByText('Here: bob').waitFor();
  console.log('Who joined second sees who is there, and the other way round.');
  await seesMoving(ada, 'bob');
  await seesMoving(bob, 'ada');
  await turnCameraOff(ada, 'ada', bob);
  await turnCameraOff(bob, 'bob', ada);
  console.log('A camera that is turned off leaves no picture, either way; turned on again, it moves.');
  for (const [page, other, name] of [
    [bob, ada, 'bob'],
    [ada, bob, 'ada'],
  ] as const) {
    await loseSockets(page);
    await seesMoving(other, name);
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await page.keyboard.type(`back again, ${name}`);
    await page.keyboard.press('Enter');
    await other.getByText(`back again, ${name}`, { exact: true }).waitFor();
  }
  console.log('Sockets that could not be constructed ended no call and no chat.');
  for (const page of [ada, bob]) assert.doesNotMatch(await page.locator('body').innerText(), forDevelopers);
  console.log('Nothing on the pages is meant for developers.');
} finally {
  await firefox.close();
  await chromium.close();
  await server.kill('SIGTERM');
  await rm(server.dataDir, { recursive: true, force: true });
  await stopShared();
}
process.exit(0);
