/**
 * A call between Chromium and Debian's Firefox over two media processes of a node, both with camera and microphone: each
 * sees and hears the other across the pipe: `node tools/proof/two-browsers.ts`. Needs firefox-esr.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createApi } from '@parley/server';
import { startService } from '../../apps/server/testkit/kit/service.ts';
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { startTestNode } from '../../apps/sfu/testkit/node.ts';
import { type Site, type SiteOptions, siteFile } from '../../e2e/browser.ts';
import { type CallPage, openPages } from '../../e2e/sdk/kit.ts';
import { openFirefox, ownAddress, portOf } from './firefox-context.ts';

/** Pages of Firefox, from a server of their own. */
async function openFirefoxSite({ modules = {} }: SiteOptions): Promise<Site> {
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

const service = await startService();
const [secret = ''] = service.config.sfuSecrets;
const node = await startTestNode(
  {
    CONTROL_URL: service.url,
    SFU_REGISTRATION_SECRET: secret,
    SFU_ANNOUNCED_HOST: ownAddress,
    SFU_PROCESSES: '2',
    // Those who join take turns.
    SFU_ROOM_SPREAD_PERCENT: '0',
  },
  true,
);
const { apiKey } = await service.newProject();
const api = createApi({ baseUrl: service.url, credential: apiKey });
const chromiumPages = await openPages(service.url, api, {});
const firefoxPages = await openPages(service.url, api, { openSite: openFirefoxSite });
const room = await chromiumPages.newRoom();
const calls: CallPage[] = [await chromiumPages.caller(room, 'chromium'), await firefoxPages.caller(room, 'firefox')];
for (const call of calls) {
  await call.join();
  await call.setMicrophone(true);
  await call.setCamera(true);
}
const [ada, bob] = calls as [CallPage, CallPage];
await bob.watches('chromium');
await ada.watches('firefox');
const shown = await bob.page.evaluate(() => window.caller.times);
console.log(
  `Chromium and Firefox, a media process each, see one another; Firefox had its first picture ${Math.round((shown['firstFrame'] ?? Number.NaN) - (shown['join'] ?? 0))} ms after joining`,
);
await firefoxPages.close();
await chromiumPages.close();
await node.stop();
await service.stop();
await stopShared();
process.exit(0);
