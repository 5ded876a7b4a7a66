/**
 * How Chromium's pictures and rates follow a path that narrows and widens, with transport-wide feedback and with REMB
 * alone, one after the other on the same machine: `node tools/proof/bandwidth.ts [rounds]`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExtensionName } from '@parley/media-description';
import { type Caller, SIMULCAST, startCall } from '../../apps/sfu/testkit/call.ts';
import { takeGaps, watchFrames } from '../../apps/sfu/testkit/frame-gaps.ts';
import { freeUdpPort } from '../../apps/sfu/testkit/node.ts';
import { startUdpProxy } from '../../e2e/udp-proxy.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const WANTED_BPS = 1_500_000;
const DOWN_CAP_BPS = 400_000;
const UP_CAP_BPS = 500_000;
const FREEZE_MS_MAX = 1000;

interface Row {
  feedback: string;
  what: string;
  value: string;
  isGood: boolean;
}

const rows: Row[] = [];
async function measure(feedback: string, lacks: ExtensionName[]): Promise<void> {
  const tell = (what: string, value: string, isGood = true) => rows.push({ feedback, what, value, isGood });
  const port = await freeUdpPort();
  const proxy = await startUdpProxy(port);
  const call = await startCall({ SFU_UDP_PORT: String(port), SFU_ANNOUNCED_UDP_PORT: String(proxy.port) });
  const alice = await call.join('alice', undefined, { lacks });
  const bob = await call.join('bob', undefined, { lacks });
  const started = performance.now();
  await alice.page.evaluate((encodings) => window.client.publish('video', encodings), SIMULCAST);
  const rose = await msUntil(async () => (await available(alice)) >= WANTED_BPS, started);
  await alice.page.evaluate(() => window.client.publish('audio'));
  tell('publisher: 1.5 Mbit/s on a clean path, from publishing on', ms(rose), rose !== undefined);
  await msUntil(() => layerOf(bob) === 2);
  await sleep(10_000);
  const settled = await available(alice);
  tell('publisher: after ten seconds more', mbps(settled), settled >= WANTED_BPS);

  await watchFrames(bob);
  for (let round = 1; round <= ROUNDS; round += 1) {
    await takeGaps(bob);
    proxy.down.bitsPerSecond = DOWN_CAP_BPS;
    const fell = await msUntil(() => (layerOf(bob) ?? 2) < 2);
    await sleep(10_000);
    const down = await takeGaps(bob);
    proxy.down.bitsPerSecond = 0;
    const climbed = await msUntil(() => layerOf(bob) === 2);
    await sleep(3000);
    const up = await takeGaps(bob);
    tell(`subscriber, round ${round}: lower layer`, ms(fell), fell !== undefined);
    tell(`subscriber, round ${round}: pictures missing at the cap`, gaps(down), (down[0] ?? 0) <= FREEZE_MS_MAX);
    tell(`subscriber, round ${round}: best layer again`, ms(climbed), climbed !== undefined);
    tell(`subscriber, round ${round}: pictures missing on the way up`, gaps(up), (up[0] ?? 0) <= FREEZE_MS_MAX);
  }

  proxy.up.bitsPerSecond = UP_CAP_BPS;
  const slowed = await msUntil(async () => (await available(alice)) < UP_CAP_BPS * 1.2);
  await sleep(8000);
  const narrow = await available(alice);
  proxy.up.bitsPerSecond = 0;
  const recovered = await msUntil(async () => (await available(alice)) >= WANTED_BPS);
  tell('publisher: slowed down at 0.5 Mbit/s', ms(slowed), slowed !== undefined);
  tell('publisher: eight seconds later', mbps(narrow), narrow < UP_CAP_BPS * 1.2);
  tell('publisher: 1.5 Mbit/s again', ms(recovered), recovered !== undefined);
  await call.close();
  proxy.close();
}

async function msUntil(
  check: () => boolean | Promise<boolean>,
  started = performance.now(),
): Promise<number | undefined> {
  while (performance.now() - started < 60_000) {
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

for (const [feedback, lacks] of [
  ['transport-wide', []],
  ['REMB', ['transportCc']],
] as const)
  await measure(feedback, [...lacks]);
console.table(rows.map(({ isGood, ...row }) => ({ ...row, '': isGood ? '' : 'SHORT' })));
process.exit(rows.every(({ isGood }) => isGood) ? 0 : 1);
