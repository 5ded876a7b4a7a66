/**
 * Layers of one stream in Chromium: VP9 in three spatial layers and AV1 in two, to one subscriber that wants the lowest
 * and one that wants the highest. Not in the suite: three layers need 0.5 Mbit/s and AV1 a good part of a core.
 *
 *     node tools/proof/svc.ts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Caller, startCall } from '../../apps/sfu/testkit/call.ts';

const CASES = [
  { codec: 'VP9', scalabilityMode: 'L3T3_KEY', scaleResolutionDownBy: 4 / 3, widths: [240, 960] },
  { codec: 'VP9', scalabilityMode: 'L3T3', scaleResolutionDownBy: 4 / 3, widths: [240, 960] },
  { codec: 'AV1', scalabilityMode: 'L2T3_KEY', scaleResolutionDownBy: 8 / 3, widths: [240, 480] },
  { codec: 'AV1', scalabilityMode: 'L2T3', scaleResolutionDownBy: 8 / 3, widths: [240, 480] },
] as const;
const SECONDS_MAX = 60;

type Case = (typeof CASES)[number];

async function show(alice: Caller, watching: readonly Caller[], one: Case): Promise<boolean> {
  const { codec, scalabilityMode, scaleResolutionDownBy, widths } = one;
  const trackId = await alice.page.evaluate(
    ([name, encoding]) => window.client.publish('video', [encoding as RTCRtpEncodingParameters], name),
    [codec, { scalabilityMode, scaleResolutionDownBy, maxBitrate: 1_000_000 }] as const,
  );
  await watching[0]?.command('track.settings', { updates: [{ trackId, maxLayer: 0 }] });
  await watching[1]?.command('track.settings', { updates: [{ trackId, maxLayer: 3 }] });
  const seen = async () =>
    Promise.all(watching.map(({ page }) => page.evaluate((id) => window.client.widthOf(id), trackId)));
  const started = Date.now();
  let found: number[] = [];
  while (Date.now() - started < SECONDS_MAX * 1000) {
    found = await seen();
    if (found.join() === widths.join()) break;
    await sleep(250);
  }
  const isGood = found.join() === widths.join();
  console.log(
    `${isGood ? 'ok  ' : 'FAIL'} ${codec} ${scalabilityMode}: widths ${found.join(' and ')} after ${((Date.now() - started) / 1000).toFixed(1)} s`,
  );
  const frames = async () =>
    Promise.all(watching.map(async (caller) => (await caller.inbound('video'))['framesDecoded'] ?? 0));
  const before = await frames();
  await sleep(2000);
  const moved = (await frames()).map((count, at) => count - (before[at] ?? 0));
  console.log(`     frames decoded in two seconds: ${moved.join(' and ')}`);
  await alice.page.evaluate((id) => window.client.unpublish(id), trackId);
  return isGood;
}

const call = await startCall();
const [alice, bob, carol] = await Promise.all(['alice', 'bob', 'carol'].map((id) => call.join(id)));
let isGood = true;
if (alice && bob && carol) for (const one of CASES) isGood = (await show(alice, [bob, carol], one)) && isGood;
await call.close();
process.exit(isGood ? 0 : 1);
