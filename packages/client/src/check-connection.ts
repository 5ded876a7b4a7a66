import type { CheckOptions, CheckStep } from './connection-check.ts';
import { ConnectionError } from './errors.ts';

/** Tries, step by step, what a call needs. Iterate it to show each step as it ends. */
export async function* checkConnection(options: CheckOptions): AsyncGenerator<CheckStep> {
  // Loaded when asked for: most pages never do.
  const check = await import('./connection-check.ts').catch(() => null);
  if (check) yield* check.runCheck(options);
  else yield { name: 'signaling', status: 'failed', ms: 0, error: new ConnectionError('network') };
}
