import { ServiceError } from '@parley/contract';
import {
  MEDIA_CONTROL_PATH,
  type MediaCommandName,
  type MediaCommands,
  type MediaErrorCode,
  type MediaEventFrame,
  mediaProtocols,
  writeMediaProtocols,
} from '@parley/contract/media-control';
import { signMediaControl, verifyMediaNode } from '@parley/contract/media-control-auth';
import { isMediaResponse, type MediaHello, parseMediaNodeFrame } from '@parley/contract/media-node-frames';
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

/** The node did what no node of ours does: its connection ended for it. */
export class LinkFault extends Error {
  override name = 'LinkFault';
}

export type NodeHello = MediaHello;

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
  /** Before any event of this connection. */
  onHello(hello: NodeHello): void;
  /** `type` is null for an event that only newer servers know. */
  onEvent(frame: MediaEventFrame | { seq: number; type: null }): void;
  onClose(fault: LinkFault | null): void;
}

const connectTimeoutMs = 2_000;
const commandTimeoutMs = 5_000;
const frameBytesMax = 16 * 1024 * 1024;
/** Frames that may wait while the hello is verified: what a node replays at most, and some. */
const earlyFramesMax = 4_096;

/** Connects and waits for the node's hello. While a secret is being rotated the node may know only the older one. */
export async function openLink(deps: LinkDeps, target: LinkTarget, events: LinkEvents): Promise<ControlLink> {
  let refusal: unknown = new Error('no registration secret');
  for (const secret of deps.secrets) {
    try {
      return await connect(deps, target, secret, events);
    } catch (error) {
      refusal = error;
      const status = error instanceof Error ? error.message.slice(-3) : '';
      if (status === '426')
        throw new LinkFault('no version of the control protocol in common: upgrade the older of server and node');
      if (status !== '401') throw error;
    }
  }
  throw refusal;
}

function addressOf({ internalUrl, since }: LinkTarget, processId: string): URL {
  const url = new URL(internalUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.pathname = `${url.pathname.replace(/\/$/, '')}${MEDIA_CONTROL_PATH}`;
  url.searchParams.set('controller', processId);
  url.searchParams.set('protocols', writeMediaProtocols(mediaProtocols));
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
  const nonce = randomBase62(22);
  const authorization = `Bearer ${await signMediaControl(secret, target.name, clock.now(), nonce)}`;
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
  return readLink(socket, clock, events, async ({ protocol, node, instanceId, proof }) => {
    if (protocol < mediaProtocols.oldest || protocol > mediaProtocols.newest) return `it speaks protocol ${protocol}`;
    const isProven = node === target.name && (await verifyMediaNode(secret, node, instanceId, nonce, proof));
    return isProven ? null : 'it does not prove that it is this node and knows SFU_REGISTRATION_SECRET';
  });
}

interface Waiting {
  /** False when this is no answer to the command. */
  resolve(data: object): boolean;
  reject(error: unknown): void;
  /** Ends the wait for a timeout. */
  answered: AbortController;
}

/** The commands of one connection that wait for their answers. */
function createCommands(socket: WebSocket, clock: Clock) {
  const waiting = new Map<number, Waiting>();
  let nextId = 1;

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
      const settle = (answer: object): boolean => {
        const isAnswer = isMediaResponse(type, answer);
        if (isAnswer) resolve(answer);
        else reject(new ServiceError('SVC_MEDIA_ERROR', { retryAfterSeconds: 2 }));
        return isAnswer;
      };
      waiting.set(id, { resolve: settle, reject, answered });
      socket.send(JSON.stringify({ id, type, data }));
      void clock
        .sleep(commandTimeoutMs, answered.signal)
        .then(() => take(id)?.reject(new ServiceError('SVC_MEDIA_TIMEOUT', { retryAfterSeconds: 2 })));
    });
  }

  return {
    command,
    take,
    rejectAll() {
      for (const id of [...waiting.keys()]) take(id)?.reject(unavailable());
    },
  };
}

/** `objection`: what speaks against a node that says hello so; null for one of ours. */
function readLink(
  socket: WebSocket,
  clock: Clock,
  events: LinkEvents,
  objection: (hello: NodeHello) => Promise<string | null>,
): Promise<ControlLink> {
  const commands = createCommands(socket, clock);
  const early: string[] = [];
  let heardAt = clock.elapsed();
  let hasHello = false;
  let link: ControlLink | null = null;
  let fault: LinkFault | null = null;

  /** What comes after it is not read. */
  function cutOff(what: string): void {
    fault ??= new LinkFault(`media node cut off: ${what}`);
    socket.terminate();
  }

  function read(text: string): void {
    if (fault) return;
    const frame = parseMediaNodeFrame(text);
    if (frame?.is === 'event') events.onEvent(frame.frame);
    else if (frame?.is === 'unknown event') events.onEvent({ seq: frame.seq, type: null });
    else if (frame?.is === 'refusal') commands.take(frame.ref)?.reject(new MediaRefusal(frame.code, frame.message));
    else if (frame?.is !== 'response') cutOff('not a frame of the control channel');
    // An answer that nobody waits for came too late.
    else if (commands.take(frame.ref)?.resolve(frame.data) === false) cutOff('an answer that does not fit its command');
  }

  async function readHello(text: string): Promise<ControlLink | null> {
    const frame = parseMediaNodeFrame(text);
    const problem = frame?.is === 'hello' ? await objection(frame.hello) : 'its first frame is no hello';
    if (frame?.is !== 'hello' || problem !== null) {
      cutOff(problem ?? '');
      return null;
    }
    const { hello } = frame;
    const { command } = commands;
    return {
      hello,
      get heardAt() {
        return heardAt;
      },
      command,
      close: () => socket.terminate(),
    };
  }

  return new Promise((resolve, reject) => {
    const settled = new AbortController();
    void clock.sleep(connectTimeoutMs * 2, settled.signal).then(() => link ?? socket.terminate());

    async function open(text: string): Promise<void> {
      const opened = await readHello(text);
      if (!opened || socket.readyState !== WebSocket.OPEN) return;
      link = opened;
      settled.abort();
      events.onHello(link.hello);
      for (const waited of early.splice(0)) read(waited);
      resolve(link);
    }

    socket.on('ping', () => {
      heardAt = clock.elapsed();
    });
    socket.on('message', (bytes, isBinary) => {
      heardAt = clock.elapsed();
      if (isBinary || early.length > earlyFramesMax) return cutOff('binary, or too much at once');
      if (link) return read(String(bytes));
      if (hasHello) return void early.push(String(bytes));
      hasHello = true;
      open(String(bytes)).catch((error: unknown) => {
        reject(error);
        socket.terminate();
      });
    });
    socket.on('error', (error) => {
      if (isProtocolError(error)) cutOff(error.message);
      reject(fault ?? error);
    });
    socket.on('close', () => {
      settled.abort();
      commands.rejectAll();
      if (link) events.onClose(fault);
      else reject(fault ?? new Error('the node closed the connection before its hello'));
    });
  });
}

/** Frames that are none of WebSocket, or too large. */
const isProtocolError = (error: Error): boolean => 'code' in error && String(error.code).startsWith('WS_ERR_');

const unavailable = (): ServiceError => new ServiceError('SVC_MEDIA_UNAVAILABLE', { retryAfterSeconds: 2 });
