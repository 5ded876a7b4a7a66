/** How long a test waits for a condition, unless it says so itself. */
export const patienceMs = 10_000;
/** What takes longer on two cores that four lanes of tests share says which of these it waits for: a process starts, */
export const processStartMs = 60_000;
/** or does something: it looks by a timer of its own, gives up what died, ends. */
export const processWorkMs = 30_000;
/** A page of a browser loads, draws or comes back. */
export const pageMs = 30_000;
/** Real media: ICE and DTLS that send again, a picture, a layer that an estimate allows. */
export const mediaMs = 30_000;

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
