import { rm } from 'node:fs/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { type ServerProcess, startProcess } from '../apps/server/testkit/kit/process.ts';
import { oncePerWorker } from '../apps/server/testkit/kit/worker-life.ts';
import { sharedChromium, stillPage } from './browser.ts';
import { embeddedNode } from './node-process.ts';
import { buildPages } from './page-builds.ts';

/** A real `npm start` with its media node. */
interface DevServer extends ServerProcess {
  /** How long it took until it was ready. */
  readyMs: number;
  stop(): Promise<void>;
}

/** The one that the tests of this worker share. */
export const sharedDevServer: () => Promise<DevServer> = oncePerWorker(async () => {
  buildPages();
  const startedAt = performance.now();
  const server = await startProcess(await embeddedNode());
  return {
    ...server,
    readyMs: performance.now() - startedAt,
    async stop() {
      await server.kill('SIGTERM');
      await rm(server.dataDir, { recursive: true, force: true });
    },
  };
});

/** The shared server, and a browser to visit it with. */
export interface Playground {
  server: DevServer;
  /** The address as a person has it: `localhost`, where devices are allowed. */
  url: string;
  newContext(options?: { isDark?: boolean }): Promise<BrowserContext>;
  newPage(context?: BrowserContext): Promise<Page>;
  /** The next test to ask for a page gets this one, with nothing of what was done in it: a new context costs three times as much. */
  leave(page: Page): Promise<void>;
  /** What no page may do: errors in the console, unhandled rejections, requests to elsewhere. */
  problems: string[];
  close(): Promise<void>;
}

const windowSize = { width: 1280, height: 800 };

export async function openPlayground(switches: readonly string[] = []): Promise<Playground> {
  const [server, browser] = await Promise.all([sharedDevServer(), sharedChromium(switches)]);
  const url = `http://localhost:${server.port}`;
  const problems: string[] = [];
  const contexts: BrowserContext[] = [];
  const free: Page[] = [];

  const newContext: Playground['newContext'] = async ({ isDark = false } = {}) => {
    const colorScheme = isDark ? 'dark' : 'light';
    const context = await browser.newContext({ colorScheme, viewport: windowSize, ...stillPage });
    contexts.push(context);
    return context;
  };

  return {
    server,
    url,
    newContext,
    problems,
    async newPage(context) {
      const known = context ? undefined : free.pop();
      if (known) return known;
      const page = await (context ?? (await newContext())).newPage();
      watch(page, url, problems);
      return page;
    },
    async leave(page) {
      // Of the same origin: an empty page would be another renderer's.
      await page.goto(`${url}/healthz`);
      await page.context().clearCookies();
      await page.evaluate(() => {
        localStorage.clear();
        sessionStorage.clear();
      });
      await page.setViewportSize(windowSize);
      await page.emulateMedia({ colorScheme: 'light' });
      free.push(page);
    },
    async close() {
      for (const context of contexts) await context.close();
    },
  };
}

function watch(page: Page, url: string, problems: string[]): void {
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    // When the server ended a stay, its token went with it: what the SDK still has to report is refused, as it should.
    const isLateTelemetry = message.location().url.endsWith('/v1/telemetry/events') && message.text().includes('401');
    if (message.type() === 'error' && !isLateTelemetry) problems.push(`${message.text()} ${message.location().url}`);
  });
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && host !== new URL(url).host) problems.push(`asked ${request.url()}`);
  });
}

/** The address in the terminal's line, for this page's origin. */
export function printedLink({ server, url }: Playground): string {
  const link = /https?:\S+(\/dev\/login\?code=\S+)/.exec(server.output())?.[1];
  if (!link) throw new Error(`no link was printed: ${server.output()}`);
  return url + link;
}

/** Frames that this tile's video has shown so far. */
export const framesOf = (page: Page, identityPrefix: string): Promise<number> =>
  page.evaluate((prefix) => {
    const video = document.querySelector<HTMLVideoElement>(`[data-identity^="${prefix}"] video`);
    return video?.getVideoPlaybackQuality().totalVideoFrames ?? 0;
  }, identityPrefix);
