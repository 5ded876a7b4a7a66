/**
 * A call between Chromium and Debian's Firefox over two media processes of a node, both with camera and microphone: each
 * sees and hears the other across the pipe: `node tools/proof/two-browsers.ts`. Needs firefox-esr.
 */
import assert from 'node:assert/strict';
import { createApi } from '@parley/server';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { startService } from '../../apps/server/testkit/kit/service.ts';
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { startTestNode } from '../../apps/sfu/testkit/node.ts';
import { type CallPage, openPages } from '../../e2e/sdk/kit.ts';
import { openFirefoxSite, ownAddress } from './firefox-context.ts';

const SOUND_MS_MAX = 20_000;

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
for (const [one, other] of [
  [bob, 'chromium'],
  [ada, 'firefox'],
] as const) {
  await one.watches(other);
  const heard = async (): Promise<void> =>
    assert.ok((await one.view(other)).audioEnergy > 0, `${one.identity} does not hear ${other}`);
  await eventually(heard, { withinMs: SOUND_MS_MAX });
}
const shown = await bob.page.evaluate(() => window.caller.times);
console.log(
  `Chromium and Firefox, a media process each, see and hear one another; Firefox had its first picture ${Math.round((shown['firstFrame'] ?? Number.NaN) - (shown['join'] ?? 0))} ms after joining`,
);
await firefoxPages.close();
await chromiumPages.close();
await node.stop();
await service.stop();
await stopShared();
process.exit(0);
