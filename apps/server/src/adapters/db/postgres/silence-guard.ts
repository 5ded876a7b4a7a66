import { DatabaseUnavailable } from '../../../core/db.ts';

// With the probe's second, below the 2 s within which a caller must get the error that the database is gone.
const suspiciousMs = 400;
const tickMs = 200;

interface Waiting {
  since: number;
  giveUp(): void;
}

/**
 * A server that hangs, or a network that swallows packets, leaves open connections silent for minutes. When an answer
 * takes long, `probe` asks over a fresh connection; if even that gets none, everything that waits fails, and what
 * is asked from then on fails at once, until a probe is answered.
 */
export function createSilenceGuard(probe: () => Promise<boolean>) {
  const underWay = new Set<Waiting>();
  let [isProbing, isSilent] = [false, false];

  async function check(): Promise<void> {
    const limit = performance.now() - suspiciousMs;
    if (isProbing || !(isSilent || [...underWay].some(({ since }) => since < limit))) return;
    isProbing = true;
    isSilent = !(await probe());
    isProbing = false;
    if (isSilent) for (const waiting of underWay) waiting.giveUp();
  }

  const timer = setInterval(check, tickMs);
  timer.unref();
  return {
    /** Asks and waits for the answer, unless the database is silent. A late result is discarded. */
    async watch<T>(ask: () => Promise<T>): Promise<T> {
      if (isSilent) throw silence();
      const { promise: givenUp, reject } = Promise.withResolvers<never>();
      const waiting = { since: performance.now(), giveUp: () => reject(silence()) };
      underWay.add(waiting);
      try {
        return await Promise.race([ask(), givenUp]);
      } finally {
        underWay.delete(waiting);
      }
    },
    stop: () => clearInterval(timer),
  };
}

const silence = (): DatabaseUnavailable => new DatabaseUnavailable('The database does not answer.');
