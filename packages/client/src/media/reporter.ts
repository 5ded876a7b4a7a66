import type { SvcError } from '../errors.ts';
import type { TrackSource } from '../signal/records.ts';
import type { Figures, FiguresDeps } from './figures.ts';
import type { TransportName } from './media-health.ts';

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

const FIRST_MS = 3_000;

/** Reports the connection to the dashboard: transport steps, devices and quality figures. */
export function createReporter(deps: FiguresDeps): Reporter {
  const { runtime, telemetry, sides } = deps;
  const { note } = telemetry;
  let watching = new AbortController();
  let cancelTimer = (): void => {};
  let figures: Figures | null = null;

  function startFigures(stay: AbortController): void {
    cancelTimer = runtime.setTimer(async () => {
      // Loaded when the call is under way: nobody waits for it.
      const part = await import('./figures.ts').catch(() => null);
      // Another stay has its own.
      if (stay.signal.aborted) return;
      if (part) figures = part.startFigures(deps, stay);
      else startFigures(stay);
    }, FIRST_MS);
  }

  return {
    start() {
      this.stop();
      watching = new AbortController();
      startFigures(watching);
    },
    stop() {
      cancelTimer();
      figures?.stop();
      figures = null;
      watching.abort();
    },
    transport(pc, state) {
      if (state === 'new' || state === 'closed') return;
      // With a path that works it was the encryption on top of it.
      const hasPath = /^(connected|completed)$/.test(sides[pc].peer?.iceConnectionState ?? '');
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
