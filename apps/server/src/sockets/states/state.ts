import type { CloseCode, Limits, ServerFrameTable, ServiceError } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { RateLimiter } from '../../core/rate-limiter.ts';
import type { Connection, SocketDefinition, SocketSession } from '../../core/socket.ts';
import type { Times } from '../deadlines.ts';
import type { FrameRoute, RawFrame } from '../frame-reader.ts';
import type { FrameWriter } from '../frame-writer.ts';
import { closeCodeOf, closeReason } from '../socket-errors.ts';

/** What a connection does with what happens to it, for as long as it is in this state. */
export interface State {
  readonly is: 'awaitingAuth' | 'open' | 'closing';
  /** Bytes of the client, as they come. */
  receive(bytes: Buffer): void;
  /** A frame whose turn it is. Never throws. */
  handle(frame: RawFrame): Promise<void>;
  tick(times: Times): void;
  /** When the next tick can find something to do. */
  dueAt(times: Times): number;
  /** The connection is closing from now on. */
  leave(code: number): void;
}

/** The connection, as its states see it. */
export interface Owner<S extends SocketSession, V extends ServerFrameTable> {
  readonly definition: Definition<S, V>;
  readonly routes: ReadonlyMap<string, FrameRoute<S, V>>;
  readonly deps: ConnectionDeps;
  readonly connection: Connection<S, V>;
  readonly writer: FrameWriter;
  readonly state: State;
  /** When the client was last heard. */
  readonly heardAt: number;
  /** Queues a frame until its turn, or closes a connection that sends too many. */
  admit(frame: RawFrame): void;
  open(session: S, hasFirst: boolean): void;
  /** Without an end the connection goes on. */
  sendError(error: unknown, about: { type?: string; id: string | null }, endOf?: EndOf): void;
  /** Of a frame: its domain says how the connection ends, else `orEnd`. */
  refuse(error: unknown, frame: RawFrame, orEnd?: EndOf): void;
  close(code: CloseCode, reason: string): void;
  closeOverLimit(retryAfterSeconds: number): void;
}

/** What of a definition the life of a connection needs; its frames are in the routes. */
export type Definition<S extends SocketSession, V extends ServerFrameTable> = Omit<
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

/** How a connection ends. */
interface End {
  code: CloseCode;
  reason: string;
}

export type EndOf = (refusal: ServiceError) => End | null;

/** With the code of the refusal: who cannot authenticate, or sends too much that nobody understands. */
export const endOf = (refusal: ServiceError): End => ({ code: closeCodeOf(refusal), reason: closeReason(refusal) });

export const windowMsOf = ({ RATE_LIMIT_WINDOW_SECONDS }: Limits): number => RATE_LIMIT_WINDOW_SECONDS * 1000;
