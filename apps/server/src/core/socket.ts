import type {
  ClientFrameRow,
  ClientFrameTable,
  CloseCode,
  FrameData,
  FrameFields,
  LimitName,
  ReplyTo,
  ServerFrameTable,
  ServiceError,
} from '@parley/contract';
import type { Grant } from './grant.ts';

/** A whole WebSocket text frame, built once and written to every socket that gets it. */
export type SocketFrame = Buffer;

const finalText = 0x81;

/** Frames `text` as RFC 6455 has a server do it: final, text, unmasked. */
export function frameText(text: string): SocketFrame {
  const size = Buffer.byteLength(text);
  const headerSize = size < 126 ? 2 : size < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerSize + size);
  frame[0] = finalText;
  if (headerSize === 2) frame[1] = size;
  else if (headerSize === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(size, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(size), 2);
  }
  frame.write(text, headerSize);
  return frame;
}

/** Who is behind an authenticated connection, and by which token. */
export interface SocketSession extends Grant {
  /** The subject that budgets of frames and connections are counted for. */
  subject: string;
  /** When the credential ends, in epoch milliseconds. */
  expiresAt: number;
}

/** Where frames to one connection are queued. */
export interface Outlet {
  write(frame: SocketFrame): void;
}

/** What a domain may do with one of its connections. Every call is harmless once the connection is closing. */
export interface Connection<S extends SocketSession, F extends ServerFrameTable = ServerFrameTable> {
  readonly id: string;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly connectedAt: number;
  /** Of now: `renew` replaces it. */
  readonly session: S;
  /** When the last frame of the client arrived. */
  readonly lastSeenAt: number;
  readonly isOpen: boolean;
  /** Bytes that have not left this process. */
  readonly queuedBytes: number;
  /** What `write` leads to, the same for as long as the connection lives: for who writes to thousands at once. */
  readonly outlet: Outlet;
  /** Queues a frame that others get too. */
  write(frame: SocketFrame): void;
  /** Queues a frame for this connection alone; `ts` is added. */
  send<K extends keyof F & string>(type: K, fields: FrameFields<F[K]>): void;
  /** The same person with a fresh credential. */
  renew(session: S): void;
  close(code: CloseCode, reason: string): void;
}

/** An answer that something must follow at once: `afterwards` runs when the answer is queued, before anything else is. */
export class ReplyThen<D = unknown> {
  readonly data: D;
  readonly afterwards: () => void;

  constructor(data: D, afterwards: () => void) {
    this.data = data;
    this.afterwards = afterwards;
  }
}

/** The `data` of an answer that is JSON already. */
export class ReplyJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a frame's handler gives back becomes the `data` of the answer. */
export type FrameReply<R extends ClientFrameRow> = ReplyTo<R> | ReplyThen<ReplyTo<R>> | ReplyJson;

export type FrameHandler<S extends SocketSession, R extends ClientFrameRow, V extends ServerFrameTable> = (
  connection: Connection<S, V>,
  frame: FrameData<R>,
) => Promise<FrameReply<R>>;

/** A handler for every row: one that is forgotten does not compile. */
export type FrameHandlers<S extends SocketSession, F extends ClientFrameTable, V extends ServerFrameTable> = {
  readonly [K in keyof F]: FrameHandler<S, F[K], V>;
};

/** One socket of the service: what its domain decides. The life of a connection around it is the same for all. */
export interface SocketDefinition<
  S extends SocketSession,
  F extends ClientFrameTable = ClientFrameTable,
  V extends ServerFrameTable = ServerFrameTable,
> {
  path: string;
  subprotocol: string;
  frames: F;
  handlers: FrameHandlers<S, F, V>;
  /** The frame whose `token` field authenticates when the upgrade carried no token. */
  authFrame: keyof F & string;
  /** Type of the frame that answers a frame with an `id`. */
  replyType: 'ack' | 'response';
  frameBytesMax: number;
  /** Whether the upgrade request may carry the first frame, as `?first=`. */
  takesFirst?: true;
  heartbeatTimeoutMs: number;
  /** Connection attempts per window and address, counted before anything else. */
  attemptBudget?: LimitName;
  /** Connections per window and subject, counted after authentication. */
  connectBudget?: LimitName;
  /** Frames per window and connection, whatever their type; pings are free. A client that goes on is closed with 4429. */
  frameBudget?: LimitName;
  /** How the connection ends after a frame was refused; null or nothing when it goes on. */
  endsWith?(type: string, error: ServiceError): { code: CloseCode; reason: string } | null;
  /** The session behind a token, or SVC_INVALID_TOKEN and the like. */
  authenticate(token: string): Promise<S>;
  /** Right after authentication, before any frame is handled: sends `hello`. */
  opened(connection: Connection<S, V>, hasFirst: boolean): void;
  /** The credential ends within a minute. */
  expiring(connection: Connection<S, V>): void;
  /** This process stops soon: sends when to reconnect to another one. */
  draining(connection: Connection<S, V>, afterMs: number): void;
  /** Called once for every connection that was opened. */
  closed(connection: Connection<S, V>, code: number): void;
}

/** Something that works for the definition of any socket. */
type UseDefinition<R> = <S extends SocketSession, F extends ClientFrameTable, V extends ServerFrameTable>(
  definition: SocketDefinition<S, F, V>,
) => R;

/** A definition whose types only its own domain knows. */
export interface AnySocket {
  readonly path: string;
  use<R>(work: UseDefinition<R>): R;
}

export const socket = <S extends SocketSession, F extends ClientFrameTable, V extends ServerFrameTable>(
  definition: SocketDefinition<S, F, V>,
): AnySocket => ({ path: definition.path, use: (work) => work(definition) });
