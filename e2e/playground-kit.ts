import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type ServerProcess, startProcess } from '../apps/server/testkit/kit/process.ts';
import { freeUdpPort } from '../apps/sfu/testkit/node.ts';
import { launchForContexts } from './browser.ts';

/** A real `npm start` with its media node, and a browser to visit it with. */
export interface Playground {
  server: ServerProcess;
  /** The address as a person has it: `localhost`, where devices are allowed. */
  url: string;
  browser: Browser;
  newContext(options?: { isDark?: boolean }): Promise<BrowserContext>;
  newPage(context?: BrowserContext): Promise<Page>;
  /** What no page may do: errors in the console, unhandled rejections, requests to elsewhere. */
  problems: string[];
  stop(): Promise<void>;
}

export async function startPlayground(switches: readonly string[] = []): Promise<Playground> {
  await buildPages();
  const server = await startProcess({ SFU_EMBEDDED: 'true', SFU_UDP_PORT: String(await freeUdpPort()) });
  const browser = await launchForContexts(switches);
  const url = `http://localhost:${server.port}`;
  const problems: string[] = [];

  const newContext = (options: { isDark?: boolean } = {}): Promise<BrowserContext> =>
    browser.newContext({ colorScheme: options.isDark ? 'dark' : 'light', viewport: { width: 1280, height: 800 } });

  return {
    server,
    url,
    browser,
    newContext,
    problems,
    async newPage(context) {
      const page = await (context ?? (await newContext())).newPage();
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => {
        // A stay that the server ended takes its token with it: what the SDK still has to tell is refused, as it should.
        const isLateTelemetry =
          message.location().url.endsWith('/v1/telemetry/events') && message.text().includes('401');
        if (message.type() === 'error' && !isLateTelemetry)
          problems.push(`${message.text()} ${message.location().url}`);
      });
      page.on('request', (request) => {
        const { host, protocol } = new URL(request.url());
        if (protocol.startsWith('http') && host !== new URL(url).host) problems.push(`asked ${request.url()}`);
      });
      return page;
    },
    async stop() {
      await browser.close();
      await server.kill('SIGTERM');
      await rm(server.dataDir, { recursive: true, force: true });
    },
  };
}

/** What `npm install` does; nothing where it was done. */
async function buildPages(): Promise<void> {
  for (const name of ['dashboard', 'playground']) {
    const script = fileURLToPath(new URL(`../apps/${name}/build.ts`, import.meta.url));
    await promisify(execFile)(process.execPath, [script]);
  }
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
    const video = document.querySelector<HTMLVideoElement>(`.tile[data-identity^="${prefix}"] video`);
    return video?.getVideoPlaybackQuality().totalVideoFrames ?? 0;
  }, identityPrefix);
