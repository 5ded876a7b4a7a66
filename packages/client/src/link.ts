import { ApiError, ConnectionError, errorFrom, type SvcError, type WireError } from './errors.ts';
import type { CloseInfo } from './reconnect.ts';
import type { Runtime } from './runtime.ts';

/** A frame from the server: an object of JSON with a type. What else it has depends on the type. */
export interface Frame {
  type: string;
  [field: string]: unknown;
}

/** The fields of `hello` that both sockets have. */
export interface Hello extends Frame {
  heartbeatIntervalMs: number;
  maxFrameBytes: number;
}

/** One open WebSocket that has said hello. */
export interface Link {
  readonly hello: Hello;
  readonly isOpen: boolean;
  /** Resolves with the answer's data; rejects with what the server refused, or ConnectionError when it is unknown. */
  request(type: string, fields: object, timeoutMs?: number): Promise<unknown>;
  /** Without an answer. False when the link is closed. */
  send(type: string, fields: object): boolean;
  /** Asks for a sign of life and closes when there is none. */
  probe(): void;
  close(code?: number, reason?: string): void;
  readonly closed: Promise<CloseInfo>;
}

export interface LinkOptions {
  url: string;
  subprotocol: string;
  token: string;
  runtime: Runtime;
  /** Everything but answers and `hello`. */
  onFrame(frame: Frame): void;
  signal: AbortSignal;
}

/** The socket closed before it said hello. */
export class RefusedLink extends Error {
  readonly close: CloseInfo;
  readonly refusal: SvcError | undefined;

  constructor(close: CloseInfo, refusal: SvcError | undefined) {
    super(`closed with ${close.code} ${close.reason}`, refusal && { cause: refusal });
    this.close = close;
    this.refusal = refusal;
  }
}

const REQUEST_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 5_000;

export function openLink(options: LinkOptions): Promise<Link> {
  const { runtime, signal, onFrame } = options;
  const socket = runtime.openWebSocket(options.url, [options.subprotocol, `bearer.${options.token}`]);
  const answers = createAnswers(runtime);
  let hello: Hello | null = null;
  let refusal: SvcError | undefined;
  let lastHeardAt = runtime.now();
  let stopPulse = (): void => {};

  const isOpen = (): boolean => hello !== null && socket.readyState === 1;

  function write(type: string, fields: object): boolean {
    if (!isOpen()) return false;
    const text = JSON.stringify({ type, ...fields });
    const bytes = new TextEncoder().encode(text).length;
    // The server would end the whole connection over it.
    if (hello && bytes > hello.maxFrameBytes) throw tooLarge(type, bytes, hello.maxFrameBytes);
    socket.send(text);
    return true;
  }

  return new Promise<Link>((resolve, reject) => {
    const closed = new Promise<CloseInfo>((close) => {
      const finish = (info: CloseInfo): void => {
        stopPulse();
        signal.removeEventListener('abort', abort);
        answers.failAll();
        close(info);
        reject(new RefusedLink(info, refusal));
      };
      const abort = (): void => {
        finish({ code: 1000, reason: 'CLIENT_INITIATED' });
        socket.close(1000);
      };
      socket.onclose = ({ code, reason }) => finish({ code, reason });
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });

      /** Ours: a dead network gives no close event for minutes. */
      const giveUp = (): void => {
        socket.onclose = null;
        socket.onmessage = null;
        finish({ code: 4408, reason: 'HEARTBEAT_LOST' });
        socket.close();
      };
      const welcome = (frame: Hello): void => {
        hello = frame;
        const pulse = createPulse(runtime, frame.heartbeatIntervalMs, () => lastHeardAt, {
          ping: () => write('ping', { t: Math.round(runtime.now()) }),
          giveUp,
        });
        stopPulse = pulse.stop;
        resolve({
          hello: frame,
          get isOpen() {
            return isOpen();
          },
          request: (type, fields, timeoutMs = REQUEST_TIMEOUT_MS) => answers.ask(write, type, fields, timeoutMs),
          send: write,
          probe: pulse.probe,
          close(code = 1000, reason = 'CLIENT_INITIATED') {
            finish({ code, reason });
            socket.close(1000);
          },
          closed,
        });
      };
      socket.onmessage = ({ data }) => {
        lastHeardAt = runtime.now();
        // The server writes only JSON objects with a type; anything else would not be our server.
        const frame = JSON.parse(String(data)) as Frame;
        if (frame.type === 'hello' && !hello) welcome(frame as Hello);
        else if (frame.type === 'ack' || frame.type === 'response' || frame.type === 'error') {
          if (frame['fatal'] === true) refusal = errorFrom(frame as WireError);
          if (!answers.settle(frame)) onFrame(frame);
        } else if (frame.type !== 'pong') onFrame(frame);
      };
    });
  });
}

const tooLarge = (type: string, bytes: number, limit: number): ApiError =>
  new ApiError({
    code: 'SVC_FRAME_TOO_LARGE',
    message: `This ${type} takes ${bytes} bytes; the server allows ${limit}. Send less text or metadata, or upload it as an attachment.`,
  });

type Write = (type: string, fields: object) => boolean;

interface Waiting {
  resolve(data: unknown): void;
  reject(error: SvcError): void;
  cancel(): void;
}

/** Requests that wait for their answer, by id. */
function createAnswers(runtime: Runtime) {
  const waiting = new Map<string, Waiting>();
  let lastId = 0;

  function take(id: string): Waiting | undefined {
    const entry = waiting.get(id);
    waiting.delete(id);
    entry?.cancel();
    return entry;
  }

  return {
    ask(write: Write, type: string, fields: object, timeoutMs: number): Promise<unknown> {
      return new Promise((resolve, reject) => {
        const id = `c${++lastId}`;
        if (!write(type, { id, ...fields })) return reject(new ConnectionError('network'));
        const cancel = runtime.setTimer(() => {
          const message = `The server did not answer ${type} within ${timeoutMs} ms. Try again.`;
          take(id)?.reject(new ConnectionError('network', { code: 'timeout', message }));
        }, timeoutMs);
        waiting.set(id, { resolve, reject, cancel });
      });
    },
    /** False when nobody waits for this frame. */
    settle(frame: Frame): boolean {
      const entry = typeof frame['ref'] === 'string' ? take(frame['ref']) : undefined;
      if (frame.type === 'error') entry?.reject(errorFrom(frame as WireError));
      else entry?.resolve(frame['data']);
      return entry !== undefined || frame.type !== 'error';
    },
    failAll(): void {
      for (const id of [...waiting.keys()]) take(id)?.reject(new ConnectionError('network'));
    },
  };
}

/** Pings twice a heartbeat, and gives the link up when nothing was heard for one and a quarter. */
function createPulse(
  runtime: Runtime,
  intervalMs: number,
  lastHeardAt: () => number,
  { ping, giveUp }: { ping(): void; giveUp(): void },
): { probe(): void; stop(): void } {
  let stopTimer = (): void => {};
  let stopProbe = (): void => {};
  let lastBeatAt = runtime.now();

  function beat(): void {
    const now = runtime.now();
    // Timers of a hidden page or a sleeping machine come late: that is not the server's silence.
    const wasAsleep = now - lastBeatAt > intervalMs;
    lastBeatAt = now;
    if (!wasAsleep && now - lastHeardAt() > intervalMs * 1.25) {
      giveUp();
      return;
    }
    if (wasAsleep) probe();
    else ping();
    stopTimer = runtime.setTimer(beat, intervalMs / 2);
  }

  function probe(): void {
    const askedAt = runtime.now();
    ping();
    stopProbe();
    stopProbe = runtime.setTimer(() => {
      if (lastHeardAt() < askedAt) giveUp();
    }, PROBE_TIMEOUT_MS);
  }

  stopTimer = runtime.setTimer(beat, intervalMs / 2);
  return {
    probe,
    stop() {
      stopTimer();
      stopProbe();
    },
  };
}
