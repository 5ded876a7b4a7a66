import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError } from '@parley/contract';
import type { OpenConnections } from '../core/grant.ts';
import type { Ids } from '../core/ids.ts';
import type { AnySocket } from '../core/socket.ts';
import { createAdmission } from './admission.ts';
import type { LiveConnection } from './connection.ts';
import { Deadlines } from './deadlines.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import type { ConnectionDeps, Visitor } from './states/state.ts';
import { answerUpgrade, handshakeProblem, type Offer, type Refuse, readOffer } from './upgrade.ts';

interface SocketsDeps extends ConnectionDeps {
  ids: Ids;
  /** 0 to 1; spreads clients over time when a process drains. */
  random: () => number;
  sockets: readonly AnySocket[];
  requestIdOf: (headers: IncomingMessage['headers']) => string;
  /** The client's address, seen through trusted proxies only. */
  ipOf: (request: IncomingMessage) => string;
  refuse: Refuse;
}

export interface Sockets extends OpenConnections {
  /** Takes one `upgrade` event of the HTTP server. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  readonly count: number;
  start(): void;
  /** Refuses new connections, asks the clients to reconnect elsewhere, spread over time, and closes by `graceMs`. */
  drain(graceMs: number): Promise<void>;
  stop(): Promise<void>;
}

const tickMs = 1_000;

export function createSockets(deps: SocketsDeps): Sockets {
  const { clock, log, ids, random, requestIdOf, ipOf, refuse } = deps;
  const live = new Deadlines<LiveConnection>((error) =>
    log.error({ error }, 'the deadlines of a connection were not checked'),
  );
  const admission = createAdmission({ ...deps, live });
  const stopping = new AbortController();
  let ticking: Promise<void> = Promise.resolve();
  let isDraining = false;

  const endpoints = new Map(
    deps.sockets.map((socket) => [socket.path, socket.use((definition) => createEndpoint(definition, deps))]),
  );

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // The HTTP server removes its own error handler with the upgrade.
    socket.on('error', destroyFailed);
    const requestId = requestIdOf(request.headers);
    const offer = readOffer(request);
    const refuseUpgrade = (error: ServiceError): void => answerUpgrade(socket, error, requestId, offer.path, refuse);

    const endpoint = endpoints.get(offer.path);
    if (!endpoint) {
      refuseUpgrade(new ServiceError('SVC_NOT_FOUND'));
      return;
    }
    const refusal = upgradeProblem(endpoint, offer);
    if (refusal) {
      refuseUpgrade(refusal);
      return;
    }

    const visitor: Visitor = {
      connectionId: ids.newUuid(),
      ip: ipOf(request),
      userAgent: request.headers['user-agent']?.slice(0, 512) ?? null,
      origin: request.headers.origin ?? null,
    };
    endpoint.handshake.complete(
      request,
      socket,
      head,
      requestId,
      (ws) => admission.admit(endpoint, ws, socket, visitor, offer),
      (message) => refuseUpgrade(new ServiceError('SVC_BAD_REQUEST', { message })),
    );
  }

  function upgradeProblem({ subprotocol }: Endpoint, offer: Offer): ServiceError | null {
    if (isDraining) return new ServiceError('SVC_DRAINING', { retryAfterSeconds: 1 });
    const message = handshakeProblem(offer, subprotocol);
    return message === null ? null : new ServiceError('SVC_BAD_REQUEST', { message });
  }

  async function runTicks(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(tickMs, stopping.signal);
      live.tick({ now: clock.now(), elapsed: clock.elapsed() });
    }
  }

  async function drain(graceMs: number): Promise<void> {
    isDraining = true;
    const leaving = [...live].map(async (connection) => {
      const afterMs = Math.floor(random() * graceMs);
      connection.announceReconnect(afterMs);
      if (afterMs > 0) await clock.sleep(afterMs, stopping.signal);
      connection.close(4503, 'DRAINING');
    });
    await Promise.all(leaving);
  }

  return {
    upgrade,
    get count() {
      return live.size;
    },
    projects: admission.projects,
    cutOff(isOver, { code, reason }) {
      for (const connection of live) {
        const grant = connection.grant();
        if (grant && isOver(grant)) connection.close(code, reason);
      }
    },
    start() {
      ticking = runTicks();
    },
    drain,
    async stop() {
      isDraining = true;
      stopping.abort();
      await ticking;
      for (const connection of live) {
        connection.close(1001, 'GOING_AWAY');
        connection.terminate();
      }
    },
  };
}

/** One for all sockets, and of nothing: what a listener's function was made beside is kept with it. */
function destroyFailed(this: Duplex): void {
  this.destroy();
}
