import type { SvcError } from '../errors.ts';
import type { Runtime } from '../runtime.ts';
import type { TrackSource } from '../signal/records.ts';
import type { Telemetry } from '../signal/telemetry.ts';
import type { TransportName } from './media-health.ts';
import type { createStatsSummary } from './stats-summary.ts';

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
}

const FIRST_MS = 3_000;
const EVERY_MS = 15_000;

/** Reports the connection to the dashboard: transport steps, devices and quality figures. */
export function createReporter({ runtime, telemetry, peer }: ReporterDeps): Reporter {
  const { note } = telemetry;
  let watching = new AbortController();
  let cancelTimer = (): void => {};
  let summary: ReturnType<typeof createStatsSummary> | null = null;

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
      const stats = await Promise.all([peer('pub')?.getStats(), peer('sub')?.getStats()]);
      const figures = summary(stats.filter((one) => one !== undefined));
      if (figures && !stay.aborted) note('stats.report', figures);
    } catch {
      // A transport that closes during `getStats()` has no report; nor has a page that cannot load.
    }
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
      watchPage();
      again(FIRST_MS);
    },
    stop() {
      cancelTimer();
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
