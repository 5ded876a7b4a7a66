/**
 * A subscriber's picture on bad networks, as rows for docs/benchmarks/media-quality.md: losses in bursts and a long path,
 * VP8 simulcast and VP9 with layers in one stream, Chromium and Firefox: `node tools/proof/bad-network.ts`. Both people
 * are on the bad path, both ways. Seconds of each row: `… 10`; only the rows whose name contains a text: `… 10 Firefox`.
 * It fails when a row has no picture at all, or when one that MED-36 is about was frozen for too long.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { type Caller, callModules, startCall } from '../../apps/sfu/testkit/call.ts';
import type { Site } from '../../e2e/browser.ts';
import { type Path, startUdpProxy } from '../../e2e/udp-proxy.ts';
import { openFirefoxSite, ownAddress } from './firefox-context.ts';

declare global {
  interface Window {
    /** When each picture was shown, by the clock of the machine. */
    shownAt: number[];
  }
}

const [seconds = '20', wanted = ''] = process.argv.slice(2);
const MEASURED_MS = Number(seconds) * 1000;
/** Of losses in a row, on average. */
const BURST = 3;
/** There and back, beside what is said in the row. */
const DELAY_MS = 25;
const FIRST_PICTURE_MS_MAX = 20_000;
const SAMPLE_MS = 500;
/** The last picture of all stands for longer than this: statistics count a freeze once it is over. */
const STOPPED_MS = 200;
/** Share of the time, of the rows that are judged. */
const FROZEN_MAX = 0.05;

/** TypeScript's own lacks the mode. */
interface Encoding extends RTCRtpEncodingParameters {
  scalabilityMode?: string;
}

/** Half of the size that the camera gives: the machine encodes, forwards and decodes it all. */
const CODECS = {
  'VP8 simulcast': {
    codec: 'VP8',
    encodings: [
      { rid: 'q', scaleResolutionDownBy: 16 / 3, maxBitrate: 150_000 },
      { rid: 'h', scaleResolutionDownBy: 8 / 3, maxBitrate: 500_000 },
      { rid: 'f', scaleResolutionDownBy: 4 / 3, maxBitrate: 1_200_000 },
    ],
  },
  'VP9 SVC': {
    codec: 'VP9',
    encodings: [{ scalabilityMode: 'L3T3_KEY', scaleResolutionDownBy: 4 / 3, maxBitrate: 1_200_000 }],
  },
} satisfies Record<string, { codec: string; encodings: Encoding[] }>;

interface Case {
  path: string;
  conditions: Partial<Path>;
  /** Frozen for less than `FROZEN_MAX` (MED-36). */
  isJudged: boolean;
  codec: keyof typeof CODECS;
  browser: 'Chromium' | 'Firefox';
}

const lossy = (percent: number): [string, Partial<Path>] => [
  `${percent} % lost, ${BURST} in a row`,
  { loss: percent / 100, burst: BURST },
];
const EACH_ALONE = '5 % lost, each alone';
const PATHS: [string, Partial<Path>][] = [
  ['clean', {}],
  [EACH_ALONE, { loss: 0.05 }],
  ...[1, 5, 10, 20].map(lossy),
  ['250 ms there and back', { delayMs: 125 }],
];
const CASES: Case[] = [
  ...PATHS.flatMap(([path, conditions]) =>
    (['VP8 simulcast', 'VP9 SVC'] as const).map(
      (codec): Case => ({ path, conditions, isJudged: path === EACH_ALONE, codec, browser: 'Chromium' }),
    ),
  ),
  { path: lossy(5)[0], conditions: lossy(5)[1], isJudged: false, codec: 'VP8 simulcast', browser: 'Firefox' },
];

/** Notes each picture from the first on; the element comes later. */
const watch = ({ page }: Caller): Promise<void> =>
  page.evaluate(() => {
    window.shownAt = [];
    const waiting = setInterval(() => {
      const video = document.querySelector('video');
      if (!video) return;
      clearInterval(waiting);
      const note = (): void => {
        window.shownAt.push(performance.timeOrigin + performance.now());
        video.requestVideoFrameCallback(note);
      };
      video.requestVideoFrameCallback(note);
    }, 5);
  });

const shown = ({ page }: Caller): Promise<number[]> => page.evaluate(() => window.shownAt);
const now = (): number => performance.timeOrigin + performance.now();

function layerOf({ events }: Caller): string {
  const frame = events.findLast(({ type }) => type === 'stream.state');
  return String((frame?.type === 'stream.state' ? frame.data.layer : null) ?? 'paused');
}

/** The layer that was there most of the time, and how much of it. */
function mostOf(layers: readonly string[]): string {
  const shares = [...new Set(layers)].map((layer) => ({
    layer,
    share: layers.filter((one) => one === layer).length / layers.length,
  }));
  const [best] = shares.sort((a, b) => b.share - a.share);
  return best ? `${best.layer} (${Math.round(best.share * 100)} %)` : '';
}

interface Figures {
  firstMs: number;
  fps: number;
  longestMs: number;
  /** Share of the time, where the browser counts it. */
  frozen: number | undefined;
  bps: number;
  /** Share of the packets, where the browser counts it. */
  repeated: number | undefined;
  layer: string;
}

async function measure(bob: Caller): Promise<Figures | undefined> {
  const until = now() + FIRST_PICTURE_MS_MAX;
  while ((await shown(bob)).length === 0) {
    if (now() > until) return undefined;
    await sleep(50);
  }
  const before = await bob.inbound('video');
  const from = now();
  const layers: string[] = [];
  while (now() - from < MEASURED_MS) {
    layers.push(layerOf(bob));
    await sleep(SAMPLE_MS);
  }
  const after = await bob.inbound('video');
  const to = now();
  const times = await shown(bob);
  const moved = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0);
  // A picture that froze for good counts until the end.
  const inside = [from, ...times.filter((time) => time >= from && time <= to), to];
  const gaps = inside.slice(1).map((time, index) => time - (inside[index] ?? time));
  const stoppedMs = gaps.at(-1) ?? 0;
  return {
    firstMs: (times[0] ?? Number.NaN) - bob.addedAt,
    fps: (inside.length - 2) / ((to - from) / 1000),
    longestMs: Math.max(...gaps),
    frozen:
      after['totalFreezesDuration'] === undefined
        ? undefined
        : (moved('totalFreezesDuration') * 1000 + (stoppedMs > STOPPED_MS ? stoppedMs : 0)) / (to - from),
    bps: (moved('bytesReceived') * 8000) / (to - from),
    repeated:
      after['retransmittedPacketsReceived'] === undefined
        ? undefined
        : moved('retransmittedPacketsReceived') / Math.max(1, moved('packetsReceived')),
    layer: mostOf(layers),
  };
}

async function run({ conditions, codec, browser }: Case): Promise<Figures | undefined> {
  const isFirefox = browser === 'Firefox';
  const host = isFirefox ? ownAddress : '127.0.0.1';
  const port = await ownPort();
  const proxy = await startUdpProxy(port, { host, target: host });
  for (const path of [proxy.up, proxy.down]) Object.assign(path, { delayMs: DELAY_MS }, conditions);
  const call = await startCall({
    SFU_UDP_PORT: String(port),
    SFU_ANNOUNCED_UDP_PORT: String(proxy.port),
    SFU_ANNOUNCED_HOST: host,
  });
  const site: Site | undefined = isFirefox ? await openFirefoxSite({ modules: callModules }) : undefined;
  try {
    const alice = await call.join('alice');
    await alice.page.evaluate(([name, encodings]) => window.client.publish('video', encodings, name), [
      CODECS[codec].codec,
      CODECS[codec].encodings,
    ] as const);
    // The publisher's own start is not measured.
    await sleep(4000);
    const bob = await call.join('bob', undefined, site && { site });
    await watch(bob);
    return await measure(bob);
  } finally {
    await site?.close();
    await call.close();
    proxy.close();
  }
}

const columns = ['First picture', 'Pictures a second', 'Longest without', 'Frozen', 'Received', 'Repeated', 'Layer'];
const nameOf = ({ path, codec, browser }: Case): string => `${codec}, ${browser}, ${path}`;

function rowOf(one: Case, figures: Figures | undefined): string {
  const name = nameOf(one);
  if (!figures) return `| ${name} | none in ${FIRST_PICTURE_MS_MAX / 1000} s |${' |'.repeat(columns.length - 1)}`;
  const { firstMs, fps, longestMs, frozen, bps, repeated, layer } = figures;
  const percent = (share = Number.NaN): string => (Number.isNaN(share) ? '' : `${(share * 100).toFixed(1)} %`);
  const cells = [`${Math.round(firstMs)} ms`, fps.toFixed(1), `${Math.round(longestMs)} ms`, percent(frozen)];
  return `| ${[name, ...cells, `${(bps / 1e6).toFixed(2)} Mbit/s`, percent(repeated), layer].join(' | ')} |`;
}

const rows: string[] = [];
const failures: string[] = [];
const chosen = CASES.filter((one) => nameOf(one).includes(wanted));
for (const [index, one] of chosen.entries()) {
  const figures = await run(one);
  const row = rowOf(one, figures);
  console.error(`${index + 1} of ${chosen.length}: ${row}`);
  rows.push(row);
  if (!figures) failures.push(`${nameOf(one)}: no picture at all`);
  else if (one.isJudged && !(Number(figures.frozen) < FROZEN_MAX))
    failures.push(`${nameOf(one)}: frozen for ${FROZEN_MAX * 100} % of the time or more`);
}
console.log(`\n| | ${columns.join(' | ')} |\n|${' --- |'.repeat(columns.length + 1)}\n${rows.join('\n')}`);
for (const failure of failures) console.log(failure);
await stopShared();
process.exit(rows.length > 0 && failures.length === 0 ? 0 : 1);
