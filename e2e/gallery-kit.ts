import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { build } from 'vite';
import { sharedChromium } from './browser.ts';

/** The page of all components of `@parley/react`, built and served. */
export interface Gallery {
  /** The whole page, or one exhibit alone. */
  open(options?: OpenOptions): Promise<Page>;
  /** What no page may do: errors in the console or nowhere caught. */
  problems: string[];
  close(): Promise<void>;
}

export interface OpenOptions extends Pick<BrowserContextOptions, 'viewport' | 'deviceScaleFactor' | 'isMobile'> {
  exhibit?: string;
  /** Left out: as the system. */
  theme?: 'light' | 'dark';
  direction?: 'ltr' | 'rtl';
}

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** By path, what Vite makes of the gallery. */
async function builtFiles(): Promise<Map<string, string | Uint8Array>> {
  const result = await build({
    configFile: 'packages/react/gallery/vite.config.ts',
    logLevel: 'warn',
    build: { write: false },
  });
  if (!('output' in result)) throw new Error('the gallery is one build');
  return new Map(result.output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : file.source]));
}

export async function openGallery(): Promise<Gallery> {
  const files = await builtFiles();
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://gallery').pathname.replace(/\/$/, '/index.html');
    const body = files.get(path);
    if (body === undefined) response.writeHead(404).end();
    else response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server always has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const browser = await sharedChromium();
  const problems: string[] = [];
  return {
    problems,
    async open({ exhibit = '', theme, direction = 'ltr', ...options } = {}) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, ...options });
      page.setDefaultTimeout(90_000);
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
      await page.goto(`http://localhost:${port}/?theme=${theme ?? ''}&dir=${direction}#${encodeURIComponent(exhibit)}`);
      await page.locator('#root > *').waitFor();
      return page;
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
