import type { TestService } from './service.ts';

let shared: Promise<TestService> | null = null;

/**
 * The one service of this test worker, for every test that needs no settings or clock of its own: such a test makes a
 * project and looks at nothing else. The worker stops it.
 */
export function sharedService(): Promise<TestService> {
  // Loaded when first asked for: most of the packages' tests need no server.
  shared ??= import('./service.ts').then(({ startService }) => startService());
  return shared;
}

export async function stopSharedService(): Promise<void> {
  await (await shared)?.stop();
}
