import { createTracing } from './adapters/traces/tracing.ts';
import type { Config } from './config.ts';
import { createActivity } from './core/activity.ts';
import { createChanges } from './core/changes.ts';
import type { Clock } from './core/clock.ts';
import { createCursors } from './core/cursors.ts';
import { createForgeries } from './core/forgeries.ts';
import { createIds } from './core/ids.ts';
import { createKeyring } from './core/keyring.ts';
import type { Log } from './core/log.ts';
import { createMetrics } from './core/metrics.ts';
import { createMissedChanges } from './core/missed-changes.ts';
import type { Adapters } from './core/ports.ts';
import { createQuotas } from './core/quotas.ts';
import { createRateLimiter } from './core/rate-limiter.ts';
import { createReplicatedReads } from './core/replicated-reads.ts';
import { createTokens } from './core/tokens.ts';
import { traceTransactions } from './core/tracing.ts';
import { createUsageCounts } from './core/usage-counts.ts';

interface ToolDeps {
  config: Config;
  adapters: Adapters;
  clock: Clock;
  log: Log;
}

/** What every part may use; each names in its own deps what it does. */
export type Tools = ReturnType<typeof createTools>['tools'];

export function createTools({ config, adapters, clock, log }: ToolDeps) {
  const { limits, publicUrl, isProduction } = config;
  const { random } = Math;
  const tracing = createTracing({ traces: config.traces, clock, log, random });
  const ids = createIds(clock);
  const keyring = createKeyring(config.secretKey, config.secretKeyPrevious);
  const metrics = createMetrics();
  const noteForgery = createForgeries({ metrics, log, clock });

  const { db, missedChanges } = createMissedChanges({ db: adapters.db, bus: adapters.bus, clock });

  const tools = {
    ...adapters,
    db: traceTransactions(db, tracing.tracer),
    replicated: createReplicatedReads({ db, replica: adapters.replica, clock, log, metrics }),
    missedChanges,
    clock,
    log,
    limits,
    publicUrl,
    isProduction,
    ids,
    keyring,
    tracer: tracing.tracer,
    tokens: createTokens({ keyring, clock, issuer: publicUrl, onForged: noteForgery }),
    noteForgery,
    cursors: createCursors(keyring),
    metrics,
    changes: createChanges({ bus: adapters.bus }),
    activity: createActivity({ clock }),
    usageCounts: createUsageCounts({ clock }),
    quotas: createQuotas(limits),
    rateLimiter: createRateLimiter({ counters: adapters.counters, limits }),
    random,
  };
  return { tools, tracing };
}
