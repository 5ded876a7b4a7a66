import { join } from 'node:path';
import { signalingPath } from '@parley/contract';
import { createTracing } from './adapters/traces/tracing.ts';
import type { Config } from './config.ts';
import type { Clock } from './core/clock.ts';
import { createCursors } from './core/cursors.ts';
import { createDispatcher } from './core/dispatcher.ts';
import { createIds } from './core/ids.ts';
import { createKeyring } from './core/keyring.ts';
import type { Log } from './core/log.ts';
import { createMetrics } from './core/metrics.ts';
import { isOriginAllowed } from './core/origins.ts';
import { mergeHandlers, type Part } from './core/part.ts';
import type { Adapters } from './core/ports.ts';
import { createRateLimiter } from './core/rate-limiter.ts';
import { createTimers } from './core/timers.ts';
import { createTokens } from './core/tokens.ts';
import { traceTransactions } from './core/tracing.ts';
import { createUnitOfWork } from './core/unit-of-work.ts';
import { dependencyChecks } from './dependency-checks.ts';
import { createDevelopment } from './dev/development.ts';
import { createAccounts } from './domains/accounts/index.ts';
import { createAudit } from './domains/audit/index.ts';
import { createChat } from './domains/chat/index.ts';
import { createFleet } from './domains/fleet/index.ts';
import { createLiveStreams } from './domains/live-streams/index.ts';
import { createObservability } from './domains/observability/index.ts';
import { createProjectsDomain } from './domains/projects/index.ts';
import { countPlaced, createRoomsDomain } from './domains/rooms/index.ts';
import { createSignaling } from './domains/signaling/index.ts';
import { createUsage } from './domains/usage/index.ts';
import { createWebhooks, dispatchedOnInsert } from './domains/webhooks/index.ts';
import { createHttp } from './http/index.ts';
import type { LoopDelay } from './http/load-guard.ts';
import { createSockets } from './sockets/index.ts';

interface ComposeDeps {
  config: Config;
  adapters: Adapters;
  clock: Clock;
  log: Log;
  loopDelay?: LoopDelay;
}

/** How long open sockets get to move to another process. */
const socketGraceMs = 5_000;

export type Service = Awaited<ReturnType<typeof compose>>;

/** The wiring diagram: every part is built and joined here. */
export async function compose({ config, adapters, clock, log, loopDelay }: ComposeDeps) {
  const { limits, publicUrl, isProduction } = config;
  const { random } = Math;
  const tracing = createTracing({ traces: config.traces, clock, log, random });
  const ids = createIds(clock);
  const keyring = createKeyring(config.secretKey);

  /** What every part may use; each names in its own deps what it does. */
  const tools = {
    ...adapters,
    db: traceTransactions(adapters.db, tracing.tracer),
    clock,
    log,
    limits,
    publicUrl,
    isProduction,
    ids,
    keyring,
    tracer: tracing.tracer,
    tokens: createTokens({ keyring, clock, issuer: publicUrl }),
    cursors: createCursors(keyring),
    metrics: createMetrics(),
    rateLimiter: createRateLimiter({ counters: adapters.counters, limits }),
    random,
  };

  const dispatcher = createDispatcher({
    ...tools,
    enqueue: (tx, events) => webhooks.enqueue(tx, events),
    onStranded: (events) => chat.recover(events),
  });
  const unitOfWork = createUnitOfWork({ ...tools, onCommitted: dispatcher.accept });

  const audit = createAudit({ ...tools, spoolPath: join(config.dataDir, 'audit-spool.jsonl') });
  const projects = createProjectsDomain({ ...tools, requireVerifiedEmail: config.requireVerifiedEmail });
  const accounts = createAccounts({
    ...tools,
    config,
    refreshGraceSeconds: limits.AUTH_REFRESH_GRACE_SECONDS,
    onUserReady: projects.joinInvited,
  });
  const usage = createUsage({
    ...tools,
    freeMinutes: limits.USAGE_FREE_RTC_MINUTES,
    isEnforced: config.usageEnforced,
  });
  const observability = createObservability({
    ...tools,
    retentionDays: limits.OBSERVABILITY_RETENTION_DAYS,
    checks: dependencyChecks(adapters, config, { fleet: () => fleet, webhooks: () => webhooks }),
  });
  const fleet = createFleet({
    ...tools,
    processId: ids.newUuid(),
    sfuSecrets: config.sfuSecrets,
    sfuAllowedHosts: config.sfuAllowedHosts,
    heartbeatTimeoutMs: limits.SFU_HEARTBEAT_TIMEOUT_SECONDS * 1000,
    countPlaced,
  });
  const rooms = createRoomsDomain({
    ...tools,
    fleet,
    access: projects.access,
    turn: config.turn,
    signalingUrl: `${publicUrl.replace(/^http/, 'ws')}${signalingPath}`,
    assertMayMint: ({ projectId }) => usage.assertAllowance(projectId),
  });
  const signaling = createSignaling({ ...tools, fleet, rooms, connections: observability.recorder });
  const webhooks = createWebhooks({
    ...tools,
    allowPrivate: config.webhookAllowPrivate,
    isKeyActive: projects.access.isKeyActive,
    onCommitted: dispatcher.accept,
  });
  const chat = createChat({
    ...tools,
    unitOfWork,
    dispatchedOnInsert,
    dispatch: dispatcher.accept,
    rooms: { find: rooms.rooms.find, link: rooms.attachConversation },
    assertActive: projects.access.assertActive,
  });
  const liveStreams = createLiveStreams({ ...tools, unitOfWork, rooms, chat });

  const domains = [
    webhooks,
    accounts,
    projects,
    audit,
    usage,
    observability,
    fleet,
    rooms,
    signaling,
    chat,
    liveStreams,
  ];

  let state: 'starting' | 'ready' | 'draining' = 'starting';
  const development = isProduction ? null : createDevelopment({ seedAccount: accounts.seedAccount, log });
  const http = createHttp({
    ...config,
    ...tools,
    handlers: mergeHandlers(domains),
    authenticators: {
      apiKey: projects.access.authenticateKey,
      session: accounts.authenticateSession,
      chatToken: chat.authenticateToken,
      rtcToken: rooms.authenticateRtcToken,
    },
    roleIn: projects.access.roleIn,
    originPolicy: projects.access.originPolicy,
    recordAudit: audit.record,
    files: chat.files,
    development,
    isReady: () => state === 'ready',
    isDraining: () => state === 'draining',
    loopDelay,
  });

  const sockets = createSockets({
    ...tools,
    ...http.edge,
    sockets: domains.flatMap((domain: Part) => domain.sockets ?? []),
    isOriginAllowed: async (projectId, origin) =>
      isOriginAllowed(await projects.access.originPolicy(projectId), origin),
  });
  http.app.server.on('upgrade', sockets.upgrade);
  tools.metrics.gauge('parley_sockets', 'Open sockets, chat and signaling.', () => sockets.count);
  const chores = [...domains, http].flatMap((part: Part) => part.chores ?? []);
  const timers = createTimers({ ...tools, chores: [...chores, projects.cutOffArchived(sockets)] });
  // Stopped in reverse: first no work comes in, last stops what the others hand their work to.
  const recorders = domains.filter((domain) => domain !== webhooks);
  const parts: readonly Part[] = [tracing, webhooks, dispatcher, ...recorders, timers, http, sockets];

  return {
    app: http.app,
    mounted: http.mounted,
    address: http.address,
    config,
    development,
    fleet,
    unitOfWork,
    dispatcher,
    webhooks,
    usage,
    chat,
    audit,

    /** Listens, runs `prepare` against the public API, and is ready after it. */
    async start(prepare: () => Promise<void> = async () => {}): Promise<void> {
      for (const part of parts) await part.start?.();
      await prepare();
      if (state === 'starting') state = 'ready';
    },

    /** New work is refused from here on; what runs is finished. */
    async stop(): Promise<void> {
      state = 'draining';
      await sockets.drain(isProduction ? socketGraceMs : 0);
      for (const part of parts.toReversed()) await part.stop?.();
    },
  };
}
