import type { Strategy } from './strategy.ts';

/** Alive, not draining, and not already tried. */
export const eligible: Strategy = (servers, { except, silentBefore }) =>
  servers.filter(
    ({ name, isDraining, seenAt }) =>
      !isDraining && !except.has(name) && (silentBefore === null || seenAt >= silentBefore),
  );
