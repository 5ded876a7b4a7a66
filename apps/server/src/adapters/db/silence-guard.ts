/** A connection with a statement under way. */
export interface Guarded {
  end(): unknown;
}

// Together below the 2 s within which a caller must hear that the database is gone.
const suspiciousMs = 500;
const tickMs = 250;

/**
 * A server that hangs, or a network that swallows packets, leaves open connections silent for minutes. When a statement
 * takes long, `probe` asks over a fresh connection; if even that gets no answer, the silent connections are cut.
 */
export function createSilenceGuard(probe: () => Promise<boolean>) {
  const underWay = new Map<Guarded, number>();
  let isProbing = false;

  async function check(): Promise<void> {
    const limit = performance.now() - suspiciousMs;
    const isSuspicious = [...underWay.values()].some((since) => since < limit);
    if (isProbing || !isSuspicious) return;
    isProbing = true;
    const isAlive = await probe();
    isProbing = false;
    if (isAlive) return;
    for (const [connection, since] of underWay) if (since < limit) connection.end();
  }

  const timer = setInterval(check, tickMs);
  timer.unref();
  return {
    async watch<T>(connection: Guarded, answer: Promise<T>): Promise<T> {
      underWay.set(connection, performance.now());
      try {
        return await answer;
      } finally {
        underWay.delete(connection);
      }
    },
    stop: () => clearInterval(timer),
  };
}
