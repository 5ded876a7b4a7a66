import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { ownPort } from '../../../apps/server/testkit/kit/ports.ts';
import { sharedChromium } from '../../../e2e/browser.ts';
import { meetInLobby } from '../../../e2e/lobby.ts';
import { install, ownPorts, type Prepared, sdkTarballs, start } from './prepared.ts';

/** The application of `parley init`, installed with Vite and React from the registry: two pages in a call and a chat. */
export async function proveBrowser(prepared: Prepared): Promise<void> {
  const { work, tarballs, nodes } = prepared;
  const node = nodes.at(-1)?.path ?? process.execPath;
  const cwd = install(join(work, 'browser'), tarballs);
  const main = join(cwd, 'node_modules', '@parley', 'cli', 'src', 'main.js');
  const service = await start([node, main, 'dev', '--json'], {
    cwd,
    env: { ...(await ownPorts()), LOG_LEVEL: 'warn' },
    until: /"mediaProblem".*\}\n/,
  });
  try {
    execFileSync(node, [main, 'init', 'lobby'], { cwd });
    const lobby = install(join(cwd, 'lobby'), sdkTarballs(prepared));
    const port = String(await ownPort());
    const app = await start([node, '--env-file=.env', 'backend.js'], {
      cwd: lobby,
      env: { PORT: port },
      until: /Open http/,
    });
    try {
      await meetInLobby(`http://localhost:${port}/`);
      console.log('  Vite and React: two pages see each other, raise a hand, and chat');
    } finally {
      await app.stop();
    }
    await provePlainModule(join(cwd, 'node_modules', '@parley', 'client', 'dist'));
  } finally {
    await service.stop();
  }
}

/** A folder of files as a CDN has it, and no bundler. */
async function provePlainModule(folder: string): Promise<void> {
  const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    response.setHeader('content-type', types[extname(path)] ?? 'text/html');
    if (path === '/')
      return response.end("<script type=module>import { Room } from '/index.js'; window.Room = Room;</script>");
    response.end(readFileSync(join(folder, path)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const context = await (await sharedChromium()).newContext();
  try {
    const page = await context.newPage();
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction('typeof Room === "function"');
    assert.equal(
      await page.evaluate('new Room({ url: location.origin, token: "x" }).state.getSnapshot().connection'),
      'idle',
    );
    console.log('  <script type="module"> from a plain folder: loads');
  } finally {
    await context.close();
    server.close();
  }
}
