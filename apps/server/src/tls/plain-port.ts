import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Limits } from '@parley/contract';
import type { Log } from '../core/log.ts';
import { createAddressCount } from './pending.ts';

interface PlainPortDeps {
  /** Null when nobody listens. */
  plainPort: number | null;
  host: string;
  publicUrl: string;
  keyAuthorizationOf: (token: string) => Promise<string | null>;
  limits: Limits;
  log: Log;
}

const challengePath = /^\/\.well-known\/acme-challenge\/([\w-]{1,200})$/;
const connectionsMax = 1_000;
const requestMsMax = 5_000;

/** Port 80 beside TLS: proves the name to an authority (RFC 8555, 8.3) and sends everybody else to https. */
export function createPlainPort({ plainPort, host, publicUrl, keyAuthorizationOf, limits, log }: PlainPortDeps) {
  const { origin } = new URL(publicUrl);
  const pending = createAddressCount(limits.TLS_MAX_PENDING_PER_ADDRESS);
  const server = createServer({ requestTimeout: requestMsMax, headersTimeout: requestMsMax }, (request, response) => {
    answer(request, response).catch((error) => {
      log.warn({ error }, 'a request on HTTP_PORT failed');
      response.destroy();
    });
  });
  server.maxConnections = connectionsMax;
  server.on('connection', (socket) => void (pending.enter(socket) ?? socket.destroy()));

  async function answer({ url = '/', method }: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('connection', 'close');
    const [, token] = challengePath.exec(url) ?? [];
    if (token !== undefined && method === 'GET') {
      const found = await keyAuthorizationOf(token);
      return void response.writeHead(found === null ? 404 : 200, { 'content-type': 'text/plain' }).end(found ?? '');
    }
    // To the configured name, whatever the request says of its host.
    const location = new URL(url.startsWith('/') ? `${origin}${url}` : origin);
    response.writeHead(308, { location: location.href }).end();
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
