import type { ClientFrameRow, CloseCode, FrameData, LimitName, ServiceError } from '@parley/contract';
import type { ProjectScope } from './caller.ts';

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

/** Who is behind an authenticated connection. */
export interface SocketSession extends ProjectScope {
  /** Whom the budgets of frames and connections are counted for. */
  subject: string;
  /** When the credential ends, in epoch milliseconds. */
  expiresAt: number;
}

/** What a domain may do with one of its connections. Every call is harmless once the connection is closing. */
export interface Connection<S extends SocketSession> {
  readonly id: string;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly connectedAt: number;
  /** Of now: `renew` replaces it. */
  readonly session: S;
  /** When the client was last heard of. */
  readonly lastSeenAt: number;
  readonly isOpen: boolean;
  /** Bytes that have not left this process. */
  readonly queuedBytes: number;
  /** Queues a frame that others get too. */
  write(frame: SocketFrame): void;
  /** Queues a frame for this connection alone; `ts` is added. */
  send(type: string, fields: object): void;
  /** The same person with a fresh credential. */
  renew(session: S): void;
  close(code: CloseCode, reason: string): void;
}

export type ClientFrameTable = Readonly<Record<string, ClientFrameRow>>;

/** An answer that something must follow at once: `afterwards` runs when the answer is queued, before anything else is. */
export class ReplyThen {
  readonly data: object;
  readonly afterwards: () => void;

  constructor(data: object, afterwards: () => void) {
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
export type FrameReply = object | ReplyThen | ReplyJson | undefined;

export type FrameHandler<S extends SocketSession, R extends ClientFrameRow> = (
  connection: Connection<S>,
  frame: FrameData<R>,
) => Promise<FrameReply>;

export type FrameHandlers<S extends SocketSession, F extends ClientFrameTable> = {
  readonly [K in keyof F]: FrameHandler<S, F[K]>;
};

/** One socket of the service: what its domain decides. The life of a connection around it is the same for all. */
export interface SocketDefinition<S extends SocketSession, F extends ClientFrameTable> {
  path: string;
  subprotocol: string;
  frames: F;
  handlers: FrameHandlers<S, F>;
  /** The frame whose `token` field authenticates when the upgrade carried no token. */
  authFrame: keyof F & string;
  /** Type of the frame that answers a frame with an `id`. */
  replyType: 'ack' | 'response';
  frameBytesMax: number;
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
  /** Right after authentication, before any frame is handled: says hello. */
  opened(connection: Connection<S>): void;
  /** The credential ends within a minute. */
  expiring(connection: Connection<S>): void;
  /** This process stops soon: says when to come back to another one. */
  draining(connection: Connection<S>, afterMs: number): void;
  /** Called once for every connection that was opened. */
  closed(connection: Connection<S>, code: number): void;
}

/** A definition as the sockets hold it: which session and frames it is for is its own affair. */
export interface AnySocket {
  readonly path: string;
  readonly definition: SocketDefinition<SocketSession, ClientFrameTable>;
}

/** Forgets the types that only the definition's own functions need. */
export const socket = <S extends SocketSession, F extends ClientFrameTable>(
  definition: SocketDefinition<S, F>,
): AnySocket => ({
  path: definition.path,
  // A definition only ever gets back sessions it made and frames its own table validated.
  definition: definition as unknown as SocketDefinition<SocketSession, ClientFrameTable>,
});
