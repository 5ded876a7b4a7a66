import { join } from 'node:path';
import { type AllRoutes, type AuditAction, allRoutes, signalingPath } from '@parley/contract';
import { builtDashboard, fontFiles } from '@parley/dashboard/files';
import { createBackend } from '@parley/playground/backend';
import { builtPlayground } from '@parley/playground/files';
import { Svc } from '@parley/server';
import { createOtlpSink } from './adapters/traces/otlp.ts';
import type { Config } from './config.ts';
import { createBudgets } from './core/budgets.ts';
import type { Clock } from './core/clock.ts';
import { createCursors } from './core/cursors.ts';
import type { Db } from './core/db.ts';
import { createDispatcher } from './core/dispatcher.ts';
import type { Handlers } from './core/handlers.ts';
import { createIds } from './core/ids.ts';
import { createKeyring } from './core/keyring.ts';
import { lazy } from './core/lazy.ts';
import type { Log } from './core/log.ts';
import { createMetrics } from './core/metrics.ts';
import { isOriginAllowed } from './core/origins.ts';
import type { Blobs, Bus, Counters, ExpiringSets, Locks, Mail, Mailbox } from './core/ports.ts';
import { createTimers } from './core/timers.ts';
import { createTokens } from './core/tokens.ts';
import { createTracer, noTracer, traceTransactions } from './core/tracing.ts';
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
import { createRoomsDomain } from './domains/rooms/index.ts';
import { createSignaling } from './domains/signaling/index.ts';
import { createUsage } from './domains/usage/index.ts';
import { createWebhooks } from './domains/webhooks/index.ts';
import { createIdentify } from './http/credentials.ts';
import { mountDevEvents } from './http/dev-events.ts';
import { mountDevLogin } from './http/dev-login.ts';
import { mountMailbox } from './http/dev-mail.ts';
import { mountDocs } from './http/docs/index.ts';
import { toErrorAnswer } from './http/errors.ts';
import { mountFiles } from './http/file-routes.ts';
import { createOnce } from './http/idempotency.ts';
import { deleteExpiredKeys } from './http/idempotency-store.ts';
import { createLoadGuard, type LoopDelay, watchLoopDelay } from './http/load-guard.ts';
import { collectRoutes } from './http/mounted-routes.ts';
import { mountOperations } from './http/operations.ts';
import { mountRoutes } from './http/pipeline.ts';
import { mountPlaygroundApi } from './http/playground-api.ts';
import { createSpend } from './http/rate-budget.ts';
import { createIpOf, requestIdOf } from './http/request-info.ts';
import { createHttpServer } from './http/server.ts';
import { mountPages } from './http/static.ts';
import { createSockets } from './sockets/index.ts';

/** What the process stands on: one implementation of each port. */
export interface Adapters {
  db: Db;
  bus: Bus;
  counters: Counters;
  expiringSets: ExpiringSets;
  locks: Locks;
  blobs: Blobs;
  mail: Mail;
  /** Present when mail is kept for the development mailbox. */
  mailbox: Mailbox | null;
}

export interface ComposeDeps {
  config: Config;
  adapters: Adapters;
  clock: Clock;
  log: Log;
  /** That of this process unless given. */
  loopDelay?: LoopDelay;
}

/** The repository's own Markdown. */
const docsFolder = join(import.meta.dirname, '..', '..', '..', 'docs');

/** How long open sockets get to move to another process. */
const socketGraceMs = 5_000;
// As many as the system lets wait: what a crowd that comes at once has beyond it is dropped without a word, and tries
// again only seconds later.
const backlogMax = 65_535;

export type Service = Awaited<ReturnType<typeof compose>>;

/** The wiring diagram: every part is built and joined here. */
export async function compose({ config, adapters, clock, log, loopDelay = watchLoopDelay() }: ComposeDeps) {
  const { bus, counters, locks, mail } = adapters;
  const { limits, publicUrl } = config;
  const traces = config.traces && createOtlpSink({ ...config.traces, log });
  const tracer =
    config.traces && traces
      ? createTracer({ clock, sampleRatio: config.traces.sampleRatio, random: Math.random, onEnd: traces.take })
      : noTracer;
  const db = traceTransactions(adapters.db, tracer);

  const ids = createIds(clock);
  const keyring = createKeyring(config.secretKey);
  const tokens = createTokens({ keyring, clock, issuer: publicUrl });
  const cursors = createCursors(keyring);
  const metrics = createMetrics();
  const budgets = createBudgets({ counters, limits });
  const timers = createTimers({ clock, locks, log });

  const dispatcher = createDispatcher({
    db,
    clock,
    log,
    fanOut: (events) => chat.fanOut(events),
    enqueue: (tx, events) => webhooks.enqueue(tx, events),
  });
  const unitOfWork = createUnitOfWork({ db, clock, ids, onCommitted: dispatcher.accept });

  const audit = createAudit({ db, clock, ids, log, spoolPath: join(config.dataDir, 'audit-spool.jsonl') });
  const projects = createProjectsDomain({
    db,
    clock,
    ids,
    cursors,
    bus,
    mail,
    log,
    publicUrl,
    requireVerifiedEmail: config.requireVerifiedEmail,
  });

  const accounts = createAccounts({
    db,
    clock,
    ids,
    tokens,
    keyring,
    mail,
    counters,
    bus,
    log,
    config,
    refreshGraceSeconds: limits.AUTH_REFRESH_GRACE_SECONDS,
    onUserReady: projects.welcome,
  });

  const usage = createUsage({
    db,
    clock,
    freeMinutes: limits.USAGE_FREE_RTC_MINUTES,
    isEnforced: config.usageEnforced,
  });
  const observability = createObservability({
    db,
    clock,
    ids,
    log,
    metrics,
    retentionDays: limits.OBSERVABILITY_RETENTION_DAYS,
    checks: dependencyChecks(adapters, config, { fleet: () => fleet, webhooks: () => webhooks }),
  });

  const fleet = createFleet({
    db,
    clock,
    log,
    processId: ids.newUuid(),
    sfuSecrets: config.sfuSecrets,
    sfuAllowedHosts: config.sfuAllowedHosts,
    heartbeatTimeoutMs: limits.SFU_HEARTBEAT_TIMEOUT_SECONDS * 1000,
  });

  const rooms = createRoomsDomain({
    db,
    clock,
    ids,
    cursors,
    tokens,
    bus,
    log,
    limits,
    fleet,
    access: projects.access,
    turn: config.turn,
    signalingUrl: `${publicUrl.replace(/^http/, 'ws')}${signalingPath}`,
    assertMayMint: ({ projectId }) => usage.assertAllowance(projectId),
  });

  const signaling = createSignaling({
    clock,
    ids,
    log,
    tracer,
    limits,
    fleet,
    rooms,
    random: Math.random,
    connections: observability.recorder,
  });

  const webhooks = createWebhooks({
    db,
    clock,
    ids,
    cursors,
    keyring,
    bus,
    log,
    metrics,
    tracer,
    limits,
    isProduction: config.isProduction,
    allowPrivate: config.webhookAllowPrivate,
    isKeyActive: projects.access.isKeyActive,
    onCommitted: dispatcher.accept,
  });

  const chat = createChat({
    db,
    bus,
    expiringSets: adapters.expiringSets,
    blobs: adapters.blobs,
    clock,
    ids,
    log,
    metrics,
    cursors,
    keyring,
    tokens,
    budgets,
    timers,
    limits,
    publicUrl,
    unitOfWork,
    onCommitted: dispatcher.accept,
    rooms: { find: rooms.rooms.find, link: rooms.attachConversation },
    assertActive: projects.access.assertActive,
  });

  const liveStreams = createLiveStreams({ db, unitOfWork, clock, ids, cursors, log, rooms, chat, limits });

  const handlers: Handlers<AllRoutes> = {
    ...accounts.handlers,
    ...projects.handlers,
    ...audit.handlers,
    ...fleet.handlers,
    ...rooms.handlers,
    ...signaling.handlers,
    ...liveStreams.handlers,
    ...webhooks.handlers,
    ...observability.handlers,
    ...usage.handlers,
    ...chat.handlers,
  };

  let isPrepared = false;
  let isDraining = false;
  const app = createHttpServer({
    table: allRoutes,
    log,
    metrics,
    tracer,
    trustProxy: config.trustProxy,
    isDraining: () => isDraining,
    isOverloaded: createLoadGuard({ clock, limits, loopDelay }),
  });
  const mounted = collectRoutes(app);
  mountRoutes(app, allRoutes, handlers, {
    identify: createIdentify({
      tokens,
      sfuSecrets: config.sfuSecrets,
      authenticators: {
        apiKey: projects.access.authenticateKey,
        session: accounts.authenticateSession,
        chatToken: chat.authenticateToken,
        rtcToken: rooms.authenticateRtcToken,
      },
    }),
    spend: createSpend({ counters, windowSeconds: limits.RATE_LIMIT_WINDOW_SECONDS }),
    once: createOnce({ db, clock, keyring }),
    bodyBytesMax: limits.HTTP_MAX_BODY_BYTES,
    publicUrl,
    roleIn: projects.access.roleIn,
    originPolicy: projects.access.originPolicy,
    recordAudit: async (action: AuditAction, caller, subject, request) => {
      if (caller.kind !== 'session') return;
      const projectId = 'projectId' in caller ? caller.projectId : subject.projectId;
      if (projectId === undefined) return;
      await audit.record(action, projectId, caller, subject, request);
    },
    checkAnswers: !config.isProduction,
  });
  mountFiles(app, chat.files);
  const development = config.isProduction ? null : createDevelopment({ seedAccount: accounts.seedAccount, log });
  if (development) {
    if (adapters.mailbox) mountMailbox(app, adapters.mailbox);
    mountDevLogin(app, development);
    mountDevEvents(app, development);
  }
  mountOperations(app, { db, metrics, isReady: () => isPrepared && !isDraining });
  mountDocs(app, { folder: docsFolder, fonts: fontFiles, publicUrl });
  const { isProduction } = config;
  mountPages(app, { prefix: '', folder: builtDashboard, isProduction, publicUrl });
  const playgroundKey = config.playgroundApiKey;
  if (development || playgroundKey !== null) {
    const own = lazy(() =>
      playgroundKey === null ? null : new Svc({ apiKey: playgroundKey, baseUrl: address().url }),
    );
    const backend = createBackend({ svc: () => own() ?? development?.svc() ?? null });
    mountPlaygroundApi(app, { backend, publicUrl });
    mountPages(app, { prefix: '/playground', folder: builtPlayground, isProduction, publicUrl });
  }

  const sockets = createSockets({
    clock,
    log,
    ids,
    limits,
    budgets,
    random: Math.random,
    sockets: [signaling.socket, chat.socket],
    isOriginAllowed: async (projectId, origin) =>
      isOriginAllowed(await projects.access.originPolicy(projectId), origin),
    requestIdOf,
    ipOf: createIpOf(config.trustProxy),
    refuse: toErrorAnswer,
  });
  app.server.on('upgrade', sockets.upgrade);
  metrics.gauge('parley_sockets', 'Open sockets, chat and signaling.', () => sockets.count);

  async function cutOffArchived(): Promise<void> {
    for (const projectId of await projects.access.inactiveOf(sockets.projects())) sockets.cutOff(projectId);
  }

  timers.every('archived-projects', 1_500, cutOffArchived, { onEveryProcess: true });
  timers.every('idempotency-keys', 60_000, () => deleteExpiredKeys(db, clock.now()));
  timers.every('accounts', 10 * 60_000, () => accounts.sweep());
  timers.every('webhook-retention', 60_000, () => webhooks.sweep());
  timers.every('audit-spool', 5_000, () => audit.retryKept(), { onEveryProcess: true });

  timers.every('fleet', fleet.beatEveryMs, () => fleet.beat(), { onEveryProcess: true });
  timers.every('lost-participants', 1_000, () => rooms.sweeps.endLost(), { onEveryProcess: true });
  timers.every('dead-processes', 5_000, () => rooms.sweeps.loseDeadProcesses(), { onEveryProcess: true });
  timers.every('signaling', 1_000, () => signaling.tend(), { onEveryProcess: true });
  timers.every('signaling-claim', 5_000, () => signaling.claim(), { onEveryProcess: true });
  timers.every('observability', 15_000, () => observability.sweep());
  timers.every('live-streams', 2_000, () => liveStreams.sweep());
  timers.every('usage', 5_000, () => usage.meter());
  timers.every('room-events', 60_000, () => rooms.sweeps.forgetEvents());
  timers.every('rtc-tokens', 10 * 60_000, () => rooms.tokens.sweep());

  /** Where the process listens, and how others reach it: PORT=0 is known only now. */
  function address(): { url: string; publicUrl: string } {
    const bound = app.server.address();
    const port = typeof bound === 'object' && bound ? bound.port : config.port;
    const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;
    return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, publicUrl };
  }

  return {
    app,
    /** Every route there is, for the test that compares them with the table. */
    mounted,
    config,
    address,
    development,
    unitOfWork,
    dispatcher,
    webhooks,
    usage,
    observability,
    liveStreams,
    chat,
    audit,

    /** Listens, runs `welcome` through the public API, and is ready after it. */
    async start(welcome: () => Promise<void> = async () => {}): Promise<void> {
      await accounts.start();
      await projects.access.start();
      await fleet.start();
      await chat.start();
      dispatcher.start();
      await webhooks.start();
      timers.start();
      sockets.start();
      await app.listen({ host: config.host, port: config.port, backlog: backlogMax });
      await welcome();
      isPrepared = true;
    },

    /** New work is refused from here on; what runs is finished. */
    async stop(): Promise<void> {
      isDraining = true;
      await sockets.drain(config.isProduction ? socketGraceMs : 0);
      await timers.stop();
      await sockets.stop();
      await chat.stop();
      await app.close();
      fleet.stop();
      await observability.stop();
      await accounts.stop();
      await dispatcher.stop();
      await webhooks.stop();
      await traces?.close();
    },
  };
}
