import type { Runtime } from './runtime.ts';

const PROBE_TIMEOUT_MS = 5_000;
/** From another network a connection is most likely lost, and a new one is cheap. */
const OTHER_NETWORK_TIMEOUT_MS = 500;

export interface HeartbeatDeps {
  runtime: Runtime;
  intervalMs: number;
  lastHeardAt(): number;
  ping(): void;
  /** The server is gone, although the network gave no close event. */
  giveUp(): void;
}

export interface Heartbeat {
  /** Asks for a sign of life at once, and gives up when there is none. */
  probe(isOtherNetwork?: boolean): void;
  stop(): void;
}

/** Pings twice a heartbeat, and closes when nothing arrived for one and a quarter. */
export function createHeartbeat({ runtime, intervalMs, lastHeardAt, ping, giveUp }: HeartbeatDeps): Heartbeat {
  let stopTimer = (): void => {};
  let stopProbe = (): void => {};
  let lastBeatAt = runtime.now();

  function beat(): void {
    const now = runtime.now();
    // Timers of a hidden page or a sleeping machine are late: that is not the server's silence.
    const wasAsleep = now - lastBeatAt > intervalMs;
    lastBeatAt = now;
    if (!wasAsleep && now - lastHeardAt() > intervalMs * 1.25) {
      giveUp();
      return;
    }
    if (wasAsleep) probe();
    else ping();
    stopTimer = runtime.setTimer(beat, intervalMs / 2);
  }

  function probe(isOtherNetwork?: boolean): void {
    const askedAt = runtime.now();
    ping();
    stopProbe();
    const timeoutMs = isOtherNetwork ? OTHER_NETWORK_TIMEOUT_MS : PROBE_TIMEOUT_MS;
    stopProbe = runtime.setTimer(() => {
      if (lastHeardAt() < askedAt) giveUp();
    }, timeoutMs);
  }

  stopTimer = runtime.setTimer(beat, intervalMs / 2);
  return {
    probe,
    stop() {
      stopTimer();
      stopProbe();
    },
  };
}
