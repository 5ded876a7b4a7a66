import { type CloseCode, fail, type ServerFrameTable, ServiceError } from '@parley/contract';
import type { WebSocket } from 'ws';
import { toServiceError } from '../core/faults.ts';
import type { Grant } from '../core/grant.ts';
import type { SocketSession } from '../core/socket.ts';
import type { Timed, Times } from './deadlines.ts';
import type { FrameRoute, RawFrame } from './frame-reader.ts';
import { OutboxWriter } from './frame-writer.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { type Life, OpenConnection } from './open-connection.ts';
import type { Outbox } from './outbox.ts';
import { errorFields } from './socket-errors.ts';
import { AwaitingAuth } from './states/awaiting-auth.ts';
import { closing } from './states/closing.ts';
import { Open } from './states/open.ts';
import {
  type ConnectionDeps,
  type Definition,
  type EndOf,
  type Owner,
  type Visitor,
  windowMsOf,
} from './states/state.ts';
import type { Offer } from './upgrade.ts';

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

export function createConnection<S extends SocketSession, V extends ServerFrameTable>(
  definition: Definition<S, V>,
  routes: ReadonlyMap<string, FrameRoute<S, V>>,
  wire: Wire,
  visitor: Visitor,
  offer: Pick<Offer, 'token' | 'first'>,
  deps: ConnectionDeps,
): LiveConnection {
  return new SocketConnection(definition, routes, wire, visitor, offer, deps);
}

/**
 * The life of one connection: what outlasts its states, and the way from one to the next. What comes is handled by the
 * state. A class, as its states are: a closure for each function is most of what an idle socket takes (ADR 175).
 */
class SocketConnection<S extends SocketSession, V extends ServerFrameTable>
  implements LiveConnection, Life<S>, Owner<S, V>
{
  readonly definition: Definition<S, V>;
  readonly routes: ReadonlyMap<string, FrameRoute<S, V>>;
  readonly deps: ConnectionDeps;
  readonly connection: OpenConnection<S, V>;
  readonly writer: OutboxWriter;
  readonly #wire: Wire;
  readonly #outbox: Outbox;
  readonly #inbox: Inbox;
  state: AwaitingAuth<S, V> | Open<S, V> | typeof closing;
  heardAt: number;
  /** Kept after the end: handlers that are still running may read it. */
  #session: S | null = null;

  constructor(
    definition: Definition<S, V>,
    routes: ReadonlyMap<string, FrameRoute<S, V>>,
    wire: Wire,
    visitor: Visitor,
    { token, first }: Pick<Offer, 'token' | 'first'>,
    deps: ConnectionDeps,
  ) {
    const { clock, limits } = deps;
    const { ws } = wire;
    this.definition = definition;
    this.routes = routes;
    this.deps = deps;
    this.heardAt = clock.elapsed();
    this.#wire = wire;
    this.#outbox = wire.createOutbox(() => this.close(4408, 'SLOW_CONSUMER'));
    this.writer = new OutboxWriter(this.#outbox, clock, definition.replyType);
    this.#inbox = createInbox({
      ws,
      outbox: this.#outbox,
      frameBudget: definition.frameBudget ? limits[definition.frameBudget] : null,
      windowMs: windowMsOf(limits),
      handle: (frame) => this.state.handle(frame),
    });
    this.connection = new OpenConnection<S, V>(visitor, clock.now(), this.#outbox, this.writer, this);
    const ownFirst = definition.takesFirst === true ? first : null;
    const awaiting = new AwaitingAuth<S, V>(this, visitor, ownFirst !== null, wire.onKnown);
    this.state = awaiting;
    this.#listen(ws);
    // In no closure: it is not kept for as long as the connection is open.
    if (token !== null) this.#inbox.runFirst(awaiting.authenticate(token, null));
    if (ownFirst !== null) this.#receiveFirst(Buffer.from(ownFirst));
  }

  #listen(ws: WebSocket): void {
    ws.on('message', (data, isBinary) => {
      if (isBinary) this.close(4400, 'BINARY_FRAME');
      else this.#receive(data as Buffer);
    });
    ws.on('ping', () => {
      this.heardAt = this.deps.clock.elapsed();
    });
    ws.on('error', ignoreFailed);
    ws.on('close', (code) => {
      this.#finish(code);
      this.#wire.onGone();
    });
  }

  #receive(bytes: Buffer): void {
    this.heardAt = this.deps.clock.elapsed();
    this.state.receive(bytes);
  }

  /** Of the address, which ws has not measured. */
  #receiveFirst(bytes: Buffer): void {
    if (bytes.length > this.definition.frameBytesMax) this.close(1009, 'FRAME_TOO_LARGE');
    else this.#receive(bytes);
  }

  admit(frame: RawFrame): void {
    const admission = this.#inbox.push(frame, this.heardAt);
    if (admission.is === 'close') this.closeOverLimit(admission.retryAfterSeconds);
    else if (admission.is === 'warn') {
      const { retryAfterSeconds } = admission;
      this.refuse(new ServiceError('SVC_RATE_LIMITED', { retryAfterSeconds }), frame);
    }
  }

  open(session: S, hasFirst: boolean): void {
    const { claim, onKnown, onSooner } = this.#wire;
    const leavePlace = claim(session);
    this.#session = session;
    this.state = new Open<S, V>(this, leavePlace);
    onKnown();
    onSooner();
    this.definition.opened(this.connection, hasFirst);
  }

  /** Leaves every state but `closing`; the domain is notified at once, not when the handshake is over. */
  #finish(code: number): boolean {
    const { state } = this;
    if (state.is === 'closing') return false;
    this.state = closing;
    this.#inbox.clear();
    this.#outbox.flush();
    this.#outbox.drop();
    state.leave(code);
    return true;
  }

  close(code: CloseCode, reason: string): void {
    if (this.#finish(code)) this.#wire.ws.close(code, reason);
  }

  closeOverLimit(retryAfterSeconds: number): void {
    this.close(4429, `RATE_LIMITED; retryAfter=${retryAfterSeconds}`);
  }

  terminate(): void {
    this.#wire.ws.terminate();
  }

  refuse(error: unknown, frame: RawFrame, orEnd?: EndOf): void {
    const { definition } = this;
    this.sendError(error, frame, (refusal) => definition.endsWith?.(frame.type, refusal) ?? orEnd?.(refusal) ?? null);
  }

  sendError(error: unknown, { type, id }: { type?: string; id: string | null }, endOf?: EndOf): void {
    const refusal = toServiceError(error);
    if (refusal.code === 'SVC_INTERNAL') {
      const fields = { error, frame: type, connectionId: this.connection.id };
      this.deps.log.error(fields, 'frame or authentication failed');
    }
    const end = endOf?.(refusal) ?? null;
    this.writer.send('error', errorFields(refusal, id, end !== null));
    if (end) this.close(end.code, end.reason);
  }

  session(): S {
    // Handlers run only after authentication.
    return this.#session ?? fail('SVC_UNAUTHENTICATED');
  }

  lastSeenAt(): number {
    const { clock } = this.deps;
    return clock.now() - (clock.elapsed() - this.heardAt);
  }

  isOpen(): boolean {
    return this.state.is === 'open';
  }

  renew(session: S): void {
    this.#session = session;
    if (this.state.is !== 'open') return;
    this.state.renew();
    this.#wire.onSooner();
  }

  grant(): Grant | null {
    return this.isOpen() ? this.#session : null;
  }

  announceReconnect(afterMs: number): void {
    if (this.isOpen()) this.definition.draining(this.connection, afterMs);
  }

  tick(times: Times): number {
    this.state.tick(times);
    // It may be another state by now.
    return this.state.dueAt(times);
  }
}

// ws has already answered with the right close code (1002, 1007, 1009): only an unhandled event would hurt.
function ignoreFailed(): void {}
