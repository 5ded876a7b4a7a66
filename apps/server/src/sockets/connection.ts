import { type CloseCode, fail, type Limits, ServiceError } from '@parley/contract';
import type { WebSocket } from 'ws';
import type { Budgets } from '../core/budgets.ts';
import type { Clock } from '../core/clock.ts';
import { toServiceError } from '../core/faults.ts';
import type { Log } from '../core/log.ts';
import {
  type ClientFrameTable,
  type Connection,
  type FrameReply,
  frameText,
  ReplyJson,
  ReplyThen,
  type SocketDefinition,
  type SocketSession,
} from '../core/socket.ts';
import { clockLeewaySeconds } from '../core/tokens.ts';
import { type FrameRoute, type RawFrame, readFrame } from './frame-reader.ts';
import { type Outbox, queuedBytesMax } from './outbox.ts';
import { closeCodeOf, closeReason, errorFields } from './socket-errors.ts';

type State =
  | { name: 'awaitingAuth'; deadline: number; isChecking: boolean }
  | { name: 'open'; session: SocketSession; isExpiringTold: boolean }
  | { name: 'closing' };

export interface ConnectionDeps {
  clock: Clock;
  log: Log;
  limits: Limits;
  budgets: Budgets;
  isOriginAllowed: (projectId: string, origin: string) => Promise<boolean>;
}

/** What the upgrade knew of the client. */
export interface Visitor {
  connectionId: string;
  ip: string;
  userAgent: string | null;
  origin: string | null;
  token: string | null;
}

export interface Wire {
  ws: WebSocket;
  createOutbox: (onOverflow: () => void) => Outbox;
  /** Called once, when it is known who this is or the connection ended without. */
  onKnown: () => void;
  /** Takes a place for whoever it is, or SVC_RATE_LIMITED; gives back how to leave it. */
  claim: (session: SocketSession) => () => void;
  /** Called once, when the network connection is gone. */
  onGone: () => void;
}

/** A connection as the sockets hold it. */
export interface LiveConnection {
  /** Whose it is; null before authentication and after the end. */
  readonly projectId: string | null;
  /** Deadlines: authentication, heartbeat, expiry. Called about once a second. */
  tick(times: { now: number; elapsed: number }): void;
  /** Tells the client to come back elsewhere. */
  announceReconnect(afterMs: number): void;
  close(code: CloseCode, reason: string): void;
  terminate(): void;
}

const authTimeoutMs = 5_000;
const expiringBeforeMs = 60_000;
/** Frames read ahead of the one being handled; more stay in the network. */
const inboxMax = 32;
/** Frames over budget that are forgiven before the connection is closed. */
const strikesMax = 20;

export function createConnection(
  definition: SocketDefinition<SocketSession, ClientFrameTable>,
  routes: ReadonlyMap<string, FrameRoute>,
  { ws, createOutbox, onKnown, claim, onGone }: Wire,
  visitor: Visitor,
  { clock, log, limits, budgets, isOriginAllowed }: ConnectionDeps,
): LiveConnection {
  const connectedAt = clock.now();
  let heardAt = clock.elapsed();
  let state: State = { name: 'awaitingAuth', deadline: heardAt + authTimeoutMs, isChecking: false };
  /** Kept after the end: handlers that were running may still ask who it was. */
  let lastSession: SocketSession | null = null;
  let leavePlace = (): void => {};
  const inbox: RawFrame[] = [];
  let isWorking = false;
  const meter = createMeter(definition.frameBudget ? limits[definition.frameBudget] : null, limits);
  const outbox = createOutbox(() => close(4408, 'SLOW_CONSUMER'));

  const send = (type: string, fields: object): void =>
    outbox.write(frameText(JSON.stringify({ type, ...fields, ts: clock.now() })));

  const connection: Connection<SocketSession> = {
    id: visitor.connectionId,
    ip: visitor.ip,
    userAgent: visitor.userAgent,
    connectedAt,
    get session() {
      // Handlers run only after authentication.
      return lastSession ?? fail('SVC_UNAUTHENTICATED');
    },
    get lastSeenAt() {
      return clock.now() - (clock.elapsed() - heardAt);
    },
    get isOpen() {
      return state.name === 'open';
    },
    get queuedBytes() {
      return outbox.queuedBytes;
    },
    write: outbox.write,
    send,
    renew(session) {
      lastSession = session;
      if (state.name === 'open') state = { name: 'open', session, isExpiringTold: false };
    },
    close,
  };

  /** Leaves every state but `closing`; the domain hears of it at once, not when the handshake is over. */
  function finish(code: number): boolean {
    if (state.name === 'closing') return false;
    const wasOpen = state.name === 'open';
    if (!wasOpen) onKnown();
    state = { name: 'closing' };
    inbox.length = 0;
    // A paused reader would never see the client's half of the closing handshake.
    if (ws.isPaused) ws.resume();
    outbox.flush();
    outbox.drop();
    leavePlace();
    if (wasOpen) definition.closed(connection, code);
    return true;
  }

  function close(code: CloseCode, reason: string): void {
    if (finish(code)) ws.close(code, reason);
  }

  function refuse(error: unknown, ref: string | null): void {
    const refusal = toServiceError(error);
    if (refusal.code === 'SVC_INTERNAL') log.error({ error, connectionId: visitor.connectionId }, 'socket refused');
    send('error', errorFields(refusal, ref, true));
    close(closeCodeOf(refusal), closeReason(refusal));
  }

  async function authenticate(token: string, ref: string | null): Promise<void> {
    if (state.name !== 'awaitingAuth') return;
    state.isChecking = true;
    try {
      const session = await definition.authenticate(token);
      const { origin } = visitor;
      if (origin !== null && !(await isOriginAllowed(session.projectId, origin))) fail('SVC_ORIGIN_NOT_ALLOWED');
      if (definition.connectBudget) await budgets.spend(definition.connectBudget, session, session.subject);
      // The client may have gone while we asked.
      if (state.name !== 'awaitingAuth') return;
      leavePlace = claim(session);
      lastSession = session;
      state = { name: 'open', session, isExpiringTold: false };
      onKnown();
      definition.opened(connection);
    } catch (error) {
      refuse(error, ref);
    }
  }

  async function answer({ type, id, fields }: RawFrame): Promise<void> {
    try {
      const route = routes.get(type) ?? fail('SVC_UNKNOWN_FRAME');
      const frame = route.parse(fields);
      if (route.budget) await budgets.spend(route.budget, connection.session, connection.session.subject);
      reply(id, await route.run(connection, frame));
    } catch (error) {
      tellError(error, id, type);
    }
  }

  function reply(ref: string | null, answer: FrameReply): void {
    const data = answer instanceof ReplyThen ? answer.data : answer;
    if (ref !== null && data instanceof ReplyJson) {
      const type = definition.replyType;
      outbox.write(
        frameText(`{"type":"${type}","ref":${JSON.stringify(ref)},"data":${data.text},"ts":${clock.now()}}`),
      );
    } else if (ref !== null) send(definition.replyType, data === undefined ? { ref } : { ref, data });
    if (answer instanceof ReplyThen) answer.afterwards();
  }

  function tellError(error: unknown, ref: string | null, type: string | null): void {
    const told = toServiceError(error);
    if (told.code === 'SVC_INTERNAL')
      log.error({ error, frame: type, connectionId: visitor.connectionId }, 'frame failed');
    const end = type === null ? null : (definition.endsWith?.(type, told) ?? null);
    send('error', errorFields(told, ref, end !== null));
    if (end) close(end.code, end.reason);
  }

  /** One frame after the other: a client's own order is kept, and its work is bounded. */
  async function work(): Promise<void> {
    isWorking = true;
    for (let frame = inbox.shift(); frame; frame = inbox.shift()) {
      if (ws.isPaused && inbox.length < inboxMax / 2) ws.resume();
      // Whoever reads slowly is answered slowly: what it asked for itself must not make it a slow consumer.
      if (outbox.queuedBytes > queuedBytesMax / 2) await outbox.drained();
      if (state.name === 'awaitingAuth') await authenticateBy(frame);
      if (isOpen()) await answer(frame);
    }
    isWorking = false;
  }

  // A function, because the compiler does not see that awaiting may change the state.
  const isOpen = (): boolean => state.name === 'open';

  async function authenticateBy({ type, id, fields }: RawFrame): Promise<void> {
    const token = fields['token'];
    if (type === definition.authFrame && typeof token === 'string') return authenticate(token, id);
    send('error', errorFields(new ServiceError('SVC_UNAUTHENTICATED'), id, true));
    close(4401, 'UNAUTHENTICATED');
  }

  function receive(bytes: Buffer): void {
    heardAt = clock.elapsed();
    if (state.name === 'closing') return;
    let frame: RawFrame;
    try {
      frame = readFrame(bytes);
    } catch (error) {
      tellError(error, null, null);
      return;
    }
    if (frame.type === 'ping' && state.name === 'open') {
      void answer(frame);
      return;
    }
    const verdict = meter.count(heardAt);
    if (verdict.is === 'close') close(4429, `RATE_LIMITED; retryAfter=${verdict.retryAfterSeconds}`);
    else if (verdict.is === 'warn') {
      tellError(
        new ServiceError('SVC_RATE_LIMITED', { retryAfterSeconds: verdict.retryAfterSeconds }),
        frame.id,
        frame.type,
      );
    } else if (verdict.is === 'accept') {
      inbox.push(frame);
      if (inbox.length >= inboxMax) ws.pause();
      if (!isWorking) void work();
    }
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

  if (visitor.token !== null) {
    // Frames may arrive while the token is checked: they wait in the inbox.
    isWorking = true;
    void authenticate(visitor.token, null).then(work);
  }

  return {
    get projectId() {
      return state.name === 'open' ? state.session.projectId : null;
    },
    tick({ now, elapsed }) {
      if (state.name === 'awaitingAuth') {
        if (elapsed >= state.deadline && !state.isChecking) close(4408, 'AUTH_TIMEOUT');
      } else if (state.name === 'open') {
        const { expiresAt } = state.session;
        if (now >= expiresAt + clockLeewaySeconds * 1000) close(4401, 'TOKEN_EXPIRED');
        else if (elapsed - heardAt > definition.heartbeatTimeoutMs) close(4408, 'HEARTBEAT_LOST');
        else if (!state.isExpiringTold && now >= expiresAt - expiringBeforeMs) {
          state.isExpiringTold = true;
          definition.expiring(connection);
        }
      }
    },
    announceReconnect(afterMs) {
      if (state.name === 'open') definition.draining(connection, afterMs);
    },
    close,
    terminate: () => ws.terminate(),
  };
}

type Verdict = { is: 'accept' | 'ignore' } | { is: 'warn' | 'close'; retryAfterSeconds: number };

/** Frames of one connection in a fixed window: over the limit one warning, then silence, then the end. */
function createMeter(limit: number | null, limits: Limits): { count(now: number): Verdict } {
  const windowMs = limits.RATE_LIMIT_WINDOW_SECONDS * 1000;
  let count = 0;
  let until = 0;

  return {
    count(now) {
      if (limit === null) return { is: 'accept' };
      if (now >= until) {
        count = 0;
        until = now + windowMs;
      }
      count++;
      const retryAfterSeconds = Math.max(1, Math.ceil((until - now) / 1000));
      if (count <= limit) return { is: 'accept' };
      if (count === limit + 1) return { is: 'warn', retryAfterSeconds };
      return count > limit + strikesMax ? { is: 'close', retryAfterSeconds } : { is: 'ignore' };
    },
  };
}
