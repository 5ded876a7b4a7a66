import { monitorEventLoopDelay } from 'node:perf_hooks';
import { allRoutes, fail, openApiOf } from '@parley/contract';
import type { FastifyInstance } from 'fastify';
import type { Db } from '../core/db.ts';
import type { CertificateState } from '../core/front.ts';
import { lazy } from '../core/lazy.ts';
import type { Metrics } from '../core/metrics.ts';
import { mayScrape, metricsType } from './metrics-server.ts';

export interface OperationsDeps {
  db: Db;
  metrics: Metrics;
  /** Whether the process takes work: not before it is prepared, and not when it is about to stop. */
  isReady: () => boolean;
  /** Null when somebody else encrypts. */
  certificateState: () => CertificateState | null;
  /** Whether calls would have media: no reason to take a process out of service, and one to say so. */
  media: () => Promise<MediaHealth>;
  /** What a scraper presents as Bearer; null asks for nothing. */
  metricsToken: string | null;
  /** A port of its own for `/metrics`, which then is nowhere else; null for the service's own. */
  metricsPort: number | null;
}

interface MediaHealth {
  status: 'STARTING' | 'OK' | 'DOWN';
  message?: string;
}

const dbPatienceMs = 2_000;

/** Health, readiness, metrics and the API description: outside /v1, for operators and tools. */
export function mountOperations(app: FastifyInstance, deps: OperationsDeps): void {
  const { db, metrics, isReady } = deps;
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  app.addHook('onClose', async () => delay.disable());
  metrics.gauge(
    'parley_event_loop_delay_p99_seconds',
    'Event-loop delay since the last scrape, 99th percentile.',
    () => {
      const seconds = delay.percentile(99) / 1e9;
      delay.reset();
      return Number.isFinite(seconds) ? seconds : 0;
    },
  );
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  metrics.counter(
    'process_cpu_seconds_total',
    'CPU time used.',
    () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
  );

  app.get('/healthz', async () => ({ status: 'OK' }));

  app.get('/readyz', async (_request, reply) => {
    const isDbUp = await answersInTime(db);
    const certificate = deps.certificateState();
    const isUp = isReady() && certificate?.status !== 'DOWN' && isDbUp;
    // Said only when there is something to do about it.
    const detail = certificate === null || certificate.status === 'OK' ? {} : { certificate: certificate.message };
    const media = isDbUp ? await deps.media().catch(() => undefined) : undefined;
    return reply.code(isUp ? 200 : 503).send({ status: isUp ? 'OK' : 'DOWN', ...detail, media });
  });

  if (deps.metricsPort === null)
    app.get('/metrics', async ({ headers }, reply) => {
      if (!mayScrape(deps.metricsToken, headers.authorization)) fail('SVC_UNAUTHENTICATED');
      return reply.type(metricsType).send(metrics.render());
    });

  // Made when first asked for: a start should not wait for what few will read.
  const openApi = lazy(() => JSON.stringify(openApiOf(allRoutes)));
  for (const path of ['/openapi.json', '/v1/openapi.json'])
    app.get(path, async (_request, reply) => reply.type('application/json').send(openApi()));
}

async function answersInTime(db: Db): Promise<boolean> {
  const { promise: timeout, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), dbPatienceMs);
  const ping = db.ping().then(
    () => true,
    () => false,
  );
  return Promise.race([ping, timeout]).finally(() => clearTimeout(timer));
}
