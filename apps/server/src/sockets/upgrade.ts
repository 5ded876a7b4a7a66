import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ServiceError } from '@parley/contract';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SocketDefinition, SocketSession } from '../core/socket.ts';

/** How a refusal looks before there is a WebSocket; the same words as every other HTTP answer. */
export type Refuse = (
  error: ServiceError,
  requestId: string,
  path: string,
) => { status: number; headers: Record<string, string>; body: object };

/** Answers an upgrade request with an error envelope and ends the connection. */
export function answerUpgrade(
  socket: Duplex,
  error: ServiceError,
  requestId: string,
  path: string,
  refuse: Refuse,
): void {
  const { status, headers, body } = refuse(error, requestId, path);
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    'x-request-id': requestId,
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
}

/** What the address and the subprotocols of an upgrade say. */
export interface Offer {
  path: string;
  protocols: readonly string[];
  /** From `bearer.<token>` among the subprotocols, else from `?token=`. */
  token: string | null;
  /** The client's first frame, from `?first=`: it saves a round trip. */
  first: string | null;
}

export function readOffer({ url = '/', headers }: IncomingMessage): Offer {
  const [path = '/', search = ''] = url.split('?', 2);
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').flatMap((text) => text.trim() || []);
  const bearer = protocols.find((protocol) => protocol.startsWith('bearer.'))?.slice('bearer.'.length);
  const query = new URLSearchParams(search);
  const token = bearer ?? query.get('token');
  return { path, protocols, token: token === '' ? null : token, first: query.get('first') };
}

/** Why a WebSocket handshake cannot be made, or null. Its own rules; who may come in is asked afterwards. */
export function handshakeProblem({ protocols }: Offer, subprotocol: string): string | null {
  // A browser drops a connection whose offer was not answered, so there is nothing to complete.
  return protocols.length > 0 && !protocols.includes(subprotocol) ? `Offer the subprotocol ${subprotocol}.` : null;
}

/** The half of the closing handshake that is the client's may not keep a socket for longer. */
const closeTimeoutMs = 3_000;

export interface Upgrade {
  /** Calls `onOpen` when the handshake is made, `onProblem` when the request is no WebSocket handshake. */
  complete(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    requestId: string,
    onOpen: (ws: WebSocket) => void,
    onProblem: (message: string) => void,
  ): void;
}

export function createUpgrade({
  subprotocol,
  frameBytesMax,
}: Pick<SocketDefinition<SocketSession>, 'subprotocol' | 'frameBytesMax'>): Upgrade {
  // Not written in the call: the published types do not know `closeTimeout`.
  const options = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: frameBytesMax,
    // No client splits so small a frame; tiny fragments are only a way to spend our memory.
    maxFragments: 16,
    maxBufferedChunks: 256,
    closeTimeout: closeTimeoutMs,
    handleProtocols: () => subprotocol,
  };
  const server = new WebSocketServer(options);
  const requestIds = new WeakMap<IncomingMessage, string>();
  const problems = new WeakMap<IncomingMessage, (message: string) => void>();
  server.on('headers', (headers, request) => headers.push(`x-request-id: ${requestIds.get(request)}`));
  server.on('wsClientError', (error, _socket, request) => problems.get(request)?.(error.message));

  return {
    complete(request, socket, head, requestId, onOpen, onProblem) {
      requestIds.set(request, requestId);
      problems.set(request, onProblem);
      server.handleUpgrade(request, socket, head, onOpen);
    },
  };
}
