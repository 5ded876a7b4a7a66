import { ServiceError } from '@parley/contract';
import {
  MEDIA_CONTROL_PATH,
  type MediaCommandName,
  type MediaCommands,
  type MediaErrorCode,
  type MediaEventFrame,
  type MediaHelloFrame,
  type MediaNodeFrame,
  type MediaResponses,
} from '@parley/contract/media-control';
import { signMediaControl } from '@parley/contract/media-control-auth';
import { WebSocket } from 'ws';
import type { Clock } from '../../core/clock.ts';
import { randomBase62 } from '../../core/ids.ts';
import type { HostGuard } from './internal-url.ts';

/** The node refused a command. */
export class MediaRefusal extends Error {
  override name = 'MediaRefusal';
  readonly code: MediaErrorCode;

  constructor(code: MediaErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type NodeHello = MediaHelloFrame['data'];

/** One open control connection to one node (docs/media-control.md). */
export interface ControlLink {
  readonly hello: NodeHello;
  /** When the last message of the node arrived. */
  readonly heardAt: number;
  command<N extends MediaCommandName>(
    type: N,
    data: MediaCommands[N]['request'],
  ): Promise<MediaCommands[N]['response']>;
  close(): void;
}

export interface LinkDeps {
  clock: Clock;
  guard: HostGuard;
  secrets: readonly string[];
  processId: string;
}

interface LinkTarget {
  name: string;
  internalUrl: string;
  /** The last event seen of this node, if any. */
  since: number | null;
}

interface LinkEvents {
  onEvent(frame: MediaEventFrame): void;
  onClose(): void;
}

const connectTimeoutMs = 2_000;
const commandTimeoutMs = 5_000;
const frameBytesMax = 16 * 1024 * 1024;

/** Connects and waits for the node's hello. While a secret is being rotated the node may know only the older one. */
export async function openLink(deps: LinkDeps, target: LinkTarget, events: LinkEvents): Promise<ControlLink> {
  let refusal: unknown = new Error('no registration secret');
  for (const secret of deps.secrets) {
    try {
      return await connect(deps, target, secret, events);
    } catch (error) {
      refusal = error;
      if (!(error instanceof Error && error.message.endsWith('401'))) throw error;
    }
  }
  throw refusal;
}

function addressOf({ internalUrl, since }: LinkTarget, processId: string): URL {
  const url = new URL(internalUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.pathname = `${url.pathname.replace(/\/$/, '')}${MEDIA_CONTROL_PATH}`;
  url.searchParams.set('controller', processId);
  if (since !== null) url.searchParams.set('since', String(since));
  return url;
}

async function connect(
  { clock, guard, processId }: LinkDeps,
  target: LinkTarget,
  secret: string,
  events: LinkEvents,
): Promise<ControlLink> {
  const url = addressOf(target, processId);
  guard.check(target.internalUrl);
  const addresses = await guard.addressesOf(url.hostname);
  const authorization = `Bearer ${await signMediaControl(secret, target.name, clock.now(), randomBase62(22))}`;
  const socket = new WebSocket(url, {
    headers: { authorization },
    handshakeTimeout: connectTimeoutMs,
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: frameBytesMax,
    // Pinned: the name may not resolve to another address between the check and the connection.
    lookup: (_host, options, found) =>
      options.all ? found(null, addresses) : found(null, addresses[0]?.address ?? '', addresses[0]?.family),
  });
  return readLink(socket, clock, events);
}

interface Waiting {
  resolve(data: MediaResponses[MediaCommandName]): void;
  reject(error: unknown): void;
  /** Ends the wait for a timeout. */
  answered: AbortController;
}

function readLink(socket: WebSocket, clock: Clock, events: LinkEvents): Promise<ControlLink> {
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  let heardAt = clock.elapsed();
  let link: ControlLink | null = null;

  function take(id: number): Waiting | undefined {
    const asked = waiting.get(id);
    waiting.delete(id);
    asked?.answered.abort();
    return asked;
  }

  function command<N extends MediaCommandName>(type: N, data: MediaCommands[N]['request']) {
    return new Promise<MediaCommands[N]['response']>((resolve, reject) => {
      if (socket.readyState !== WebSocket.OPEN) return reject(unavailable());
      const id = nextId++;
      const answered = new AbortController();
      // An answer carries only the number of its command, whose name is known here.
      waiting.set(id, { resolve: (answer) => resolve(answer as MediaResponses[N]), reject, answered });
      socket.send(JSON.stringify({ id, type, data }));
      void clock
        .sleep(commandTimeoutMs, answered.signal)
        .then(() => take(id)?.reject(new ServiceError('SVC_MEDIA_TIMEOUT', { retryAfterSeconds: 2 })));
    });
  }

  function read(frame: Exclude<MediaNodeFrame, MediaHelloFrame>): void {
    if (!('ref' in frame)) events.onEvent(frame);
    else if ('error' in frame) take(frame.ref)?.reject(new MediaRefusal(frame.error.code, frame.error.message));
    else take(frame.ref)?.resolve(frame.data);
  }

  return new Promise((resolve, reject) => {
    const settled = new AbortController();
    void clock.sleep(connectTimeoutMs * 2, settled.signal).then(() => link ?? socket.terminate());
    socket.on('ping', () => {
      heardAt = clock.elapsed();
    });
    socket.on('message', (bytes) => {
      heardAt = clock.elapsed();
      const frame = frameOf(String(bytes));
      if (frame === null) socket.terminate();
      else if (!('type' in frame) || frame.type !== 'hello') read(frame);
      else {
        link = {
          hello: frame.data,
          get heardAt() {
            return heardAt;
          },
          command,
          close: () => socket.terminate(),
        };
        settled.abort();
        resolve(link);
      }
    });
    socket.on('error', reject);
    socket.on('close', () => {
      settled.abort();
      for (const id of [...waiting.keys()]) take(id)?.reject(unavailable());
      if (link) events.onClose();
      else reject(new Error('the node closed the connection before its hello'));
    });
  });
}

/** The node is ours and authenticated us, but a half-written frame must not end the process. */
function frameOf(text: string): MediaNodeFrame | null {
  try {
    return JSON.parse(text) as MediaNodeFrame;
  } catch {
    return null;
  }
}

const unavailable = (): ServiceError => new ServiceError('SVC_MEDIA_UNAVAILABLE', { retryAfterSeconds: 2 });
