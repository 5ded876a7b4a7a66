import { type CloseCode, fail, type Limits, type ServerFrameTable, ServiceError } from '@parley/contract';
import type { WebSocket } from 'ws';
import type { Clock } from '../core/clock.ts';
import type { Grant } from '../core/grant.ts';
import type { Log } from '../core/log.ts';
import { type RateLimiter, wholeSeconds } from '../core/rate-limiter.ts';
import type { Connection, SocketDefinition, SocketSession } from '../core/socket.ts';
import { clockLeewaySeconds } from '../core/tokens.ts';
import type { Timed, Times } from './deadlines.ts';
import { createFrameAnswers, type End } from './frame-answers.ts';
import { type FrameRoute, type RawFrame, readFrame } from './frame-reader.ts';
import { OutboxWriter } from './frame-writer.ts';
import { pongFrame, readHeartbeat } from './heartbeat.ts';
import { createInbox } from './inbox.ts';
import { Meter } from './meter.ts';
import { OpenConnection } from './open-connection.ts';
import type { Outbox } from './outbox.ts';
import { closeCodeOf, closeReason } from './socket-errors.ts';
import type { Offer } from './upgrade.ts';

type State<S extends SocketSession> =
  | { is: 'awaitingAuth'; deadline: number; isChecking: boolean }
  | { is: 'open'; session: S; leavePlace: () => void; isExpiringSent: boolean }
  | { is: 'closing' };

/** What of a definition the life of a connection needs; its frames are in the routes. */
type Definition<S extends SocketSession, V extends ServerFrameTable> = Omit<
  SocketDefinition<S, never, V>,
  'frames' | 'handlers' | 'authFrame'
> & { authFrame: string };

export interface ConnectionDeps {
  clock: Clock;
  log: Log;
  limits: Limits;
  rateLimiter: RateLimiter;
  isOriginAllowed: (projectId: string, origin: string) => Promise<boolean>;
}

/** What the upgrade request says of the client. */
export interface Visitor {
  connectionId: string;
  ip: string;
  userAgent: string | null;
  origin: string | null;
}

export interface Wire {
  ws: WebSocket;
  createOutbox: (onOverflow: () => void) => Outbox;
  /** Called once, when the client is authenticated or the connection ended before that. */
  onKnown: () => void;
  /** Takes a place of the session's subject, or SVC_RATE_LIMITED; gives back how to leave it. */
  claim: (session: SocketSession) => () => void;
  /** Called when the connection may have to end sooner than its last tick said. */
  onSooner: () => void;
  /** Called once, when the network connection is gone. */
  onGone: () => void;
}

/** A connection as the sockets hold it. Its ticks: authentication, heartbeat, expiry. */
export interface LiveConnection extends Timed {
  /** What it was opened by; null before authentication and after the end. */
  grant(): Grant | null;
  /** Asks the client to reconnect to another process. */
  announceReconnect(afterMs: number): void;
  close(code: CloseCode, reason: string): void;
  terminate(): void;
}

const authTimeoutMs = 5_000;
const expiringBeforeMs = 60_000;

/** The life of one connection: awaitingAuth, open, closing. */
export function createConnection<S extends SocketSession, V extends ServerFrameTable>(
  definition: Definition<S, V>,
  routes: ReadonlyMap<string, FrameRoute<S, V>>,
  { ws, createOutbox, onKnown, claim, onSooner, onGone }: Wire,
  visitor: Visitor,
  { token, first }: Pick<Offer, 'token' | 'first'>,
  deps: ConnectionDeps,
): LiveConnection {
  const { clock, log, limits, rateLimiter } = deps;
  let heardAt = clock.elapsed();
  let state: State<S> = { is: 'awaitingAuth', deadline: heardAt + authTimeoutMs, isChecking: false };
  /** Kept after the end: handlers that are still running may read it. */
  let lastSession: S | null = null;
  const hasFirst = definition.takesFirst === true && first !== null;
  const outbox = createOutbox(() => close(4408, 'SLOW_CONSUMER'));
  const writer = new OutboxWriter(outbox, clock, definition.replyType);
  const windowMs = limits.RATE_LIMIT_WINDOW_SECONDS * 1000;
  const frameBudget = definition.frameBudget ? limits[definition.frameBudget] : null;
  const inbox = createInbox({ ws, outbox, frameBudget, windowMs, handle });
  const malformed = new Meter(limits.SOCKETS_MAX_MALFORMED_FRAMES, windowMs);
  const invalid = new Meter(limits.SOCKETS_MAX_INVALID_FRAMES, windowMs);
  const pings = new Meter(limits.SOCKETS_MAX_PINGS, windowMs);

  const connection: Connection<S, V> = new OpenConnection<S, V>(visitor, clock.now(), outbox, writer, {
    // Handlers run only after authentication.
    session: () => lastSession ?? fail('SVC_UNAUTHENTICATED'),
    lastSeenAt: () => clock.now() - (clock.elapsed() - heardAt),
    isOpen,
    renew(session) {
      lastSession = session;
      if (state.is !== 'open') return;
      state = { ...state, session, isExpiringSent: false };
      onSooner();
    },
    close,
  });

  const endsWith = (type: string, error: ServiceError): End | null => definition.endsWith?.(type, error) ?? null;
  const endOfInvalid = (error: ServiceError): End | null => (invalid.use(heardAt).excess > 0 ? endOf(error) : null);
  const answers = createFrameAnswers({ connection, routes, endsWith, endOfInvalid, writer, rateLimiter, clock, log });

  /** Leaves every state but `closing`; the domain is notified at once, not when the handshake is over. */
  function finish(code: number): boolean {
    const before = state;
    if (before.is === 'closing') return false;
    if (before.is === 'awaitingAuth') onKnown();
    state = { is: 'closing' };
    inbox.clear();
    outbox.flush();
    outbox.drop();
    if (before.is === 'open') {
      before.leavePlace();
      definition.closed(connection, code);
    }
    return true;
  }

  function close(code: CloseCode, reason: string): void {
    if (finish(code)) ws.close(code, reason);
  }

  async function authenticate(token: string, ref: string | null): Promise<void> {
    if (state.is !== 'awaitingAuth') return;
    state.isChecking = true;
    try {
      const session = await authenticatedSession(definition, token, visitor, deps);
      // The client may have disconnected by now.
      if (state.is === 'awaitingAuth') open(session);
    } catch (error) {
      answers.sendError(error, { id: ref }, endOf);
    }
  }

  function open(session: S): void {
    const leavePlace = claim(session);
    lastSession = session;
    state = { is: 'open', session, leavePlace, isExpiringSent: false };
    onKnown();
    onSooner();
    definition.opened(connection, hasFirst);
  }

  async function authenticateBy({ type, id, fields }: RawFrame): Promise<void> {
    const token = fields['token'];
    if (type === definition.authFrame && typeof token === 'string') return authenticate(token, id);
    answers.sendError(new ServiceError('SVC_UNAUTHENTICATED'), { id }, endOf);
  }

  // A function, because the compiler does not see that awaiting may change the state.
  function isOpen(): boolean {
    return state.is === 'open';
  }

  async function handle(frame: RawFrame): Promise<void> {
    if (state.is === 'awaitingAuth') await authenticateBy(frame);
    if (isOpen()) await answers.answer(frame);
  }

  function receive(bytes: Buffer): void {
    heardAt = clock.elapsed();
    if (state.is === 'closing') return;
    const heartbeat = state.is === 'open' ? readHeartbeat(bytes) : null;
    if (heartbeat) {
      if (mayPing()) outbox.write(pongFrame(heartbeat, clock.now()));
      return;
    }
    let frame: RawFrame;
    try {
      frame = readFrame(bytes);
    } catch (error) {
      // From somebody we do not know, one is enough.
      const isLast = malformed.use(heardAt).excess > 0 || state.is === 'awaitingAuth';
      answers.sendError(error, { id: null }, isLast ? endOf : undefined);
      return;
    }
    if (frame.type !== 'ping' || state.is !== 'open') admit(frame);
    else if (mayPing()) answers.pong(frame);
  }

  /** Of the address, which ws has not measured. */
  function receiveFirst(bytes: Buffer): void {
    if (bytes.length > definition.frameBytesMax) close(1009, 'FRAME_TOO_LARGE');
    else receive(bytes);
  }

  /** Closes a connection that sends too many. */
  function mayPing(): boolean {
    const { excess, remainingMs } = pings.use(heardAt);
    if (excess > 0) closeOverLimit(wholeSeconds(remainingMs));
    return excess === 0;
  }

  const closeOverLimit = (retryAfterSeconds: number): void =>
    close(4429, `RATE_LIMITED; retryAfter=${retryAfterSeconds}`);

  function admit(frame: RawFrame): void {
    const admission = inbox.push(frame, heardAt);
    if (admission.is === 'close') closeOverLimit(admission.retryAfterSeconds);
    else if (admission.is === 'warn') {
      const { retryAfterSeconds } = admission;
      answers.refuse(new ServiceError('SVC_RATE_LIMITED', { retryAfterSeconds }), frame);
    }
  }

  /** When the next tick can find something to do. */
  function dueAt({ now, elapsed }: Times): number {
    if (state.is === 'closing') return Number.POSITIVE_INFINITY;
    if (state.is === 'awaitingAuth') return Math.max(state.deadline, elapsed);
    const { session, isExpiringSent } = state;
    const tokenAt = session.expiresAt + (isExpiringSent ? clockLeewaySeconds * 1000 : -expiringBeforeMs);
    return Math.min(heardAt + definition.heartbeatTimeoutMs, elapsed + tokenAt - now);
  }

  ws.on('message', (data, isBinary) => {
    if (isBinary) close(4400, 'BINARY_FRAME');
    else receive(data as Buffer);
  });
  ws.on('ping', () => {
    heardAt = clock.elapsed();
  });
  // ws has already answered with the right close code (1002, 1007, 1009): only an unhandled event would hurt.
  ws.on('error', () => undefined);
  ws.on('close', (code) => {
    finish(code);
    onGone();
  });
  // In no closure: it is not kept for as long as the connection is open.
  if (token !== null) inbox.runFirst(authenticate(token, null));
  if (hasFirst) receiveFirst(Buffer.from(first));

  return {
    grant: () => (state.is === 'open' ? state.session : null),
    tick({ now, elapsed }) {
      if (state.is === 'awaitingAuth') {
        if (elapsed >= state.deadline && !state.isChecking) close(4408, 'AUTH_TIMEOUT');
      } else if (state.is === 'open') {
        const { expiresAt } = state.session;
        if (now >= expiresAt + clockLeewaySeconds * 1000) close(4401, 'TOKEN_EXPIRED');
        else if (elapsed - heardAt > definition.heartbeatTimeoutMs) close(4408, 'HEARTBEAT_LOST');
        else if (!state.isExpiringSent && now >= expiresAt - expiringBeforeMs) {
          state.isExpiringSent = true;
          definition.expiring(connection);
        }
      }
      return dueAt({ now, elapsed });
    },
    announceReconnect(afterMs) {
      if (state.is === 'open') definition.draining(connection, afterMs);
    },
    close,
    terminate: () => ws.terminate(),
  };
}

/** The session behind the token, if this visitor may open it. */
async function authenticatedSession<S extends SocketSession, V extends ServerFrameTable>(
  { authenticate, connectBudget }: Pick<Definition<S, V>, 'authenticate' | 'connectBudget'>,
  token: string,
  { origin }: Visitor,
  { rateLimiter, isOriginAllowed }: ConnectionDeps,
): Promise<S> {
  const session = await authenticate(token);
  if (origin !== null && !(await isOriginAllowed(session.projectId, origin))) fail('SVC_ORIGIN_NOT_ALLOWED');
  if (connectBudget) await rateLimiter.spendFor(connectBudget, session, session.subject);
  return session;
}

/** A client that cannot authenticate is closed with the code of the refusal. */
const endOf = (refusal: ServiceError): End => ({ code: closeCodeOf(refusal), reason: closeReason(refusal) });
