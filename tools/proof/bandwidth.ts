/**
 * How Chromium's pictures and rates follow a path that narrows and widens, with transport-wide feedback and with REMB
 * alone, one after the other on the same machine, and how a picture stands losses: `node tools/proof/bandwidth.ts`. The
 * path takes 50 ms there and back, and its queue 300 ms at most.
 *
 * `… bandwidth.ts held`: instead of that, what Chromium believes to have on a clean path while the event loop of the media
 * process, whose clock the feedback goes by, is held four times a second; about two and a half minutes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExtensionName } from '@parley/media-description';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { type Caller, SIMULCAST, startCall } from '../../apps/sfu/testkit/call.ts';
import { takeGaps, watchFrames } from '../../apps/sfu/testkit/frame-gaps.ts';
import { startUdpProxy, type UdpProxy } from '../../e2e/udp-proxy.ts';

const WANTED_BPS = 1_500_000;
const DOWN_CAPS_BPS = [400_000, 800_000, 250_000];
const DELAY_MS = 25;
const UP_CAP_BPS = 500_000;
const FREEZE_MS_MAX = 1000;
const LOSS = 0.05;
const LOSS_MS = 60_000;
const FROZEN_SHARE_MAX = 0.05;

const HELD_MS = [0, 5, 20, 50, 100];
const HELD_SAMPLES = 50;
const HELD_SAMPLE_MS = 200;

interface Row {
  feedback: string;
  what: string;
  value: string;
  isGood: boolean;
}

const rows: Row[] = [];
interface Stage {
  proxy: UdpProxy;
  alice: Caller;
  bob: Caller;
  report(what: string, value: string, isGood?: boolean): void;
}

async function startBehindProxy() {
  const port = await ownPort();
  const proxy = await startUdpProxy(port);
  for (const path of [proxy.up, proxy.down]) path.delayMs = DELAY_MS;
  const call = await startCall({ SFU_UDP_PORT: String(port), SFU_ANNOUNCED_UDP_PORT: String(proxy.port) });
  return { proxy, call };
}

async function measure(feedback: string, lacks: ExtensionName[]): Promise<void> {
  const { proxy, call } = await startBehindProxy();
  const alice = await call.join('alice', undefined, { lacks });
  const bob = await call.join('bob', undefined, { lacks });
  const report: Stage['report'] = (what, value, isGood = true) => rows.push({ feedback, what, value, isGood });
  const stage = { proxy, alice, bob, report };
  await publish(stage);
  await watchFrames(bob);
  for (const cap of DOWN_CAPS_BPS) await narrowDown(stage, cap);
  await narrowUp(stage);
  await losePackets(stage);
  await call.close();
  proxy.close();
}

async function publish({ alice, bob, report }: Stage): Promise<void> {
  const started = performance.now();
  await alice.page.evaluate((encodings) => window.client.publish('video', encodings), SIMULCAST);
  const rose = await msUntil(async () => (await available(alice)) >= WANTED_BPS, started);
  report('publisher: 1.5 Mbit/s on a clean path, from publishing on', ms(rose), rose !== undefined);
  await alice.page.evaluate(() => window.client.publish('audio'));
  await msUntil(() => layerOf(bob) === 2);
  await sleep(10_000);
  const settled = await available(alice);
  report('publisher: after ten seconds more', mbps(settled), settled >= WANTED_BPS);
}

/** The path to the subscriber becomes narrow for ten seconds. */
async function narrowDown({ proxy, bob, report }: Stage, cap: number): Promise<void> {
  await msUntil(() => layerOf(bob) === 2);
  await takeGaps(bob);
  proxy.down.bitsPerSecond = cap;
  const fell = await msUntil(() => (layerOf(bob) ?? 2) < 2);
  await sleep(10_000);
  const down = await takeGaps(bob);
  proxy.down.bitsPerSecond = 0;
  const climbed = await msUntil(() => layerOf(bob) === 2);
  await sleep(3000);
  const up = await takeGaps(bob);
  const name = `subscriber, ${mbps(cap)}`;
  report(`${name}: lower layer`, ms(fell), fell !== undefined);
  report(`${name}: without a picture at the cap`, gaps(down), (down[0] ?? 0) <= FREEZE_MS_MAX);
  report(`${name}: best layer again`, ms(climbed), climbed !== undefined);
  report(`${name}: without a picture on the way up`, gaps(up), (up[0] ?? 0) <= FREEZE_MS_MAX);
}

/** The path from the publisher becomes narrow. */
async function narrowUp({ proxy, alice, report }: Stage): Promise<void> {
  proxy.up.bitsPerSecond = UP_CAP_BPS;
  const slowed = await msUntil(async () => (await available(alice)) < UP_CAP_BPS * 1.2);
  await sleep(8000);
  const narrow = await available(alice);
  proxy.up.bitsPerSecond = 0;
  const recovered = await msUntil(async () => (await available(alice)) >= WANTED_BPS);
  report(`publisher, ${mbps(UP_CAP_BPS)}: slowed down`, ms(slowed), slowed !== undefined);
  report(`publisher, ${mbps(UP_CAP_BPS)}: eight seconds later`, mbps(narrow), narrow < UP_CAP_BPS * 1.2);
  report('publisher: 1.5 Mbit/s again', ms(recovered), recovered !== undefined);
}

/** A share of the packets is lost each way for a minute. */
async function losePackets({ proxy, bob, report }: Stage): Promise<void> {
  const frozenSeconds = async () => (await bob.inbound('video'))['totalFreezesDuration'] ?? 0;
  const before = await frozenSeconds();
  for (const path of [proxy.up, proxy.down]) path.loss = LOSS;
  await sleep(LOSS_MS);
  const share = ((await frozenSeconds()) - before) / (LOSS_MS / 1000);
  for (const path of [proxy.up, proxy.down]) path.loss = 0;
  report(
    `${LOSS * 100} % lost each way: frozen`,
    `${(share * 100).toFixed(1)} % of a minute`,
    share < FROZEN_SHARE_MAX,
  );
}

/** Feedback by a loop that is late: the media process is started with a switch that only this proof has. */
async function measureHeld(heldMs: number) {
  const preload = new URL('../../apps/sfu/testkit/held-loop.ts', import.meta.url);
  Object.assign(process.env, { NODE_OPTIONS: `--import=${preload}`, HELD_LOOP_MS: String(heldMs) });
  const { proxy, call } = await startBehindProxy();
  for (const name of ['NODE_OPTIONS', 'HELD_LOOP_MS']) delete process.env[name];
  const alice = await call.join('alice');
  const bob = await call.join('bob');
  const started = performance.now();
  await alice.page.evaluate((encodings) => window.client.publish('video', encodings), SIMULCAST);
  const rose = await msUntil(async () => (await available(alice)) >= WANTED_BPS, started, 15_000);
  const samples: number[] = [];
  for (let index = 0; index < HELD_SAMPLES; index += 1) {
    await sleep(HELD_SAMPLE_MS);
    samples.push(await available(alice));
  }
  const delaySeconds = await eventLoopDelay(call.node.node.internalUrl);
  const layer = layerOf(bob);
  await call.close();
  proxy.close();
  samples.sort((a, b) => a - b);
  return {
    'held, four times a second': `${heldMs} ms`,
    'p99 of the loop’s delay': `${Math.round(delaySeconds * 1000)} ms`,
    '1.5 Mbit/s available after': rose === undefined ? 'never in 15 s' : ms(rose),
    'then, for ten seconds, at least': mbps(samples[0] ?? 0),
    median: mbps(samples[HELD_SAMPLES / 2] ?? 0),
    'at most': mbps(samples.at(-1) ?? 0),
    'layer of the subscriber': layer,
  };
}

/** As the media process says itself: that it was held is seen here. */
async function eventLoopDelay(url: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return Number(/^parley_media_event_loop_delay_p99_seconds\S* (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
}

async function msUntil(
  check: () => boolean | Promise<boolean>,
  started = performance.now(),
  withinMs = 60_000,
): Promise<number | undefined> {
  while (performance.now() - started < withinMs) {
    if (await check()) return performance.now() - started;
    await sleep(20);
  }
  return undefined;
}

async function available({ page }: Caller): Promise<number> {
  const pair = await page.evaluate(() => window.client.pair('pub'));
  return Number(pair?.['availableOutgoingBitrate'] ?? 0);
}

function layerOf({ events }: Caller): number | null {
  const frame = events.findLast(({ type }) => type === 'stream.state');
  return frame?.type === 'stream.state' ? frame.data.layer : null;
}

const ms = (value: number | undefined) => (value === undefined ? 'never in 60 s' : `${Math.round(value)} ms`);
const mbps = (value: number) => `${(value / 1_000_000).toFixed(2)} Mbit/s`;
const gaps = (values: readonly number[]) =>
  values.length === 0 ? 'none over 200 ms' : values.map((gap) => `${Math.round(gap)} ms`).join(', ');

if (process.argv[2] === 'held') {
  const held = [];
  for (const heldMs of HELD_MS) held.push(await measureHeld(heldMs));
  console.table(held);
} else {
  for (const [feedback, lacks] of [
    ['transport-wide', []],
    ['REMB', ['transportCc']],
  ] as const)
    await measure(feedback, [...lacks]);
  console.table(rows.map(({ isGood, ...row }) => ({ ...row, '': isGood ? '' : 'SHORT' })));
}
await stopShared();
process.exit(rows.every(({ isGood }) => isGood) ? 0 : 1);
