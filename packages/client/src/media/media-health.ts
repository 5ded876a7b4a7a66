import type { Runtime } from '../runtime.ts';

export type TransportName = 'pub' | 'sub';

export interface MediaHealthDeps {
  runtime: Pick<Runtime, 'setTimer'>;
  /** Replaces the transport. */
  restart(transport: TransportName): Promise<void>;
  isSignalConnected(): boolean;
  /** Restarts did not help: a new session is joined. */
  rejoin(): void;
  /** Nothing helped. */
  giveUp(): void;
  onBroken(isBroken: boolean): void;
}

export interface MediaHealth {
  changed(transport: TransportName, state: RTCPeerConnectionState): void;
  /** The signaling connection is back. `isNew`: both transports start from nothing. */
  signalConnected(isNew: boolean): void;
  close(): void;
}

/** A short dropout heals by itself. */
const PATIENCE_MS = 4_000;
/** So long a restart may take. */
const RESTART_MS = 10_000;
const RESTARTS_MAX = 3;
const REJOINS_MAX = 2;

interface Health {
  isBroken: boolean;
  restarts: number;
  cancel: (() => void) | null;
}

/** Watches both transports. A broken one is restarted, then the session is rejoined, then the call fails: it never stays broken. */
export function createMediaHealth(deps: MediaHealthDeps): MediaHealth {
  const healths: Record<TransportName, Health> = { pub: newHealth(), sub: newHealth() };
  let rejoins = 0;
  let wasBroken = false;

  function report(): void {
    const isBroken = healths.pub.isBroken || healths.sub.isBroken;
    if (isBroken === wasBroken) return;
    wasBroken = isBroken;
    deps.onBroken(isBroken);
  }

  function after(transport: TransportName, ms: number): void {
    const health = healths[transport];
    health.cancel?.();
    health.cancel = deps.runtime.setTimer(() => {
      health.cancel = null;
      repair(transport);
    }, ms);
  }

  function repair(transport: TransportName): void {
    const health = healths[transport];
    health.isBroken = true;
    report();
    // The signaling connection has its own way back, and says so when it is there.
    if (!deps.isSignalConnected()) return;
    if (health.restarts >= RESTARTS_MAX) {
      health.restarts = 0;
      if (++rejoins > REJOINS_MAX) deps.giveUp();
      else deps.rejoin();
      return;
    }
    health.restarts += 1;
    after(transport, RESTART_MS);
    deps.restart(transport).catch(() => {
      // Unless it has recovered, or the call is over, by now.
      if (healths[transport] === health) after(transport, PATIENCE_MS);
    });
  }

  function reset(transport: TransportName): void {
    healths[transport].cancel?.();
    healths[transport] = newHealth();
  }

  return {
    changed(transport, state) {
      if (state === 'connected' || state === 'closed') {
        reset(transport);
        if (state === 'connected') rejoins = 0;
        report();
      } else if (state === 'failed') repair(transport);
      else if (state === 'disconnected') after(transport, PATIENCE_MS);
    },
    signalConnected(isNew) {
      for (const transport of ['pub', 'sub'] as const) {
        const { isBroken, cancel } = healths[transport];
        if (isNew) reset(transport);
        else if (isBroken && !cancel) repair(transport);
      }
      report();
    },
    close() {
      reset('pub');
      reset('sub');
      wasBroken = false;
      rejoins = 0;
    },
  };
}

const newHealth = (): Health => ({ isBroken: false, restarts: 0, cancel: null });
