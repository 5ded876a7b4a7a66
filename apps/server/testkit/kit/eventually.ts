/** How long a test waits for a condition, unless it says so itself; the runner gives heavy files more. */
export const patienceMs = Number(process.env['PARLEY_TEST_PATIENCE_MS'] ?? 10_000);

const firstPauseMs = 20;
/** A wait of seconds looks less and less often, down to this: to ask a page or a server takes CPU from what is waited for. */
const lastPauseMs = 100;

/**
 * Waits until `check` stops throwing (or resolves to something other than false); its last failure is the test's.
 * @param options.everyMs the pause where each look counts, as for what lasts only a moment.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = patienceMs, everyMs }: { withinMs?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let pauseMs = everyMs ?? firstPauseMs;
  for (;;) {
    try {
      const value = await check();
      if (value !== false) return value;
      if (performance.now() > deadline) throw new Error('the condition did not become true in time');
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (everyMs === undefined) pauseMs = Math.min(pauseMs * 1.2, lastPauseMs);
  }
}
