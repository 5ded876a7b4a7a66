import { accessSync, constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { oncePerWorker } from '../apps/server/testkit/kit/worker-life.ts';

/** Where a Chromium may be; `CHROMIUM_PATH` wins. First the one without windows: a page takes it a third of the CPU. */
const CANDIDATES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** Path of an installed Chromium, or undefined: tests then skip with `NO_CHROMIUM`. */
export function findChromium(): string | undefined {
  const wanted = process.env['CHROMIUM_PATH'];
  return (wanted ? [wanted] : CANDIDATES).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const NO_CHROMIUM = 'no Chromium found (set CHROMIUM_PATH): browser tests are skipped';

/** `test('…', { skip: skipWithoutBrowser() }, …)`. Where a browser is required (CI), its absence is a failure. */
export function skipWithoutBrowser(): string | false {
  if (findChromium()) return false;
  if (process.env['PARLEY_TEST_REQUIRE_BROWSER'])
    throw new Error('PARLEY_TEST_REQUIRE_BROWSER is set and no Chromium was found');
  return NO_CHROMIUM;
}

export interface Running {
  browser: Browser;
  stop(): Promise<void>;
}

const bySwitches = new Map<string, () => Promise<Running>>();

/** The Chromium of this test worker with these switches, started when first asked for. Use a context of your own. */
export async function sharedChromium(args: readonly string[] = []): Promise<Browser> {
  const key = args.join(' ');
  const shared = bySwitches.get(key) ?? oncePerWorker(() => startChromium(args));
  bySwitches.set(key, shared);
  return (await shared()).browser;
}

/** For contexts of pages: what turns for ever is drawn sixty times a second, for nobody. */
export const stillPage = { reducedMotion: 'reduce' } as const;

/** Ten pictures a second: half of what it gives by itself, as encoding them is most of what a test call costs. */
const fakeCamera = '--use-fake-device-for-media-stream=fps=10';
/** For tests that judge the rate of pictures. A later switch wins. */
export const fullRateCamera = '--use-fake-device-for-media-stream=fps=20';

/** Headless, with a fake camera and microphone and no background traffic. */
export async function startChromium(args: readonly string[], executablePath = findChromium()): Promise<Running> {
  if (!executablePath) throw new Error(NO_CHROMIUM);
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--use-fake-ui-for-media-stream',
      fakeCamera,
      '--autoplay-policy=no-user-gesture-required',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      ...args,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
  return { browser, stop: () => browser.close() };
}

/** A site of blank pages on a local origin (`http://localhost`, where media devices are allowed), with its own storage. */
export interface Site {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

export interface SiteOptions {
  /**
   * Modules that pages may `import()` by name: the name and the URL of its entry file. TypeScript is served without its
   * types; relative imports are found beside the entry.
   */
  modules?: Record<string, URL>;
  /** Further command-line switches of the browser. */
  args?: readonly string[];
}

export async function openSite({ modules = {}, args = [] }: SiteOptions = {}): Promise<Site> {
  const context = await (await sharedChromium(args)).newContext();
  const server = createServer(async (request, response) => {
    const file = await siteFile(modules, request.url ?? '/');
    if (file) response.setHeader('content-type', file.contentType).end(file.body);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server always has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return {
    async newPage() {
      const page = await context.newPage();
      await page.goto(`http://localhost:${port}/`);
      return page;
    },
    async close() {
      await context.close();
      server.close();
      // A socket that the browser opened ahead, and has not used, would keep it open for minutes.
      server.closeAllConnections();
    },
  };
}

/** What the site has at a path. */
export async function siteFile(
  modules: Record<string, URL>,
  path: string,
): Promise<{ contentType: string; body: string } | undefined> {
  if (path === '/') return { contentType: 'text/html', body: pageFor(modules) };
  const body = await moduleSource(modules, path);
  return body === undefined ? undefined : { contentType: 'text/javascript', body };
}

/** Each module has a folder of its own on the site, named by its place in `modules`. */
function pageFor(modules: Record<string, URL>): string {
  const imports = Object.fromEntries(
    Object.entries(modules).map(([name, url], index) => [name, `/${index}/${url.pathname.split('/').at(-1)}`]),
  );
  return `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
}

async function moduleSource(modules: Record<string, URL>, path: string): Promise<string | undefined> {
  const [, index = '', file = ''] = /^\/(\d+)\/([\w./-]+\.(?:ts|js))$/.exec(path) ?? [];
  const entry = Object.values(modules)[Number(index)];
  if (!file || !entry) return undefined;
  const source = await readFile(new URL(file, entry), 'utf8').catch(() => undefined);
  return file.endsWith('.ts') && source !== undefined ? stripTypeScriptTypes(source) : source;
}
