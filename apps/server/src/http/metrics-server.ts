import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Metrics } from '../core/metrics.ts';
import type { Part } from '../core/part.ts';

interface MetricsServerDeps {
  metrics: Metrics;
  metricsToken: string | null;
  metricsHost: string;
  metricsPort: number | null;
}

export const metricsType = 'text/plain; version=0.0.4';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whether somebody with this `Authorization` may read the metrics. */
export function mayScrape(token: string | null, authorization: string | undefined): boolean {
  return token === null || timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`));
}

/** `/metrics` on a port of its own, which a firewall or a cluster keeps inside; nothing unless METRICS_PORT is set. */
export function createMetricsServer({ metrics, metricsToken, metricsHost, metricsPort }: MetricsServerDeps): Part {
  const server = createServer(({ url, headers }, response) => {
    if (url !== '/metrics') return void response.writeHead(404).end();
    if (!mayScrape(metricsToken, headers.authorization))
      return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    response.writeHead(200, { 'content-type': metricsType }).end(metrics.render());
  });
  return {
    async start() {
      if (metricsPort !== null) await once(server.listen(metricsPort, metricsHost), 'listening');
    },
    async stop() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}
