import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  MEDIA_CONTROL_PATH,
  MEDIA_CONTROL_PROTOCOL,
  type MediaCommand,
  type MediaCommandName,
  type MediaHelloFrame,
  type MediaResponseFrame,
  type MediaResponses,
} from '@parley/contract/media-control';
import { verifyMediaControl } from '@parley/contract/media-control-auth';
import { parseMediaCommand } from '@parley/contract/media-requests';
import { type WebSocket, WebSocketServer } from 'ws';
import type { MediaClock } from '../media/clock.ts';
import { MediaError } from '../media/errors.ts';
import type { Controller, Send } from './controllers.ts';

const FRAME_BYTES_MAX = 65_536;
const QUEUED_BYTES_MAX = 16 << 20;
const PING_MS = 10_000;
const SILENT_MS_MAX = 30_000;
const NONCE_MS = 130_000;
const CLOSE_REPLACED = 4409;
const CONTROLLER = /^[A-Za-z0-9_-]{16,64}$/;

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
  onError(error: unknown): void;
}

interface ControlServer {
  readonly port: number;
  close(): Promise<void>;
}

/** The control server of a node: one WebSocket for each server process of the control plane, and `/healthz`. */
export async function startControlServer(deps: ControlServerDeps): Promise<ControlServer> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX, perMessageDeflate: false });
  const connections = new Map<string, WebSocket>();
  const authenticate = createAuthenticator(deps);
  const server = createServer((request, response) => {
    const isHealth = request.url === '/healthz' && request.method === 'GET';
    const isReady = deps.isReady();
    response.writeHead(isHealth ? (isReady ? 200 : 503) : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isHealth ? { node: deps.node, ready: isReady, draining: deps.isDraining() } : {}));
  });

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const refuse = (status: string) =>
      socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    const url = new URL(request.url ?? '/', 'http://node');
    const id = url.searchParams.get('controller') ?? '';
    if (url.pathname !== MEDIA_CONTROL_PATH) return refuse('404 Not Found');
    if (!CONTROLLER.test(id)) return refuse('400 Bad Request');
    authenticate(request.headers.authorization)
      .then((isGood) => {
        if (!isGood) return refuse('401 Unauthorized');
        sockets.handleUpgrade(request, socket, head, (webSocket) => {
          connections.get(id)?.close(CLOSE_REPLACED, 'replaced by a newer connection');
          connections.set(id, webSocket);
          const since = url.searchParams.get('since');
          serve(webSocket, deps, deps.controller(id), since === null ? undefined : Number(since));
          webSocket.on('close', () => {
            if (connections.get(id) === webSocket) connections.delete(id);
          });
        });
      })
      .catch((error: unknown) => {
        deps.onError(error);
        socket.destroy();
      });
  });

  await listen(server, deps.port, deps.host).catch((error: unknown) => {
    if (!deps.mayMovePort) throw error;
    return listen(server, 0, deps.host);
  });
  return {
    // A listening TCP server always has an AddressInfo.
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of connections.values()) socket.terminate();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

const listen = (server: Server, port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

/** A nonce is accepted once. */
function createAuthenticator({ secrets, node, clock }: ControlServerDeps) {
  const seen = new Map<string, number>();
  return async (authorization: string | undefined): Promise<boolean> => {
    const token = authorization?.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : '';
    const now = clock.wall();
    for (const [nonce, at] of seen) if (now - at > NONCE_MS) seen.delete(nonce);
    for (const secret of secrets) {
      const nonce = await verifyMediaControl(secret, node, now, token);
      if (nonce === null || seen.has(nonce)) continue;
      seen.set(nonce, now);
      return true;
    }
    return false;
  };
}

function serve(socket: WebSocket, deps: ControlServerDeps, controller: Controller, since: number | undefined): void {
  let heardAt = deps.clock.now();
  const send: Send = (frame) => {
    // Backpressure: a slow reader is disconnected, and resumes by sequence.
    if (socket.bufferedAmount > QUEUED_BYTES_MAX) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.send(frame);
  };
  const hello: MediaHelloFrame = {
    type: 'hello',
    data: {
      protocol: MEDIA_CONTROL_PROTOCOL,
      node: deps.node,
      instanceId: deps.instanceId,
      resumed: controller.canResume(since),
      seq: controller.seq,
      draining: deps.isDraining(),
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
  socket.on('message', (message, isBinary) => {
    heardAt = deps.clock.now();
    if (isBinary) return socket.close(1003, 'text frames only');
    void answer(String(message), deps, controller, send);
  });
  socket.on('close', () => {
    clearInterval(timer);
    controller.disconnect(send, deps.clock.now());
  });
  socket.on('error', () => socket.terminate());
}

async function answer(text: string, deps: ControlServerDeps, controller: Controller, send: Send): Promise<void> {
  const respond = (response: MediaResponseFrame) => send(JSON.stringify(response));
  const frame = parseMediaCommand(text);
  if (!frame) return;
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
