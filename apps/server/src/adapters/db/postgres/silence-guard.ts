import { DatabaseUnavailable } from '../../../core/db.ts';

// All together below the 2 s within which a caller must get the error that the database is gone.
const suspiciousMs = 400;
const probeTimeoutMs = 900;
const tickMs = 200;
/** A turn of the event loop that took longer counts as this: what came meanwhile has not been read yet. */
const turnMaxMs = 2 * tickMs;

interface Waiting {
  since: number;
  withinMs: number;
  giveUp(error: DatabaseUnavailable): void;
}

/**
 * A server that hangs, or a network that swallows packets, leaves open connections silent for minutes. When an answer
 * takes long, `probe` asks over a fresh connection; if even that gets none, everything that waits fails, and what
 * is asked from then on fails at once, until a probe is answered. Time is that of a loop that turns: a process that is
 * busy with itself, as while it starts, has not waited for anybody.
 */
export function createSilenceGuard(probe: (signal: AbortSignal) => Promise<boolean>) {
  const underWay = new Set<Waiting>();
  let isSilent = false;
  let probing: { since: number; end: (isAnswered: boolean) => void } | null = null;
  let [turned, tickedAt] = [0, performance.now()];

  const loopNow = (): number => turned + Math.min(performance.now() - tickedAt, turnMaxMs);

  function tick(): void {
    [turned, tickedAt] = [loopNow(), performance.now()];
    for (const { since, withinMs, giveUp } of underWay) if (since < turned - withinMs) giveUp(tooLate());
    if (probing !== null) {
      if (probing.since <= turned - probeTimeoutMs) probing.end(false);
    } else if (isSilent || [...underWay].some(({ since }) => since < turned - suspiciousMs)) {
      startProbe();
    }
  }

  function startProbe(): void {
    const ending = new AbortController();
    const asked = probe(ending.signal);
    const mine = {
      since: turned,
      end(isAnswered: boolean): void {
        if (probing !== mine) return;
        probing = null;
        ending.abort();
        isSilent = !isAnswered;
        if (isSilent) for (const waiting of underWay) waiting.giveUp(silence());
      },
    };
    probing = mine;
    void asked.then(mine.end);
  }

  const timer = setInterval(tick, tickMs);
  timer.unref();
  return {
    /** Asks and waits for the answer, unless the database is silent. A late result is discarded. */
    watch<T>(ask: () => Promise<T>, withinMs = Number.POSITIVE_INFINITY): Promise<T> {
      return new Promise((resolve, reject) => {
        if (isSilent) throw silence();
        const asked = ask();
        const waiting = { since: loopNow(), withinMs, giveUp: reject };
        underWay.add(waiting);
        asked.then(
          (answer) => {
            underWay.delete(waiting);
            resolve(answer);
          },
          (error: unknown) => {
            underWay.delete(waiting);
            reject(error);
          },
        );
      });
    },
    stop: () => clearInterval(timer),
  };
}

const silence = (): DatabaseUnavailable => new DatabaseUnavailable('The database does not answer.');
const tooLate = (): DatabaseUnavailable => new DatabaseUnavailable('No connection to the database came in time.');
