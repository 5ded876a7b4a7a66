import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { skipWithoutBrowser } from '../../../e2e/browser.ts';
import { startUdpProxy, type UdpProxy } from '../../../e2e/udp-proxy.ts';
import { mediaMs } from '../../server/testkit/kit/eventually.ts';
import { ownPort } from '../../server/testkit/kit/ports.ts';
import { type Caller, type CallKit, SIMULCAST, startCall } from '../testkit/call.ts';
import { takeGaps, watchFrames } from '../testkit/frame-gaps.ts';
import { eventually } from '../testkit/node.ts';

// Narrow paths before losses, from which the publisher's estimate recovers slowly. Longer runs: tools/proof/bandwidth.ts.
const skip = skipWithoutBrowser();
let proxy: UdpProxy;
let call: CallKit;
let alice: Caller;
let bob: Caller;

before(async () => {
  if (skip) return;
  const port = await ownPort();
  proxy = await startUdpProxy(port);
  call = await startCall({ SFU_UDP_PORT: String(port), SFU_ANNOUNCED_UDP_PORT: String(proxy.port) });
  alice = await call.join('alice');
  bob = await call.join('bob');
  await alice.page.evaluate((encodings) => window.client.publish('video', encodings), SIMULCAST);
  await alice.page.evaluate(() => window.client.publish('audio'));
  await eventually(
    async () => ((await bob.inbound('video'))['framesDecoded'] ?? 0) > 30,
    'no picture on a clean path',
    mediaMs,
  );
});
after(async () => {
  if (skip) return;
  await call.close();
  proxy.close();
});

const layerOf = () => {
  const frame = bob.events.findLast(({ type }) => type === 'stream.state');
  return frame?.type === 'stream.state' ? frame.data.layer : null;
};
const field = async (name: string) => (await bob.inbound('video'))[name] ?? 0;

/** The best layer that alice sends, once bob sees it, and no worse one. A busy publisher may leave out the last of three. */
async function bestShown(): Promise<{ layer: number; width: number } | null> {
  const reports = await alice.page.evaluate(() => window.client.outbound());
  const sent = reports
    .filter((report) => Number(report['framesPerSecond'] ?? 0) > 0)
    .map((report) => ({
      layer: SIMULCAST.findIndex(({ rid }) => rid === report['rid']),
      width: Number(report['frameWidth']),
    }));
  const best = sent.toSorted((a, b) => b.layer - a.layer)[0];
  const shown = { layer: layerOf(), width: await field('frameWidth') };
  lastLook = JSON.stringify({ sent, shown });
  if (!best || best.layer === 0) return null;
  return shown.layer === best.layer && shown.width === best.width ? best : null;
}
/** What `bestShown` has met, for the failure. */
let lastLook = '';

/** Share of the time that the picture stood still while `frames` were shown. */
async function frozenShare(frames: number): Promise<number> {
  const [shown, frozen] = [await field('framesDecoded'), await field('totalFreezesDuration')];
  const started = performance.now();
  await eventually(async () => (await field('framesDecoded')) > shown + frames, 'the picture stopped', 60_000);
  return ((await field('totalFreezesDuration')) - frozen) / ((performance.now() - started) / 1000);
}

test('[MED-37] the layer follows a narrow path down, and up again when it is wide', {
  skip,
  timeout: 240_000,
}, async (context) => {
  const { layer: best, width } = await eventually(
    bestShown,
    'the best layer did not come on a clean path',
    60_000,
  ).catch((cause) => Promise.reject(new Error(lastLook, { cause })));
  await watchFrames(bob);
  proxy.down.bitsPerSecond = 400_000;
  await eventually(() => (layerOf() ?? 0) < best, 'the layer did not go down', 30_000);
  await eventually(async () => (await field('frameWidth')) < width, 'the picture did not shrink', mediaMs);
  const down = await takeGaps(bob);
  proxy.down.bitsPerSecond = 0;
  await eventually(() => (layerOf() ?? 0) >= best, 'the layer did not come back', 60_000);
  const up = await takeGaps(bob);
  // A busy machine freezes pictures too, so this is reported and not asserted.
  context.diagnostic(
    `longest without a picture: ${Math.round(down[0] ?? 0)} ms at the cap, ${Math.round(up[0] ?? 0)} ms on the way up`,
  );
});

test('[MED-39] a publisher follows its own narrow path, and uses a wide one again', {
  skip,
  timeout: 150_000,
}, async () => {
  const available = async () => {
    const pair = await alice.page.evaluate(() => window.client.pair('pub'));
    return Number(pair?.['availableOutgoingBitrate'] ?? 0);
  };
  const shown = await field('framesDecoded');
  proxy.up.bitsPerSecond = 500_000;
  await eventually(async () => (await available()) < 600_000, 'the publisher was not slowed down', 40_000);
  await eventually(async () => (await field('framesDecoded')) > shown + 40, 'the picture stopped', 40_000);
  proxy.up.bitsPerSecond = 0;
  await eventually(async () => (await available()) >= 1_500_000, 'the publisher did not recover', 60_000);
});

test('[MED-36] with 5 % of the packets lost each way the picture goes on', {
  skip,
  timeout: 180_000,
}, async (context) => {
  // A busy machine freezes pictures too: only what the losses add counts, and only if they add it every time.
  const anyway = await frozenShare(40);
  proxy.up.loss = 0.05;
  proxy.down.loss = 0.05;
  let withLoss = await frozenShare(100);
  for (let round = 1; round < 4 && withLoss >= anyway + 0.25; round++) withLoss = await frozenShare(100);
  proxy.up.loss = 0;
  proxy.down.loss = 0;
  context.diagnostic(`${withLoss.toFixed(3)} of the time frozen, ${anyway.toFixed(3)} without loss`);
  assert.ok((await field('retransmittedPacketsReceived')) > 0, 'nothing was repeated');
  assert.ok(
    withLoss < anyway + 0.25,
    `frozen for ${withLoss.toFixed(3)} of the time, ${anyway.toFixed(3)} without loss`,
  );
});

test('[MED-119] Chromium repeats each layer by an RTX stream of its own', { skip, timeout: 120_000 }, async () => {
  const counted = async (series: string): Promise<number> => {
    const text = await (await fetch(`${call.node.node.internalUrl}/metrics`)).text();
    return Number(new RegExp(`^parley_media_${series}\\S* (\\d+)$`, 'm').exec(text)?.[1]);
  };
  const videos = async () =>
    (await alice.page.evaluate(() => window.client.outbound())).filter((report) => report['kind'] === 'video');
  const repeated = async () =>
    (await videos()).reduce((sum, report) => sum + Number(report['retransmittedPacketsSent'] ?? 0), 0);
  const before = [await repeated(), await counted('rtx_packets_total')] as const;
  const shown = await field('framesDecoded');
  proxy.up.loss = 0.05;
  await eventually(async () => (await repeated()) > before[0] + 20, 'nothing was repeated', 60_000);
  await eventually(async () => (await counted('rtx_packets_total')) > before[1] + 20, 'not by RTX', 60_000);
  proxy.up.loss = 0;
  await eventually(async () => (await field('framesDecoded')) > shown + 30, 'the picture stopped', 60_000);
  const streams = (await videos()).filter((report) => Number(report['packetsSent'] ?? 0) > 0);
  const ssrcs = streams.flatMap(({ ssrc, rtxSsrc }) => [ssrc, rtxSsrc]);
  assert.ok(streams.length > 0 && new Set(ssrcs).size === 2 * streams.length && !ssrcs.includes(undefined), `${ssrcs}`);
});
