import type { Duplex } from 'node:stream';
import { fail, ServiceError } from '@parley/contract';
import type { WebSocket } from 'ws';
import { addressKey } from '../core/addresses.ts';
import { toServiceError } from '../core/faults.ts';
import type { SocketSession } from '../core/socket.ts';
import type { LiveConnection } from './connection.ts';
import type { Deadlines } from './deadlines.ts';
import type { Endpoint } from './endpoint.ts';
import { createFlusher } from './outbox.ts';
import { closeCodeOf, closeReason } from './socket-errors.ts';
import type { ConnectionDeps, Visitor } from './states/state.ts';
import type { Offer } from './upgrade.ts';

interface AdmissionDeps extends Pick<ConnectionDeps, 'log' | 'limits' | 'rateLimiter'> {
  live: Deadlines<LiveConnection>;
}

/** Connections of one address that are not authenticated yet. */
const unknownPerAddressMax = 50;
/** For a client that finds the process full: when a slot gets free is unknown. */
const retryAfterSeconds = 5;

/** Which of the upgraded connections are opened: as many as the process, an address and a subject may have. */
export function createAdmission({ log, limits, rateLimiter, live }: AdmissionDeps) {
  const flusher = createFlusher();
  const unknown = createTally();
  const subjects = createTally();
  /** Asked for by a chore: to walk all connections for it would be most of what a chore does while nothing happens. */
  const projects = createTally();

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

  return { admit, projects: projects.keys };
}

function closeRefused(ws: WebSocket, refusal: ServiceError): void {
  ws.on('error', () => undefined);
  ws.close(closeCodeOf(refusal), closeReason(refusal));
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
