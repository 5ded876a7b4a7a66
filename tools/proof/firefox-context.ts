/** Debian's Firefox with a fake camera and microphone, driven by Playwright over WebDriver BiDi. */
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, firefox } from 'playwright-core';
import { WebSocket, WebSocketServer } from 'ws';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
import { type Site, type SiteOptions, siteFile } from '../../e2e/browser.ts';
import { leniently } from './networks/firefox.ts';

export const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

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

export interface Firefox {
  context: BrowserContext;
  close(): Promise<void>;
}

export async function openFirefox(): Promise<Firefox> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-firefox-'));
  const inside = await ownPort();
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
  return {
    context,
    async close() {
      await context.close();
      door.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Pages of Firefox, from a server of their own. */
export async function openFirefoxSite({ modules = {} }: SiteOptions): Promise<Site> {
  const { context, close } = await openFirefox();
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
      await close();
    },
  };
}

/** Of this machine in its network: Firefox has no path to the loopback device. */
export const ownAddress =
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
