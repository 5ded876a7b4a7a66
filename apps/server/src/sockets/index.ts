import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError } from '@parley/contract';
import type { WebSocket } from 'ws';
import type { Ids } from '../core/ids.ts';
import type { AnySocket } from '../core/socket.ts';
import { type ConnectionDeps, createConnection, type LiveConnection, type Visitor } from './connection.ts';
import { createFrameRoutes } from './frame-reader.ts';
import { createFlusher } from './outbox.ts';
import { answerUpgrade, createUpgrade, handshakeProblem, type Offer, type Refuse, readOffer } from './upgrade.ts';

export interface SocketsDeps extends ConnectionDeps {
  ids: Ids;
  /** 0 to 1; spreads clients over time when a process drains. */
  random: () => number;
  sockets: readonly AnySocket[];
  requestIdOf: (headers: IncomingMessage['headers']) => string;
  /** The client's address, seen through trusted proxies only. */
  ipOf: (request: IncomingMessage) => string;
  /** What counts as one address. */
  addressKey: (ip: string) => string;
  refuse: Refuse;
}

export interface Sockets {
  /** Takes one `upgrade` event of the HTTP server. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  readonly count: number;
  /** Projects that have a connection here. */
  projects(): string[];
  /** Ends the connections of a project whose tokens are worth nothing any more. */
  cutOff(projectId: string): void;
  start(): void;
  /** Refuses newcomers, asks everybody to reconnect elsewhere at a moment of their own, and closes by `graceMs`. */
  drain(graceMs: number): Promise<void>;
  stop(): Promise<void>;
}

const tickMs = 1_000;
const reconnectSpreadMs = 5_000;
/** Connections of one address that have not said who they are. */
const unknownPerAddressMax = 50;

export function createSockets(deps: SocketsDeps): Sockets {
  const { clock, log, budgets, ids, random, requestIdOf, ipOf, addressKey, refuse } = deps;
  const flusher = createFlusher();
  const live = new Set<LiveConnection>();
  const unknown = new Map<string, number>();
  const stopping = new AbortController();
  let ticking: Promise<void> = Promise.resolve();
  let isDraining = false;

  const byPath = new Map(
    deps.sockets.map(({ path, definition }) => [
      path,
      { definition, routes: createFrameRoutes(definition, clock), handshake: createUpgrade(definition) },
    ]),
  );
  type Entry = NonNullable<ReturnType<typeof byPath.get>>;

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // The HTTP server lets go of its own error handler with the upgrade.
    socket.on('error', () => socket.destroy());
    const requestId = requestIdOf(request.headers);
    const offer = readOffer(request);
    const turnAway = (error: ServiceError): void => answerUpgrade(socket, error, requestId, offer.path, refuse);

    const entry = byPath.get(offer.path);
    if (!entry) {
      turnAway(new ServiceError('SVC_NOT_FOUND'));
      return;
    }
    const refusal = whyNot(entry, offer);
    if (refusal) {
      turnAway(refusal);
      return;
    }

    const visitor: Visitor = {
      connectionId: ids.newUuid(),
      ip: ipOf(request),
      userAgent: request.headers['user-agent']?.slice(0, 512) ?? null,
      origin: request.headers.origin ?? null,
      token: offer.token,
    };
    entry.handshake.complete(
      request,
      socket,
      head,
      requestId,
      (ws) => admit(entry, ws, socket, visitor),
      (message) => turnAway(new ServiceError('SVC_BAD_REQUEST', { message })),
    );
  }

  function whyNot({ definition }: Entry, offer: Offer): ServiceError | null {
    if (isDraining) return new ServiceError('SVC_DRAINING', { retryAfterSeconds: 1 });
    const message = handshakeProblem(offer, definition.subprotocol);
    return message === null ? null : new ServiceError('SVC_BAD_REQUEST', { message });
  }

  /** Refusals from here on are close codes: the browser's page sees those, but never the status of an upgrade. */
  function admit(entry: Entry, ws: WebSocket, socket: Duplex, visitor: Visitor): void {
    const { attemptBudget } = entry.definition;
    if (!attemptBudget) {
      open(entry, ws, socket, visitor);
      return;
    }
    ws.on('error', () => undefined);
    ws.pause();
    budgets.waitSeconds(attemptBudget, addressKey(visitor.ip)).then(
      (seconds) => {
        ws.resume();
        if (seconds === null) open(entry, ws, socket, visitor);
        else ws.close(4429, `RATE_LIMITED; retryAfter=${seconds}`);
      },
      (error) => {
        log.error({ error }, 'connection attempts could not be counted');
        ws.close(4500, 'SERVICE_UNAVAILABLE');
      },
    );
  }

  function open({ definition, routes }: Entry, ws: WebSocket, socket: Duplex, visitor: Visitor): void {
    const isUnknown = visitor.token === null;
    const address = addressKey(visitor.ip);
    const others = unknown.get(address) ?? 0;
    if (isUnknown && others >= unknownPerAddressMax) {
      ws.close(4429, 'RATE_LIMITED; retryAfter=5');
      return;
    }
    if (isUnknown) unknown.set(address, others + 1);

    const connection = createConnection(
      definition,
      routes,
      {
        ws,
        createOutbox: (onOverflow) => flusher.createOutbox(socket, onOverflow),
        onKnown: () => {
          if (isUnknown) forgetUnknown(address);
        },
        onGone: () => live.delete(connection),
      },
      visitor,
      deps,
    );
    live.add(connection);
  }

  function forgetUnknown(address: string): void {
    const left = (unknown.get(address) ?? 1) - 1;
    if (left > 0) unknown.set(address, left);
    else unknown.delete(address);
  }

  async function tickForEver(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(tickMs, stopping.signal);
      const times = { now: clock.now(), elapsed: clock.elapsed() };
      for (const connection of live) connection.tick(times);
    }
  }

  async function drain(graceMs: number): Promise<void> {
    isDraining = true;
    const leaving = [...live].map(async (connection) => {
      const afterMs = Math.floor(random() * Math.min(graceMs, reconnectSpreadMs));
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
    projects: () => [...new Set([...live].flatMap(({ projectId }) => projectId ?? []))],
    cutOff(projectId) {
      for (const connection of live) if (connection.projectId === projectId) connection.close(4401, 'INVALID_TOKEN');
    },
    start() {
      ticking = tickForEver();
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
