import { randomUUID } from 'node:crypto';
import type {
  MediaCommandName,
  MediaCommands,
  MediaErrorCode,
  MediaEventFrame,
  MediaHelloFrame,
  MediaNodeFrame,
} from '@parley/contract/media-control';
import { signMediaControl } from '@parley/contract/media-control-auth';
import WebSocket from 'ws';

export class CommandRefused extends Error {
  readonly code: MediaErrorCode;

  constructor(code: MediaErrorCode, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

export interface ControlClientOptions {
  internalUrl: string;
  node: string;
  secret: string;
  controller?: string;
  since?: number;
  onEvent?(frame: MediaEventFrame): void;
}

export interface ControlClient {
  readonly hello: MediaHelloFrame['data'];
  readonly controller: string;
  /** What the node's proof is over. */
  readonly nonce: string;
  readonly events: MediaEventFrame[];
  command<Name extends MediaCommandName>(
    type: Name,
    data: MediaCommands[Name]['request'],
  ): Promise<MediaCommands[Name]['response']>;
  /** Cuts the connection as a crash would. */
  drop(): Promise<void>;
}

/** The control plane's end of the channel, as small as a test needs it. */
export async function connectControl(options: ControlClientOptions): Promise<ControlClient> {
  const { internalUrl, node, secret, controller = randomUUID(), since, onEvent } = options;
  const nonce = randomUUID();
  const token = await signMediaControl(secret, node, Date.now(), nonce);
  const url = new URL(`${internalUrl.replace('http', 'ws')}/control`);
  url.searchParams.set('controller', controller);
  if (since !== undefined) url.searchParams.set('since', String(since));
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  const waiting = new Map<number, { resolve(data: unknown): void; reject(error: Error): void }>();
  const events: MediaEventFrame[] = [];
  let nextId = 1;

  const hello = await new Promise<MediaHelloFrame['data']>((resolve, reject) => {
    socket.once('error', reject);
    socket.on('message', (message) => {
      // Our own node wrote it.
      const frame = JSON.parse(String(message)) as MediaNodeFrame;
      if ('ref' in frame) {
        const waiter = waiting.get(frame.ref);
        waiting.delete(frame.ref);
        if ('error' in frame) waiter?.reject(new CommandRefused(frame.error.code, frame.error.message));
        else waiter?.resolve(frame.data);
      } else if (frame.type === 'hello') resolve(frame.data);
      else {
        events.push(frame);
        onEvent?.(frame);
      }
    });
  });
  socket.on('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('The control connection ended.'));
  });

  return {
    hello,
    controller,
    nonce,
    events,
    command: (type, data) =>
      new Promise((resolve, reject) => {
        const id = nextId;
        nextId += 1;
        waiting.set(id, { resolve: resolve as (data: unknown) => void, reject });
        socket.send(JSON.stringify({ id, type, data }));
      }),
    drop: () =>
      new Promise((resolve) => {
        socket.once('close', () => resolve());
        socket.terminate();
      }),
  };
}
