/**
 * A call between Chromium and Debian's Firefox over two media processes of a node, both with camera and microphone: each
 * sees and hears the other across the pipe: `node tools/proof/two-browsers.ts`. Needs firefox-esr.
 */
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApi } from '@parley/server';
import { firefox } from 'playwright-core';
import { WebSocket, WebSocketServer } from 'ws';
import { startService } from '../../apps/server/testkit/kit/service.ts';
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { startTestNode } from '../../apps/sfu/testkit/node.ts';
import { type Site, type SiteOptions, siteFile } from '../../e2e/browser.ts';
import { type CallPage, openPages } from '../../e2e/sdk/kit.ts';
import { leniently } from './networks/firefox.ts';

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

/** Between Playwright and Firefox: commands that this Firefox does not know succeed. */
async function openDoor(firefoxPort: number): Promise<{ port: number; close(): void }> {
  const door = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(door, 'listening');
  door.on('connection', async (driver) => {
    const inside = new WebSocket(`ws://127.0.0.1:${firefoxPort}/session`);
    const opened = once(inside, 'open');
    driver.on('message', async (message) => {
      await opened;
      inside.send(String(message));
    });
    inside.on('message', (message) => driver.send(leniently(String(message))));
    driver.on('close', () => inside.close());
    inside.on('close', () => driver.close());
  });
  return { port: portOf(door), close: () => door.close() };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  return port;
}

async function startFirefox(folder: string) {
  const inside = await freePort();
  const door = await openDoor(inside);
  const launcher = join(folder, 'firefox');
  // Playwright reads in what Firefox prints where to connect: to the door.
  const printed = `exec > >(sed -u s/:${inside}/:${door.port}/) 2> >(sed -u s/:${inside}/:${door.port}/ >&2)`;
  await writeFile(launcher, `#!/bin/bash\n${printed}\nexec firefox-esr --remote-debugging-port=${inside} "$@"\n`);
  await chmod(launcher, 0o755);
  await mkdir(join(folder, 'profile'));
  const context = await firefox.launchPersistentContext(join(folder, 'profile'), {
    channel: 'moz-firefox',
    executablePath: launcher,
    headless: true,
    firefoxUserPrefs: {
      'media.navigator.streams.fake': true,
      'media.navigator.permission.disabled': true,
      'media.autoplay.default': 0,
      'media.peerconnection.ice.loopback': true,
      'media.peerconnection.ice.obfuscate_host_addresses': false,
    },
  });
  const newSite = async ({ modules = {} }: SiteOptions): Promise<Site> => {
    const server = createServer(async (request, response) => {
      const file = await siteFile(modules, request.url ?? '/');
      if (file) response.setHeader('content-type', file.contentType).end(file.body);
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      async newPage() {
        const page = await context.newPage();
        await page.goto(`http://127.0.0.1:${portOf(server)}/`);
        return page;
      },
      async close() {
        server.close();
        await context.close();
        door.close();
      },
    };
  };
  return newSite;
}

const ownAddress =
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
const folder = await mkdtemp(join(tmpdir(), 'parley-two-browsers-'));
const service = await startService();
const [secret = ''] = service.config.sfuSecrets;
const node = await startTestNode(
  {
    CONTROL_URL: service.url,
    SFU_REGISTRATION_SECRET: secret,
    // Firefox has no path to the loopback device.
    SFU_ANNOUNCED_HOST: ownAddress,
    SFU_PROCESSES: '2',
    // Those who join take turns.
    SFU_ROOM_SPREAD_PERCENT: '0',
  },
  true,
);
const { apiKey } = await service.newProject();
const api = createApi({ baseUrl: service.url, credential: apiKey });
const chromiumPages = await openPages(service.url, api, {});
const firefoxPages = await openPages(service.url, api, { openSite: await startFirefox(folder) });
const room = await chromiumPages.newRoom();
const calls: CallPage[] = [await chromiumPages.caller(room, 'chromium'), await firefoxPages.caller(room, 'firefox')];
for (const call of calls) {
  await call.join();
  await call.setMicrophone(true);
  await call.setCamera(true);
}
const [ada, bob] = calls as [CallPage, CallPage];
await bob.watches('chromium');
await ada.watches('firefox');
const shown = await bob.page.evaluate(() => window.caller.times);
console.log(
  `Chromium and Firefox, a media process each, see one another; Firefox had its first picture ${Math.round((shown['firstFrame'] ?? Number.NaN) - (shown['join'] ?? 0))} ms after joining`,
);
await firefoxPages.close();
await chromiumPages.close();
await node.stop();
await service.stop();
await stopShared();
await rm(folder, { recursive: true, force: true });
process.exit(0);
