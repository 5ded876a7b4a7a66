import type { Server } from 'node:net';
import { type AllRoutes, allRoutes, type Limits } from '@parley/contract';
import { builtDashboard, fontFiles } from '@parley/dashboard/files';
import { builtDocs } from '@parley/docs/files';
import type { Svc } from '@parley/server';
import type { FastifyInstance } from 'fastify';
import type { Changes } from '../core/changes.ts';
import type { Clock } from '../core/clock.ts';
import type { Db } from '../core/db.ts';
import { deleteInBatches, type Turn } from '../core/delete-in-batches.ts';
import type { CertificateState, Front } from '../core/front.ts';
import type { Handlers, Stream } from '../core/handlers.ts';
import { createIsOwnHost, type IsOwnHost } from '../core/hosts.ts';
import type { Keyring } from '../core/keyring.ts';
import type { Log } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Part } from '../core/part.ts';
import type { Mailbox } from '../core/ports.ts';
import { type RateLimiter, spendUserBudget } from '../core/rate-limiter.ts';
import type { NoteRequest } from '../core/request-log.ts';
import type { Tokens } from '../core/tokens.ts';
import type { Tracer } from '../core/tracing.ts';
import { type Authenticators, createIdentify } from './credentials.ts';
import { type DevEventsDeps, mountDevEvents } from './dev-events.ts';
import { type DevLoginDeps, mountDevLogin } from './dev-login.ts';
import { mountMailbox } from './dev-mail.ts';
import { mountDocs } from './docs.ts';
import { createDrain } from './drain.ts';
import { toErrorAnswer } from './errors.ts';
import { type FileRoutes, mountDataFiles, mountFiles } from './file-routes.ts';
import { createOnce } from './idempotency.ts';
import { deleteExpiredKeys } from './idempotency-store.ts';
import { createKeptBuilds } from './kept-builds.ts';
import { createLoadGuard, type LoopDelay, watchLoopDelay } from './load-guard.ts';
import { createMetricsServer } from './metrics-server.ts';
import { collectRoutes } from './mounted-routes.ts';
import { mountOperations, type OperationsDeps } from './operations.ts';
import { mountRoutes, type PipelineDeps } from './pipeline.ts';
import { plainIndexOf } from './plain-index.ts';
import { mountPlayground } from './playground.ts';
import { createSpend } from './rate-budget.ts';
import { createIpOf, requestIdOf } from './request-info.ts';
import { createRequestLog, type RequestLog } from './request-log.ts';
import { createHttpServer } from './server.ts';
import { mountPages } from './static.ts';

interface HttpDeps extends Pick<PipelineDeps, 'roleIn' | 'proofs' | 'originPolicy' | 'recordAudit' | 'noteKeyUse'> {
  db: Db;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  changes: Changes;
  tracer: Tracer;
  keyring: Keyring;
  tokens: Tokens;
  rateLimiter: RateLimiter;
  limits: Limits;
  /** Of this installation. */
  version: string;
  isProduction: boolean;
  /** Development mode may be reached by others. */
  allowsPublicDevelopment: boolean;
  host: string;
  port: number;
  /** An open port to take over instead, where its number had to be known before: in tests. */
  listener?: Server | undefined;
  publicUrl: string;
  trustProxy: readonly string[];
  /** Null when somebody else encrypts. */
  front: Front | null;
  certificateState: () => CertificateState | null;
  sfuSecrets: readonly string[];
  metricsToken: string | null;
  metricsHost: string;
  metricsPort: number | null;
  playgroundApiKey: string | null;
  /** Also keeps the files of the dashboard's last build. */
  dataDir: string;
  handlers: Handlers<AllRoutes>;
  authenticators: Authenticators;
  files: FileRoutes;
  /** Files of exports and imports. */
  dataFiles: FileRoutes;
  /** Present when mail is kept for the development mailbox. */
  mailbox: Mailbox | null;
  /** Null in production. */
  development: Development | null;
  /** Whether the process takes work: not before it is prepared, and not when it is about to stop. */
  isReady: () => boolean;
  media: OperationsDeps['media'];
  isDraining: () => boolean;
  /** That of this process unless given. */
  loopDelay?: LoopDelay | undefined;
  noteRequest: NoteRequest;
}

interface Development extends DevLoginDeps, DevEventsDeps {
  /** The demo project's client, once the first run is through. */
  svc(): Svc | null;
}

interface Http extends Part {
  app: FastifyInstance;
  /** Every route there is, for the test that compares them with the table. */
  mounted: readonly string[];
  /** Where the process listens, and how others reach it. */
  address(): { url: string; publicUrl: string };
  /** How a request is read and refused, for upgrades too. */
  edge: {
    requestIdOf: typeof requestIdOf;
    ipOf: ReturnType<typeof createIpOf>;
    refuse: typeof toErrorAnswer;
  };
}

// As many as the system accepts: connections beyond it are dropped silently, and tried again only seconds later.
const backlogMax = 65_535;

/** Everything that is answered over HTTP. */
export function createHttp(deps: HttpDeps): Http {
  const { db, clock, isProduction, host, port, listener, publicUrl } = deps;
  const loopDelay = deps.loopDelay ?? watchLoopDelay();
  const isOverloaded = createLoadGuard({ clock, limits: deps.limits, loopDelay });
  const requestLog = createRequestLog(deps.noteRequest);
  const app = createHttpServer({ ...deps, table: allRoutes, requestLog, isOverloaded });
  const mounted = collectRoutes(app);
  deps.front?.guard(app.server);
  const drain = createDrain(app, deps.front?.closeIdle);
  const metricsServer = createMetricsServer(deps);

  function address(): { url: string; publicUrl: string } {
    const bound = app.server.address();
    const own = typeof bound === 'object' && bound ? bound.port : port;
    const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
    return { url: `http://${name.includes(':') ? `[${name}]` : name}:${own}`, publicUrl };
  }

  const isOwnHost = createIsOwnHost({ publicUrl, isPublic: isProduction || deps.allowsPublicDevelopment });
  const streams = new Set<Stream>();
  mountApi(app, deps, { streams, requestLog });
  mountDevelopment(app, deps, isOwnHost);
  mountOperations(app, deps);
  mountDocs(app, { folder: builtDocs, fonts: fontFiles, publicUrl });
  const plainIndex = plainIndexOf(deps);
  const kept = createKeptBuilds(deps);
  mountPages(app, { prefix: '', folder: builtDashboard, before: kept.before, isProduction, publicUrl, plainIndex });
  mountPlayground(app, { ...deps, demo: deps.development?.svc ?? null, isOwnHost, ownUrl: () => address().url });

  function deleteExpired(turn: Turn): Promise<number> {
    const now = clock.now();
    return deleteInBatches({ turn }, (limit) => deleteExpiredKeys(db, now, limit));
  }

  return {
    app,
    mounted,
    address,
    edge: { requestIdOf, ipOf: createIpOf(deps.trustProxy), refuse: toErrorAnswer },
    chores: [
      { name: 'idempotency-keys', everyMs: 60_000, run: deleteExpired, onDatabaseAlone: true },
      { name: 'kept-builds', everyMs: 60 * 60_000, run: kept.stayInUse, onEveryProcess: true },
    ],
    async start() {
      await metricsServer.start?.();
      // Node takes over what an object with a handle listens on: `server.listen(handle)`.
      await app.listen(listener ? Object.assign(listener, { host }) : { host, port, backlog: backlogMax });
    },
    async stop() {
      for (const stream of streams) stream.end();
      await drain(deps.limits.HTTP_DRAIN_SECONDS * 1000);
      await metricsServer.stop?.();
    },
  };
}

function mountApi(app: FastifyInstance, deps: HttpDeps, own: { streams: Set<Stream>; requestLog: RequestLog }): void {
  const { limits, rateLimiter, handlers, files, dataFiles, isProduction } = deps;
  mountRoutes(app, allRoutes, handlers, {
    ...deps,
    identify: createIdentify(deps),
    spend: createSpend(rateLimiter),
    spendUserBudget: (name, caller) => spendUserBudget(rateLimiter, name, caller),
    once: createOnce(deps),
    bodyBytesMax: limits.HTTP_MAX_BODY_BYTES,
    ...own,
    checkAnswers: !isProduction,
  });
  mountFiles(app, files);
  mountDataFiles(app, dataFiles);
}

function mountDevelopment(app: FastifyInstance, { development, mailbox }: HttpDeps, isOwnHost: IsOwnHost): void {
  if (!development) return;
  if (mailbox) mountMailbox(app, mailbox, isOwnHost);
  mountDevLogin(app, development, isOwnHost);
  mountDevEvents(app, development, isOwnHost);
}
