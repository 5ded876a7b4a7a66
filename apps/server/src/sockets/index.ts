import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ClientFrameTable, fail, type LimitName, type ServerFrameTable, ServiceError } from '@parley/contract';
import type { WebSocket } from 'ws';
import { addressKey } from '../core/addresses.ts';
import { toServiceError } from '../core/faults.ts';
import type { OpenConnections } from '../core/grant.ts';
import type { Ids } from '../core/ids.ts';
import type { AnySocket, SocketDefinition, SocketSession } from '../core/socket.ts';
import { createConnection, type LiveConnection, type Wire } from './connection.ts';
import { Deadlines } from './deadlines.ts';
import { createFrameRoutes } from './frame-reader.ts';
import { createFlusher } from './outbox.ts';
import { closeCodeOf, closeReason } from './socket-errors.ts';
import type { ConnectionDeps, Visitor } from './states/state.ts';
import {
  answerUpgrade,
  createUpgrade,
  handshakeProblem,
  type Offer,
  type Refuse,
  readOffer,
  type Upgrade,
} from './upgrade.ts';

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
/** Connections of one address that are not authenticated yet. */
const unknownPerAddressMax = 50;
/** For a client that finds the process full: when a slot gets free is unknown. */
const retryAfterSeconds = 5;

export function createSockets(deps: SocketsDeps): Sockets {
  const { clock, log, limits, rateLimiter, ids, random, requestIdOf, ipOf, refuse } = deps;
  const flusher = createFlusher();
  const live = new Deadlines<LiveConnection>((error) =>
    log.error({ error }, 'the deadlines of a connection were not checked'),
  );
  const unknown = createTally();
  const subjects = createTally();
  /** Asked for every second: to walk all connections for it would be most of what a chore does while nothing happens. */
  const projects = createTally();
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
      (ws) => admit(endpoint, ws, socket, visitor, offer),
      (message) => refuseUpgrade(new ServiceError('SVC_BAD_REQUEST', { message })),
    );
  }

  function upgradeProblem({ subprotocol }: Endpoint, offer: Offer): ServiceError | null {
    if (isDraining) return new ServiceError('SVC_DRAINING', { retryAfterSeconds: 1 });
    const message = handshakeProblem(offer, subprotocol);
    return message === null ? null : new ServiceError('SVC_BAD_REQUEST', { message });
  }

  /** Refusals from here on are close codes: the browser's page sees those, but never the status of an upgrade. */
  function admit(endpoint: Endpoint, ws: WebSocket, socket: Duplex, visitor: Visitor, offer: Offer): void {
    if (live.size >= limits.SOCKETS_MAX_PER_PROCESS) {
      closeRefused(ws, new ServiceError('SVC_SERVICE_UNAVAILABLE', { retryAfterSeconds }));
      return;
    }
    const { attemptBudget } = endpoint;
    if (!attemptBudget) {
      open(endpoint, ws, socket, visitor, offer);
      return;
    }
    ws.on('error', () => undefined);
    ws.pause();
    rateLimiter.spend(`budget:${attemptBudget}:${addressKey(visitor.ip)}`, limits[attemptBudget]).then(
      () => {
        ws.resume();
        // Gone meanwhile: its end was told already, and will not be again.
        if (ws.readyState === ws.OPEN) open(endpoint, ws, socket, visitor, offer);
      },
      (error) => {
        ws.resume();
        const refusal = toServiceError(error);
        if (refusal.code !== 'SVC_RATE_LIMITED') log.error({ error }, 'connection attempts could not be counted');
        closeRefused(ws, refusal);
      },
    );
  }

  function open(endpoint: Endpoint, ws: WebSocket, socket: Duplex, visitor: Visitor, offer: Offer): void {
    const isUnknown = offer.token === null;
    const address = addressKey(visitor.ip);
    if (isUnknown && !unknown.add(address, unknownPerAddressMax)) {
      closeRefused(ws, new ServiceError('SVC_RATE_LIMITED', { retryAfterSeconds }));
      return;
    }

    const connection = endpoint.connect(
      {
        ws,
        createOutbox: (onOverflow) => flusher.createOutbox(socket, onOverflow),
        onKnown: () => {
          if (isUnknown) unknown.remove(address);
        },
        claim: (session) => claim(endpoint.path, session),
        onSooner: () => live.recheck(connection),
        onGone: () => live.remove(connection),
      },
      visitor,
      offer,
    );
    live.add(connection);
  }

  /** A place among those of its subject, or SVC_RATE_LIMITED; gives back how to leave it. */
  function claim(path: string, { projectId, environment, subject }: SocketSession): () => void {
    const key = `${path} ${projectId} ${environment} ${subject}`;
    if (!subjects.add(key, limits.SOCKETS_MAX_PER_SUBJECT)) fail('SVC_RATE_LIMITED', { retryAfterSeconds });
    projects.add(projectId);
    return () => {
      subjects.remove(key);
      projects.remove(projectId);
    };
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
    projects: () => projects.keys(),
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

/** One socket of the service, ready for connections. */
interface Endpoint {
  path: string;
  subprotocol: string;
  attemptBudget: LimitName | undefined;
  handshake: Upgrade;
  connect(wire: Wire, visitor: Visitor, offer: Offer): LiveConnection;
}

function createEndpoint<S extends SocketSession, F extends ClientFrameTable, V extends ServerFrameTable>(
  definition: SocketDefinition<S, F, V>,
  deps: ConnectionDeps,
): Endpoint {
  const { path, subprotocol, attemptBudget } = definition;
  const routes = createFrameRoutes(definition);
  return {
    path,
    subprotocol,
    attemptBudget,
    handshake: createUpgrade(definition),
    connect: (wire, visitor, offer) => createConnection(definition, routes, wire, visitor, offer, deps),
  };
}

function closeRefused(ws: WebSocket, refusal: ServiceError): void {
  ws.on('error', () => undefined);
  ws.close(closeCodeOf(refusal), closeReason(refusal));
}

/** One for all sockets, and of nothing: what a listener's function was made beside is kept with it. */
function destroyFailed(this: Duplex): void {
  this.destroy();
}

/** How many there are of each. */
function createTally() {
  const counts = new Map<string, number>();
  return {
    keys: (): string[] => [...counts.keys()],
    /** False when there are `max` already. */
    add(key: string, max = Number.POSITIVE_INFINITY): boolean {
      const count = counts.get(key) ?? 0;
      if (count >= max) return false;
      counts.set(key, count + 1);
      return true;
    },
    remove(key: string): void {
      const left = (counts.get(key) ?? 1) - 1;
      if (left > 0) counts.set(key, left);
      else counts.delete(key);
    },
  };
}
