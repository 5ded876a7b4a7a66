import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { TokenFamily } from './tokens.ts';

/** A line a minute at most: who forges tokens decides how many, and must not fill the log. */
const quietMs = 60_000;

/** Tokens with a signature that is not ours: each is counted, and the log says so now and then. */
export function createForgeries({ metrics, log, clock }: { metrics: Metrics; log: Log; clock: Clock }) {
  let [loggedAt, unsaid] = [-Infinity, 0];
  return (family: TokenFamily): void => {
    metrics.count('parley_forged_tokens_total', { family });
    unsaid++;
    if (clock.elapsed() - loggedAt < quietMs) return;
    log.warn({ family, tokens: unsaid }, 'a token was presented whose signature is not ours');
    [loggedAt, unsaid] = [clock.elapsed(), 0];
  };
}
