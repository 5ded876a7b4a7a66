import type { TestService } from './service.ts';
import { oncePerWorker } from './worker-life.ts';

/**
 * The one service of this test worker, for every test that needs no settings or clock of its own: such a test makes a
 * project and looks at nothing else.
 */
export const sharedService: () => Promise<TestService> = oncePerWorker(async () => {
  // Loaded when first asked for: most of the packages' tests need no server.
  const { startService } = await import('./service.ts');
  return await startService();
});
