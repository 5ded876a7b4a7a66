import type { TestService } from './service.ts';

interface Running {
  stop(): Promise<void>;
}

const running: Running[] = [];

/** Starts it for the first that asks in this test worker; later callers get the same one, and the worker stops it. */
export function oncePerWorker<T extends Running>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | null = null;
  async function startFirst(): Promise<T> {
    const thing = await start();
    running.unshift(thing);
    return thing;
  }
  return () => (started ??= startFirst());
}

/** What was started last is stopped first: it stands on the others. */
export async function stopShared(): Promise<void> {
  for (const thing of running) await thing.stop();
}

/**
 * The one service of this test worker, for every test that needs no settings or clock of its own: such a test makes a
 * project and looks at nothing else.
 */
export const sharedService: () => Promise<TestService> = oncePerWorker(async () => {
  // Loaded when first asked for: most of the packages' tests need no server.
  const { startService } = await import('./service.ts');
  return await startService();
});
