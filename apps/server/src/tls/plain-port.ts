import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { ServiceError } from '@parley/contract';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { createAddressCount } from './pending.ts';

/** How a request is refused everywhere else. */
export interface PlainEdge {
  requestIdOf(headers: IncomingMessage['headers']): string;
  refuse(
    error: ServiceError,
    requestId: string,
    path: string,
  ): { status: number; headers: Record<string, string>; body: object };
}

interface PlainPortDeps {
  /** Null when nobody listens. */
  plainPort: number | null;
  host: string;
  publicUrl: string;
  keyAuthorizationOf: (token: string) => Promise<string | null>;
  edge: () => PlainEdge;
  clock: Clock;
  log: Log;
  /** Until a request must be here. */
  requestMsMax?: number;
}

const challengePath = /^\/\.well-known\/acme-challenge\/([\w-]{1,200})$/;
const connectionsMax = 1_000;
const connectionsPerAddress = 32;
const checkEveryMs = 1_000;
const logEveryMs = 60_000;

/** Port 80 beside TLS: proves the name to an authority (RFC 8555, 8.3) and sends browsers to https. */
export function createPlainPort(deps: PlainPortDeps) {
  const { plainPort, host, publicUrl, keyAuthorizationOf, edge, clock, log, requestMsMax = 5_000 } = deps;
  const { origin } = new URL(publicUrl);
  const pending = createAddressCount(connectionsPerAddress);
  const timeouts = { requestTimeout: requestMsMax, headersTimeout: requestMsMax };
  const server = createServer({ ...timeouts, connectionsCheckingInterval: checkEveryMs }, (request, response) => {
    answer(request, response).catch((error) => {
      warn(error);
      response.destroy();
    });
  });
  server.maxConnections = connectionsMax;
  server.on('connection', (socket) => void (pending.enter(socket) ?? socket.destroy()));

  let quietUntil = Number.NEGATIVE_INFINITY;
  /** Strangers decide how often they ask, and not how long the log is. */
  function warn(error: unknown): void {
    if (clock.elapsed() < quietUntil) return;
    quietUntil = clock.elapsed() + logEveryMs;
    log.warn({ error }, 'a request on HTTP_PORT failed; others are not logged for a minute');
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '/', method = 'GET' } = request;
    response.setHeader('connection', 'close');
    const [, token] = challengePath.exec(url) ?? [];
    if (token !== undefined && method === 'GET') {
      const found = await keyAuthorizationOf(token);
      return void response.writeHead(found === null ? 404 : 200, { 'content-type': 'text/plain' }).end(found ?? '');
    }
    if (!['GET', 'HEAD'].includes(method) || /^\/v1(\/|\?|$)/.test(url)) return refuseProgram(request, response);
    // To the configured name, whatever the request says of its host.
    const location = new URL(url.startsWith('/') ? `${origin}${url}` : origin);
    response.writeHead(308, { location: location.href }).end();
  }

  /** A program that was sent on would work, and send its key in clear for ever. */
  function refuseProgram(request: IncomingMessage, response: ServerResponse): void {
    const message = `Use ${origin}: what was sent here went over the network in clear, so replace a key that was in it.`;
    const requestId = edge().requestIdOf(request.headers);
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    const { status, headers, body } = edge().refuse(new ServiceError('SVC_FORBIDDEN', { message }), requestId, path);
    const type = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': requestId };
    response.writeHead(status, { ...headers, ...type });
    response.end(JSON.stringify(body));
  }

  return {
    isOpen: () => server.listening,

    /** A port that is taken, or that we may not have, is no reason not to serve https. */
    async start(): Promise<void> {
      if (plainPort === null) return;
      const listening = once(server, 'listening');
      server.listen(plainPort, host);
      await listening.catch((error: NodeJS.ErrnoException) =>
        log.warn(
          { port: plainPort, code: error.code },
          'HTTP_PORT cannot be opened: plain http is not sent to https, and names are proven on the TLS port alone',
        ),
      );
    },

    async stop(): Promise<void> {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
