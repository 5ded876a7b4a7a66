import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type {
  MediaCommand,
  MediaCommandName,
  MediaHelloFrame,
  MediaNodePipes,
  MediaResponseFrame,
  MediaResponses,
} from '@parley/contract/media-control';
import { proveMediaNode, verifyMediaControl } from '@parley/contract/media-control-auth';
import { parseMediaCommand } from '@parley/contract/media-requests';
import type { Address } from '@parley/turn/addresses';
import { type WebSocket, WebSocketServer } from 'ws';
import type { MediaClock } from '../media/clock.ts';
import { MediaError } from '../media/errors.ts';
import { METRICS_TYPE } from '../metrics.ts';
import type { TurnRelay } from '../turn/relay.ts';
import type { Controller, Send } from './controllers.ts';
import { isFromPage, readUpgrade, refuse, switchToTurn } from './upgrade.ts';

const FRAME_BYTES_MAX = 65_536;
const QUEUED_BYTES_MAX = 16 << 20;
const PING_MS = 10_000;
const SILENT_MS_MAX = 30_000;
const NONCE_MS = 130_000;
const REQUEST_MS_MAX = 10_000;
const CLOSE_NOT_TEXT = 1003;
const CLOSE_MALFORMED = 1008;
const CLOSE_REPLACED = 4409;
const CLOSE_RESTART = 1012;

interface ControlServerDeps {
  node: string;
  instanceId: string;
  /** The first is current, a second is accepted while secrets are rotated. */
  secrets: readonly string[];
  host: string;
  port: number;
  /** Whether to fall back to any free port when this one is taken. */
  mayMovePort: boolean;
  clock: MediaClock;
  controller(id: string): Controller;
  execute(controller: Controller, command: MediaCommand): Promise<MediaResponses[MediaCommandName]>;
  isDraining(): boolean;
  isReady(): boolean;
  /** The node's TURN relay and its URLs, if it has one. */
  turn: { relay: Pick<TurnRelay, 'accept'>; urls(): readonly string[] } | null;
  /** How other nodes reach this one, if they may. */
  pipes(): MediaNodePipes | undefined;
  metrics: NodeMetrics;
  onError(error: unknown): void;
}

interface NodeMetrics {
  /** Null: to everybody who reaches the port. */
  token: string | null;
  render(): string;
}

interface ControlServer {
  readonly port: number;
  /** What the greeting says has changed: servers connect anew, and resume by sequence. */
  sendHelloAgain(): void;
  close(): Promise<void>;
}

/**
 * The control server of a node: one WebSocket for each server process of the control plane, `/healthz` and `/metrics`. Whatever
 * comes over a connection ends at most that connection.
 */
export async function startControlServer(deps: ControlServerDeps): Promise<ControlServer> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX, perMessageDeflate: false });
  const connections = new Map<string, WebSocket>();
  const authenticate = createAuthenticator(deps);
  const timeouts = { headersTimeout: REQUEST_MS_MAX, requestTimeout: REQUEST_MS_MAX };
  const server = createServer(timeouts, (request, response) => answerRequest(deps, request, response));

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const asked = readUpgrade(request);
    if ('status' in asked) return refuse(socket, asked.status);
    const proven = await authenticate(request.headers.authorization);
    if (!proven) return refuse(socket, '401 Unauthorized');
    if (asked.is === 'turn') return acceptTurn(deps, asked.client, socket, head);
    const proof = await proveMediaNode(proven.secret, deps.node, deps.instanceId, proven.nonce);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const { controller, since, protocol } = asked;
      webSocket.on('error', () => webSocket.terminate());
      webSocket.on('close', () => {
        if (connections.get(controller) === webSocket) connections.delete(controller);
      });
      connections.get(controller)?.close(CLOSE_REPLACED, 'replaced by a newer connection');
      connections.set(controller, webSocket);
      serve(webSocket, deps, deps.controller(controller), { since, protocol, proof });
    });
  }

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    upgrade(request, socket, head).catch((error: unknown) => {
      deps.onError(error);
      socket.destroy();
    });
  });

  await listen(server, deps.port, deps.host).catch((error: unknown) => {
    if (!deps.mayMovePort) throw error;
    return listen(server, 0, deps.host);
  });
  // A connection that could not be accepted, for want of file descriptors for example.
  server.on('error', deps.onError);
  return {
    // A listening TCP server always has an AddressInfo.
    port: (server.address() as AddressInfo).port,
    sendHelloAgain() {
      for (const socket of connections.values()) socket.close(CLOSE_RESTART, 'connect again');
    },
    async close() {
      for (const socket of connections.values()) socket.terminate();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function acceptTurn({ turn }: ControlServerDeps, client: Address, socket: Duplex, head: Buffer): void {
  if (!turn) {
    refuse(socket, '404 Not Found');
    return;
  }
  switchToTurn(socket);
  if (head.length > 0) socket.unshift(head);
  turn.relay.accept(socket, client);
}

/** Plain requests: the node's health and metrics, and nothing else. */
function answerRequest(deps: ControlServerDeps, request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/metrics' && request.method === 'GET' && !isFromPage(request)) {
    answerScrape(deps.metrics, request, response);
    return;
  }
  const isHealth = request.url === '/healthz' && request.method === 'GET';
  const isReady = deps.isReady();
  const status = isFromPage(request) ? 403 : isHealth ? (isReady ? 200 : 503) : 404;
  const health = { node: deps.node, ready: isReady, draining: deps.isDraining() };
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(isHealth && status !== 403 ? health : {}));
}

function answerScrape(metrics: NodeMetrics, { headers }: IncomingMessage, response: ServerResponse): void {
  const isAllowed = metrics.token === null || isSameText(headers.authorization ?? '', `Bearer ${metrics.token}`);
  if (isAllowed) response.writeHead(200, { 'content-type': METRICS_TYPE, connection: 'close' }).end(metrics.render());
  else response.writeHead(401, { 'www-authenticate': 'Bearer', connection: 'close' }).end();
}

/** In a time that tells nothing of where they differ. */
const isSameText = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const listen = (server: Server, port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

/** The nonce, accepted once, and the secret that it was signed with. */
function createAuthenticator({ secrets, node, clock }: ControlServerDeps) {
  const seen = new Map<string, number>();
  return async (authorization: string | undefined): Promise<{ nonce: string; secret: string } | undefined> => {
    const token = authorization?.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : '';
    const now = clock.wall();
    // Oldest first.
    for (const [nonce, at] of seen) {
      if (now - at <= NONCE_MS) break;
      seen.delete(nonce);
    }
    for (const secret of secrets) {
      const nonce = await verifyMediaControl(secret, node, now, token);
      if (nonce === null || seen.has(nonce)) continue;
      seen.set(nonce, now);
      return { nonce, secret };
    }
    return undefined;
  };
}

interface Admitted {
  since: number | undefined;
  protocol: number;
  proof: string;
}

function serve(socket: WebSocket, deps: ControlServerDeps, controller: Controller, admitted: Admitted): void {
  const { since, protocol, proof } = admitted;
  let heardAt = deps.clock.now();
  const send: Send = (frame) => {
    // Backpressure: a slow reader is disconnected, and resumes by sequence.
    if (socket.bufferedAmount > QUEUED_BYTES_MAX) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.send(frame);
  };
  const pipes = deps.pipes();
  const hello: MediaHelloFrame = {
    type: 'hello',
    data: {
      protocol,
      node: deps.node,
      instanceId: deps.instanceId,
      proof,
      resumed: controller.canResume(since),
      seq: controller.seq,
      draining: deps.isDraining(),
      ...(pipes && { pipes }),
      ...(deps.turn && { turn: { urls: [...deps.turn.urls()] } }),
    },
  };
  send(JSON.stringify(hello));
  controller.connect(send, since);

  const timer = setInterval(() => {
    if (deps.clock.now() - heardAt > SILENT_MS_MAX) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.ping();
  }, PING_MS);
  socket.on('pong', () => {
    heardAt = deps.clock.now();
  });
  // The library has queued its pong: a peer that pings and never reads must not fill our memory.
  socket.on('ping', () => {
    if (socket.bufferedAmount > QUEUED_BYTES_MAX) socket.terminate();
  });
  socket.on('message', (message, isBinary) => {
    heardAt = deps.clock.now();
    if (isBinary) return socket.close(CLOSE_NOT_TEXT, 'text frames only');
    const frame = parseMediaCommand(String(message));
    if (frame) void answer(frame, deps, controller, send);
    else socket.close(CLOSE_MALFORMED, 'not a command');
  });
  socket.on('close', () => {
    clearInterval(timer);
    controller.disconnect(send, deps.clock.now());
  });
}

type ParsedCommand = NonNullable<ReturnType<typeof parseMediaCommand>>;

async function answer(frame: ParsedCommand, deps: ControlServerDeps, controller: Controller, send: Send) {
  const respond = (response: MediaResponseFrame) => send(JSON.stringify(response));
  try {
    if (frame.type === null) throw new MediaError('BAD_REQUEST', 'Unknown command, or its data is not as declared.');
    const data = await deps.execute(controller, frame);
    respond({ ref: frame.id, data });
  } catch (error) {
    const known = error instanceof MediaError;
    if (!known) deps.onError(error);
    const code = known ? error.code : 'INTERNAL';
    respond({ ref: frame.id, error: { code, message: known ? error.message : 'Internal error.' } });
  }
}
