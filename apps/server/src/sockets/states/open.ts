import { fail, type ServerFrameTable, type ServiceError } from '@parley/contract';
import { FixedWindow } from '../../core/fixed-window.ts';
import { wholeSeconds } from '../../core/rate-limiter.ts';
import type { SocketSession } from '../../core/socket.ts';
import { clockLeewaySeconds } from '../../core/tokens.ts';
import type { Times } from '../deadlines.ts';
import { type RawFrame, readFrame } from '../frame-reader.ts';
import { pongFrame, readHeartbeat } from '../heartbeat.ts';
import { endOf, type Owner, type State, windowMsOf } from './state.ts';

const expiringBeforeMs = 60_000;

/** From `hello` on: frames are run, answered or refused; silence and the end of the token end the connection. */
export class Open<S extends SocketSession, V extends ServerFrameTable> implements State {
  readonly is = 'open';
  readonly #owner: Owner<S, V>;
  readonly #leavePlace: () => void;
  readonly #malformed: FixedWindow;
  readonly #invalid: FixedWindow;
  readonly #pings: FixedWindow;
  #isExpiringSent = false;

  constructor(owner: Owner<S, V>, leavePlace: () => void) {
    this.#owner = owner;
    this.#leavePlace = leavePlace;
    const windowMs = windowMsOf(owner.deps.limits);
    this.#malformed = new FixedWindow(windowMs);
    this.#invalid = new FixedWindow(windowMs);
    this.#pings = new FixedWindow(windowMs);
  }

  receive(bytes: Buffer): void {
    const heartbeat = readHeartbeat(bytes);
    if (heartbeat) {
      const { connection, deps } = this.#owner;
      if (this.#mayPing()) connection.outlet.write(pongFrame(heartbeat, deps.clock.now()));
      return;
    }
    let frame: RawFrame;
    try {
      frame = readFrame(bytes);
    } catch (error) {
      const { heardAt, deps } = this.#owner;
      const isLast = this.#malformed.use(heardAt) > deps.limits.SOCKETS_MAX_MALFORMED_FRAMES;
      this.#owner.sendError(error, { id: null }, isLast ? endOf : undefined);
      return;
    }
    if (frame.type !== 'ping') this.#owner.admit(frame);
    else if (this.#mayPing()) this.#pong(frame);
  }

  /** Closes a connection that sends too many. */
  #mayPing(): boolean {
    const { heardAt, deps } = this.#owner;
    const may = this.#pings.use(heardAt) <= deps.limits.SOCKETS_MAX_PINGS;
    if (!may) this.#owner.closeOverLimit(wholeSeconds(this.#pings.remainingMs(heardAt)));
    return may;
  }

  /** Of `commonClientFrames`, with any `t`: it proves that both ends are alive, however long the inbox is. */
  #pong({ id, fields }: RawFrame): void {
    const { writer, deps } = this.#owner;
    writer.send('pong', { t: fields['t'], serverTime: deps.clock.now() });
    writer.reply(id, undefined);
  }

  async handle(frame: RawFrame): Promise<void> {
    // One that came while the token was checked.
    if (frame.type === 'ping') return this.#pong(frame);
    const work = this.#prepare(frame);
    if (!work) return;
    const { connection, writer, deps } = this.#owner;
    try {
      if (work.budget) await deps.rateLimiter.spendFor(work.budget, connection.session, connection.session.subject);
      writer.reply(frame.id, await work.run(connection));
    } catch (error) {
      this.#owner.refuse(error, frame);
    }
  }

  /** What the frame asks for; null when it asks for nothing we know, and was refused. */
  #prepare(frame: RawFrame) {
    try {
      const route = this.#owner.routes.get(frame.type) ?? fail('SVC_UNKNOWN_FRAME');
      return { budget: route.budget, run: route.read(frame.fields) };
    } catch (error) {
      this.#owner.refuse(error, frame, (refusal) => this.#endOfInvalid(refusal));
      return null;
    }
  }

  /** A client that sends too many frames of unknown type or with invalid fields is cut off. */
  #endOfInvalid(refusal: ServiceError) {
    const { heardAt, deps } = this.#owner;
    return this.#invalid.use(heardAt) > deps.limits.SOCKETS_MAX_INVALID_FRAMES ? endOf(refusal) : null;
  }

  /** A fresh credential: its end is announced anew. */
  renew(): void {
    this.#isExpiringSent = false;
  }

  tick({ now, elapsed }: Times): void {
    const owner = this.#owner;
    const { definition, connection, heardAt } = owner;
    const { expiresAt } = connection.session;
    if (now >= expiresAt + clockLeewaySeconds * 1000) owner.close(4401, 'TOKEN_EXPIRED');
    else if (elapsed - heardAt > definition.heartbeatTimeoutMs) owner.close(4408, 'HEARTBEAT_LOST');
    else if (!this.#isExpiringSent && now >= expiresAt - expiringBeforeMs) {
      this.#isExpiringSent = true;
      definition.expiring(connection);
    }
  }

  dueAt({ now, elapsed }: Times): number {
    const { definition, connection, heardAt } = this.#owner;
    const tokenAt =
      connection.session.expiresAt + (this.#isExpiringSent ? clockLeewaySeconds * 1000 : -expiringBeforeMs);
    return Math.min(heardAt + definition.heartbeatTimeoutMs, elapsed + tokenAt - now);
  }

  leave(code: number): void {
    this.#leavePlace();
    this.#owner.definition.closed(this.#owner.connection, code);
  }
}
