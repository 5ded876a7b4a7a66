/**
 * Loaded before a media process of a proof (`--import`): holds its event loop for HELD_LOOP_MS, four times a second.
 * Every other process that it is loaded into is left alone.
 */
const EVERY_MS = 250;

if (process.argv[1]?.endsWith('worker.ts')) {
  const heldMs = Number(process.env['HELD_LOOP_MS'] ?? 0);
  setInterval(() => {
    const until = performance.now() + heldMs;
    while (performance.now() < until);
  }, EVERY_MS).unref();
}
