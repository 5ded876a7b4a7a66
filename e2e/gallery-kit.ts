import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { createPageBuild } from '@parley/page-build';
import { buildOnce } from '@parley/page-build/build-once';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { build } from 'vite';
import { sharedChromium, stillPage } from './browser.ts';

/** The page of all components of `@parley/react`, built and served. */
export interface Gallery {
  /** The whole page, or one exhibit alone. */
  open(options?: OpenOptions): Promise<Page>;
  /** What no page may do: errors in the console or nowhere caught. */
  problems: string[];
  close(): Promise<void>;
}

export interface OpenOptions
  extends Pick<BrowserContextOptions, 'viewport' | 'deviceScaleFactor' | 'isMobile' | 'hasTouch'> {
  exhibit?: string;
  /** Left out: as the system. */
  theme?: 'light' | 'dark';
  direction?: 'ltr' | 'rtl';
}

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

const pages = createPageBuild('gallery', 'packages/react/gallery', [
  'packages/react/gallery/*',
  'packages/{contract,client,media-description,react}/src/**/*.{ts,tsx,css}',
  'package-lock.json',
]);

/** The folder of what Vite makes of the gallery: once for all workers. */
async function builtFolder(): Promise<string> {
  const configFile = 'packages/react/gallery/vite.config.ts';
  await buildOnce(pages, async (outDir) => {
    await build({ configFile, logLevel: 'error', build: { outDir, emptyOutDir: true } });
  });
  return pages.folder();
}

export async function openGallery(): Promise<Gallery> {
  const folder = await builtFolder();
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://gallery').pathname.replace(/\/$/, '/index.html');
    const body = await readFile(join(folder, path)).catch(() => null);
    if (body === null) return void response.writeHead(404).end();
    response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server always has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const browser = await sharedChromium();
  const problems: string[] = [];
  return {
    problems,
    async open({ exhibit = '', theme, direction = 'ltr', ...options } = {}) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, ...stillPage, ...options });
      page.setDefaultTimeout(90_000);
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
      await page.goto(`http://localhost:${port}/?theme=${theme ?? ''}&dir=${direction}#${encodeURIComponent(exhibit)}`);
      await page.locator('#root > *').waitFor();
      return page;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // A socket that the browser opened ahead, and has not used, would keep it open for minutes.
        server.closeAllConnections();
      }),
  };
}
