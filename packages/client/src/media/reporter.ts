import type { SvcError } from '../errors.ts';
import type { Runtime } from '../runtime.ts';
import type { TrackSource } from '../signal/records.ts';
import type { Telemetry } from '../signal/telemetry.ts';
import type { TransportName } from './media-health.ts';
import type { createStatsSummary } from './stats-summary.ts';
import type { StatsReport, TrackSampler } from './track-samples.ts';

export interface Reporter {
  /** Figures now and then, and what the page and the network do, from here until `stop`. */
  start(): void;
  stop(): void;
  transport(name: TransportName, state: RTCPeerConnectionState): void;
  /** A device that was asked for did not come. */
  deviceFailed(source: TrackSource, error: unknown): void;
  /** First media of another participant. */
  awaitFirstFrame(trackId: string, media: MediaStreamTrack): void;
}

export interface ReporterDeps {
  runtime: Runtime;
  telemetry: Telemetry;
  peer(name: TransportName): RTCPeerConnection | null;
  trackAt(name: TransportName, mid: string): string | null;
}

const FIRST_MS = 3_000;
/** Samples by track, which go out together. */
const EVERY_MS = 5_000;
const SAMPLES_SENT = 4;
/** Every so many samples a report of the whole. */
const SAMPLES_PER_REPORT = 3;

const reportsOf = (stats: RTCStatsReport | undefined): StatsReport[] => [...(stats?.values() ?? [])];

/** Reports the connection to the dashboard: transport steps, devices and quality figures. */
export function createReporter({ runtime, telemetry, peer, trackAt }: ReporterDeps): Reporter {
  const { note } = telemetry;
  let watching = new AbortController();
  let cancelTimer = (): void => {};
  let summary: ReturnType<typeof createStatsSummary> | null = null;
  let sampler: TrackSampler | null = null;
  let taken = 0;

  function again(ms: number): void {
    const mine = watching.signal;
    cancelTimer = runtime.setTimer(async () => {
      await report(mine);
      // Another stay has its own.
      if (!mine.aborted) again(EVERY_MS);
    }, ms);
  }

  async function report(stay: AbortSignal): Promise<void> {
    try {
      // Loaded when the call is under way: nobody waits for figures.
      summary ??= (await import('./stats-summary.ts')).createStatsSummary();
      sampler ??= (await import('./track-samples.ts')).createTrackSampler({ trackAt, everyMs: EVERY_MS });
      const [pub, sub] = await Promise.all([peer('pub')?.getStats(), peer('sub')?.getStats()]);
      if (stay.aborted) return;
      sampler.take({ pub: reportsOf(pub), sub: reportsOf(sub) });
      if (sampler.count >= SAMPLES_SENT) sendSamples();
      if (taken++ % SAMPLES_PER_REPORT !== 0) return;
      const figures = summary([pub, sub].filter((one) => one !== undefined));
      if (figures) note('stats.report', figures);
    } catch {
      // A transport that closes during `getStats()` has no report; nor has a page that cannot load.
    }
  }

  function sendSamples(): void {
    const samples = sampler?.flush();
    if (samples) note('stats.sample', samples);
  }

  function watchPage(): void {
    const page = globalThis.document as Document | undefined;
    const network = (globalThis.navigator as (Navigator & { connection?: EventTarget }) | undefined)?.connection;
    const listen = (target: EventTarget | undefined, event: string, describe: () => string): void =>
      target?.addEventListener?.(event, () => note(describe()), watching);
    listen(page, 'visibilitychange', () => `page.${page?.visibilityState === 'hidden' ? 'hidden' : 'visible'}`);
    listen(network, 'change', () => 'network.changed');
  }

  return {
    start() {
      this.stop();
      watching = new AbortController();
      summary = null;
      sampler = null;
      taken = 0;
      watchPage();
      again(FIRST_MS);
    },
    stop() {
      cancelTimer();
      sendSamples();
      watching.abort();
    },
    transport(pc, state) {
      if (state === 'new' || state === 'closed') return;
      // With a path that works it was the encryption on top of it.
      const hasPath = /^(connected|completed)$/.test(peer(pc)?.iceConnectionState ?? '');
      const layer = state === 'failed' && hasPath ? 'dtls' : 'ice';
      note(`${layer}.${state === 'connecting' ? 'checking' : state}`, { pc });
      if (state === 'connected') note('dtls.connected', { pc });
      if (state === 'failed') telemetry.flush();
    },
    deviceFailed(source, error) {
      const cause = (error as Partial<SvcError>).code ?? 'unknown';
      note(cause.startsWith('permission') ? 'device.permission_denied' : 'device.failed', { source, cause });
      telemetry.flush();
    },
    awaitFirstFrame(trackId, media) {
      const since = runtime.now();
      const notify = (): void => note('track.first_frame', { trackId, ms: Math.round(runtime.now() - since) });
      if (media.muted) media.addEventListener('unmute', notify, { once: true });
      else notify();
    },
  };
}
