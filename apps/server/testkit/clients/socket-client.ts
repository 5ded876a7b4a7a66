import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';
import { eventually, processWorkMs } from '../kit/eventually.ts';

/** Any frame from the server. */
export interface ServerFrame {
  type: string;
  ref?: string;
  [field: string]: unknown;
}

/** A client of either socket that records every frame it gets. */
export interface SocketClient {
  readonly frames: readonly ServerFrame[];
  readonly closed: { code: number; reason: string } | null;
  readonly ws: WebSocket;
  send(frame: object | string): void;
  /** Sends a frame with an id and gives the frame that answers it. */
  ask(frame: { type: string; [field: string]: unknown }): Promise<ServerFrame>;
  /** The first frame of this type (and shape) that was not taken yet. */
  take(type: string, matches?: (frame: ServerFrame) => boolean): Promise<ServerFrame>;
  whenClosed(): Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

export interface SocketClientOptions extends ClientOptions {
  protocols?: string[];
}

/** Opens a WebSocket; resolves when the upgrade is complete. */
export async function openSocket(
  url: string,
  { protocols = [], ...options }: SocketClientOptions = {},
): Promise<SocketClient> {
  const ws = new WebSocket(url.replace(/^http/, 'ws'), protocols, options);
  const frames: ServerFrame[] = [];
  const taken = new Set<ServerFrame>();
  let closed: SocketClient['closed'] = null;
  let asked = 0;
  ws.on('message', (data) => frames.push(JSON.parse(String(data)) as ServerFrame));
  ws.on('close', (code, reason) => {
    closed = { code, reason: reason.toString() };
  });
  await once(ws, 'open');
  ws.on('error', () => undefined);

  const client: SocketClient = {
    frames,
    ws,
    get closed() {
      return closed;
    },
    send: (frame) => ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async ask(frame) {
      const id = `ask-${++asked}`;
      client.send({ ...frame, id });
      return eventually(() => frames.find(({ ref }) => ref === id) ?? missing(`no answer to ${frame.type}`, client), {
        withinMs: processWorkMs,
      });
    },
    take: (type, matches = () => true) =>
      eventually(
        () => {
          const found = frames.find((frame) => frame.type === type && !taken.has(frame) && matches(frame));
          if (!found) return missing(`no frame ${type}`, client);
          taken.add(found);
          return found;
        },
        { withinMs: processWorkMs },
      ),
    whenClosed: () => eventually(() => closed ?? missing('still open', client), { withinMs: processWorkMs }),
    async close() {
      ws.close(1000);
      await client.whenClosed();
    },
  };
  return client;
}

/** Fails with the last frame of the client. */
export function missing(what: string, { frames, closed }: SocketClient): never {
  const last = frames.slice(-5).map((frame) => JSON.stringify(frame));
  throw new Error(`${what}; closed: ${JSON.stringify(closed)}; last frames: ${last.join('\n')}`);
}

/** What a refused upgrade answered. */
export async function refusedUpgrade(
  url: string,
  { protocols = [], ...options }: SocketClientOptions = {},
): Promise<{ status: number; headers: Record<string, unknown>; body: Record<string, unknown> }> {
  const ws = new WebSocket(url.replace(/^http/, 'ws'), protocols, options);
  const [, response] = await once(ws, 'unexpected-response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return {
    status: response.statusCode,
    headers: response.headers,
    body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
  };
}
