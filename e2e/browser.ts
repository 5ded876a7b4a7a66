import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

/** Where a Chromium may be; `CHROMIUM_PATH` wins. */
const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

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

export const NO_CHROMIUM = 'no Chromium found (set CHROMIUM_PATH): browser tests are skipped';

/** `test('…', { skip: skipWithoutBrowser() }, …)`. Where a browser is required (CI), its absence is a failure. */
export function skipWithoutBrowser(): string | false {
  if (findChromium()) return false;
  if (process.env['PARLEY_TEST_REQUIRE_BROWSER'])
    throw new Error('PARLEY_TEST_REQUIRE_BROWSER is set and no Chromium was found');
  return NO_CHROMIUM;
}

export interface Browser {
  /** A page of its own profile share, on a local origin: `http://localhost`, where media devices are allowed. */
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

export interface LaunchOptions {
  /**
   * Modules that pages may `import()` by name: the name and the URL of its entry file. TypeScript is served without its
   * types; relative imports are found beside the entry.
   */
  modules?: Record<string, URL>;
  /** Further command-line switches. */
  args?: string[];
}

/** Headless, with a fake camera and microphone and no background traffic. */
function switches(args: readonly string[]) {
  const executablePath = findChromium();
  if (!executablePath) throw new Error(NO_CHROMIUM);
  return {
    executablePath,
    headless: true,
    args: [
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      '--autoplay-policy=no-user-gesture-required',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      ...args,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  };
}

/** Chromium for pages of a running service: every context is a person of their own. */
export const launchForContexts = (args: readonly string[] = []) => chromium.launch(switches(args));

/** Chromium with a fresh profile. */
export async function launch({ modules = {}, args = [] }: LaunchOptions = {}): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'parley-browser-'));
  const context: BrowserContext = await chromium.launchPersistentContext(profile, switches(args));
  const site = createServer(async (request, response) => {
    const source = await moduleSource(modules, request.url ?? '/');
    if (source !== undefined) response.setHeader('content-type', 'text/javascript').end(source);
    else if (request.url === '/') response.setHeader('content-type', 'text/html').end(pageFor(modules));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  // A listening TCP server always has an AddressInfo.
  const { port } = site.address() as AddressInfo;
  return {
    async newPage() {
      const page = await context.newPage();
      await page.goto(`http://localhost:${port}/`);
      return page;
    },
    async close() {
      await context.close();
      site.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
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
