import type { Runtime } from '../runtime.ts';
import type { Telemetry } from '../signal/telemetry.ts';
import type { TransportName } from './media-health.ts';
import type { Publisher } from './publisher.ts';
import { createStatsSummary } from './stats-summary.ts';
import { createTrackSampler, type StatsReport } from './track-samples.ts';

export interface FiguresDeps {
  runtime: Runtime;
  telemetry: Telemetry;
  sides: Record<TransportName, Pick<Publisher, 'peer' | 'trackAt'>>;
}

export interface Figures {
  /** Sends what was sampled last. */
  stop(): void;
}

/** Samples by track, which go out together. */
const EVERY_MS = 5_000;
const SAMPLES_SENT = 4;
/** Every so many samples a report of the whole. */
const SAMPLES_PER_REPORT = 3;

const reportsOf = (stats: RTCStatsReport | undefined): StatsReport[] => [...(stats?.values() ?? [])];

/** Quality figures of one stay in a call, now and then, and what the page and the network do meanwhile. */
export function startFigures({ runtime, telemetry: { note }, sides }: FiguresDeps, stay: AbortController): Figures {
  const isOver = (): boolean => stay.signal.aborted;
  const summary = createStatsSummary();
  const sampler = createTrackSampler({ sides, everyMs: EVERY_MS });
  let cancelTimer = (): void => {};
  let taken = 0;

  async function report(): Promise<void> {
    const [pub, sub] = await Promise.all([sides.pub.peer?.getStats(), sides.sub.peer?.getStats()]);
    if (isOver()) return;
    sampler.take({ pub: reportsOf(pub), sub: reportsOf(sub) });
    if (sampler.count >= SAMPLES_SENT) sendSamples();
    if (taken++ % SAMPLES_PER_REPORT !== 0) return;
    const figures = summary([pub, sub].filter((one) => one !== undefined));
    if (figures) note('stats.report', figures);
  }

  async function run(): Promise<void> {
    // A transport that closes during `getStats()` has no report.
    await report().catch(() => {});
    if (!isOver()) cancelTimer = runtime.setTimer(run, EVERY_MS);
  }

  function sendSamples(): void {
    const samples = sampler.flush();
    if (samples) note('stats.sample', samples);
  }

  watchPage(note, stay);
  void run();
  return {
    stop() {
      cancelTimer();
      sendSamples();
    },
  };
}

function watchPage(note: Telemetry['note'], stay: AbortController): void {
  const page = globalThis.document as Document | undefined;
  const network = (globalThis.navigator as (Navigator & { connection?: EventTarget }) | undefined)?.connection;
  const listen = (target: EventTarget | undefined, event: string, describe: () => string): void =>
    // Its `signal` is the option.
    target?.addEventListener?.(event, () => note(describe()), stay);
  listen(page, 'visibilitychange', () => `page.${page?.visibilityState === 'hidden' ? 'hidden' : 'visible'}`);
  listen(network, 'change', () => 'network.changed');
}
