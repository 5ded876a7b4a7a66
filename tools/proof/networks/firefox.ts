/** Debian's Firefox inside a network, driven by Playwright over WebDriver BiDi. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { firefox } from 'playwright-core';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Running } from '../../../e2e/browser.ts';
import { writeLauncher } from './namespaces.ts';

const INSIDE = fileURLToPath(new URL('bidi-inside.ts', import.meta.url));

export async function startFirefox(namespace: string, folder: string, authorityFile: string): Promise<Running> {
  const profile = await trustingProfile(folder, authorityFile);
  const door = await openDoor(namespace);
  // Firefox takes the first of two ports; Playwright's comes later.
  const command = `firefox-esr --remote-debugging-port=${door.port}`;
  const context = await firefox.launchPersistentContext(profile, {
    channel: 'moz-firefox',
    executablePath: await writeLauncher(folder, namespace, command),
    headless: true,
    firefoxUserPrefs: {
      'media.navigator.streams.fake': true,
      'media.navigator.permission.disabled': true,
      'media.autoplay.default': 0,
    },
  });
  const browser = context.browser();
  if (!browser) throw new Error('Firefox has ended');
  return {
    browser,
    async stop() {
      await context.close();
      door.close();
    },
  };
}

/** Firefox has authorities of its own in each profile. */
async function trustingProfile(folder: string, authorityFile: string): Promise<string> {
  const profile = join(folder, 'profile');
  await mkdir(profile);
  const certutil = (...args: string[]) =>
    execFileSync('certutil', [...args, '-d', `sql:${profile}`], { stdio: 'pipe' });
  certutil('-N', '--empty-password');
  certutil('-A', '-n', 'Test authority', '-t', 'C,,', '-i', authorityFile);
  return profile;
}

interface Door {
  /** The same here and, for Firefox, in its network: Playwright reads it in what Firefox prints. */
  port: number;
  close(): void;
}

/** Firefox listens on the loopback of its network only, where Playwright is not. */
async function openDoor(namespace: string): Promise<Door> {
  const door = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(door, 'listening');
  // A listening TCP server always has an AddressInfo.
  const { port } = door.address() as AddressInfo;
  door.on('connection', (driver) => carry(driver, namespace, `ws://127.0.0.1:${port}/session`));
  return { port, close: () => door.close() };
}

function carry(driver: WebSocket, namespace: string, url: string): void {
  const command = ['netns', 'exec', namespace, process.execPath, INSIDE, url];
  const inside = spawn('ip', command, { stdio: ['pipe', 'pipe', 'inherit'] });
  driver.on('message', (message) => inside.stdin.write(`${message}\n`));
  driver.on('close', () => inside.stdin.end());
  inside.on('exit', () => driver.close());
  createInterface({ input: inside.stdout }).on('line', (line) => driver.send(leniently(line)));
}

/** Playwright knows commands for appearance that this Firefox does not: it goes without. */
export function leniently(line: string): string {
  const { id, error } = JSON.parse(line) as { id?: number; error?: string };
  return error === 'unknown command' ? JSON.stringify({ type: 'success', id, result: {} }) : line;
}
