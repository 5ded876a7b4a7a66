/** How long a test waits for a condition, unless it says so itself; the runner gives heavy files more. */
export const patienceMs = Number(process.env['PARLEY_TEST_PATIENCE_MS'] ?? 10_000);

/** Waits until `check` stops throwing (or resolves to something other than false); its last failure is the test's. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = patienceMs, everyMs = 20 } = {},
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      const value = await check();
      if (value !== false) return value;
      if (performance.now() > deadline) throw new Error('the condition did not become true in time');
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
