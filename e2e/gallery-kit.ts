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
  /** The next test to open one gets this page, loaded anew: a browser's new page costs twice that. */
  leave(page: Page): Promise<void>;
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
  const opened: Page[] = [];
  const free: Page[] = [];
  let visits = 0;

  async function newPage(options: BrowserContextOptions): Promise<Page> {
    const page = await browser.newPage({ ...stillPage, ...options });
    opened.push(page);
    page.setDefaultTimeout(90_000);
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    return page;
  }

  return {
    problems,
    async open({ exhibit = '', theme, direction = 'ltr', viewport, ...device } = {}) {
      const size = viewport ?? { width: 1280, height: 720 };
      const known = Object.keys(device).length === 0 ? free.pop() : undefined;
      const page = known ?? (await newPage({ viewport: size, ...device }));
      await known?.setViewportSize(size);
      // An address of its own: from one exhibit to another the page would only turn.
      const search = `theme=${theme ?? ''}&dir=${direction}&visit=${++visits}`;
      await page.goto(`http://localhost:${port}/?${search}#${encodeURIComponent(exhibit)}`);
      await page.locator('#root > *').waitFor();
      return page;
    },
    async leave(page) {
      await page.evaluate(() => localStorage.clear());
      await page.emulateMedia({ colorScheme: 'light' });
      free.push(page);
    },
    async close() {
      // The browser lives on with its worker, and so would the pictures that play in them.
      for (const page of opened) await page.close();
      server.close();
      // A socket that the browser opened ahead, and has not used, would keep it open for minutes.
      server.closeAllConnections();
    },
  };
}
