import type { CloseCode, FrameFields, ServerFrameTable } from '@parley/contract';
import type { Connection, SocketFrame, SocketSession } from '../core/socket.ts';
import type { FrameWriter } from './frame-writer.ts';
import type { Outbox } from './outbox.ts';

/** What only the life of the connection knows. */
export interface Life<S extends SocketSession> {
  session(): S;
  lastSeenAt(): number;
  isOpen(): boolean;
  renew(session: S): void;
  close(code: CloseCode, reason: string): void;
}

/**
 * A connection as handlers see it. A class for its getters: an object with getters of its own is a dictionary to V8, of
 * half a kilobyte and slow to look up (ADR 175).
 */
export class OpenConnection<S extends SocketSession, V extends ServerFrameTable> implements Connection<S, V> {
  readonly id: string;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly connectedAt: number;
  readonly outlet: Outbox;
  readonly #writer: FrameWriter;
  readonly #life: Life<S>;

  constructor(
    { connectionId, ip, userAgent }: { connectionId: string; ip: string; userAgent: string | null },
    connectedAt: number,
    outbox: Outbox,
    writer: FrameWriter,
    life: Life<S>,
  ) {
    this.id = connectionId;
    this.ip = ip;
    this.userAgent = userAgent;
    this.connectedAt = connectedAt;
    this.outlet = outbox;
    this.#writer = writer;
    this.#life = life;
  }

  get session(): S {
    return this.#life.session();
  }

  get lastSeenAt(): number {
    return this.#life.lastSeenAt();
  }

  get isOpen(): boolean {
    return this.#life.isOpen();
  }

  get queuedBytes(): number {
    return this.outlet.queuedBytes;
  }

  write(frame: SocketFrame): void {
    this.outlet.write(frame);
  }

  send<K extends keyof V & string>(type: K, fields: FrameFields<V[K]>): void {
    this.#writer.send(type, fields);
  }

  renew(session: S): void {
    this.#life.renew(session);
  }

  close(code: CloseCode, reason: string): void {
    this.#life.close(code, reason);
  }
}
