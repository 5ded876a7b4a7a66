import { createDeferred } from './deferred.ts';
import { ApiError, ConnectionError, errorFrom, type SvcError } from './errors.ts';
import { type Hello, isHello, isPushed, type Protocol, type Pushed, type Request, type Send } from './frames.ts';
import { createHeartbeat, type Heartbeat } from './heartbeat.ts';
import type { CloseInfo } from './reconnect.ts';
import { createRequests } from './requests.ts';
import type { Runtime } from './runtime.ts';

/** Of the frame that goes with the upgrade request; those after it are numbered. */
const FIRST_ID = 'first';

/** One open WebSocket that has said hello. */
export interface Link<P extends Protocol> {
  readonly hello: Hello<P>;
  /** The answer to the frame that went with the upgrade request; nothing where the server did not take it. */
  readonly first: Promise<unknown> | undefined;
  readonly isOpen: boolean;
  /** Resolves with the answer's data; rejects with what the server refused, or ConnectionError when it is unknown. */
  readonly request: Request<P>;
  readonly send: Send<P>;
  /** Asks for a sign of life and closes when there is none, from another network sooner. */
  probe(isOtherNetwork: boolean): void;
  close(): void;
  readonly closed: Promise<CloseInfo>;
}

export interface LinkOptions<P extends Protocol> {
  url: string;
  subprotocol: string;
  token: string;
  runtime: Runtime;
  /** Sent with the upgrade request, which saves a round trip. It is seen by proxies: nothing secret goes into it. */
  first: { type: string } | undefined;
  /** It has said hello. */
  onOpen(link: Link<P>): void;
  onFrame(frame: Pushed<P>): void;
  signal: AbortSignal;
}

/** The socket closed before it said hello. */
export class RefusedLink extends Error {
  readonly close: CloseInfo;
  readonly refusal: SvcError | undefined;

  constructor(close: CloseInfo, refusal: SvcError | undefined) {
    super(close.reason, { cause: refusal });
    this.close = close;
    this.refusal = refusal;
  }
}

export function openLink<P extends Protocol>({
  url,
  subprotocol,
  token,
  runtime,
  first,
  onOpen,
  onFrame,
  signal,
}: LinkOptions<P>): Promise<Link<P>> {
  const opened = createDeferred<Link<P>>();
  const closed = createDeferred<CloseInfo>();
  const requests = createRequests(runtime);
  const socket = openSocket();
  let hello: Hello<P> | null = null;
  let refusal: SvcError | undefined;
  let heartbeat: Heartbeat | null = null;
  let lastHeardAt = runtime.now();

  /** The constructor throws in a Firefox whose network is away; that passes. */
  function openSocket(): WebSocket {
    try {
      const query = first ? `?first=${encodeURIComponent(JSON.stringify({ ...first, id: FIRST_ID }))}` : '';
      return runtime.openWebSocket(url + query, [subprotocol, `bearer.${token}`]);
    } catch (cause) {
      throw cause instanceof ConnectionError ? cause : new ConnectionError('network', { cause });
    }
  }

  const isOpen = (): boolean => hello !== null && socket.readyState === 1;

  function write(frame: { type: string; id?: string; t?: number }): boolean {
    if (!hello || !isOpen()) return false;
    const text = JSON.stringify(frame);
    const bytes = new TextEncoder().encode(text).length;
    // The server would close the whole connection over it.
    if (bytes > hello.maxFrameBytes) throw tooLarge(frame.type, bytes, hello.maxFrameBytes);
    socket.send(text);
    return true;
  }

  function finish(info: CloseInfo): void {
    heartbeat?.stop();
    signal.removeEventListener('abort', close);
    requests.failAll();
    closed.resolve(info);
    opened.reject(new RefusedLink(info, refusal));
  }

  function close(): void {
    finish({ code: 1000, reason: 'CLIENT_INITIATED' });
    socket.close(1000);
  }

  /** A dead network gives no close event for minutes. */
  function giveUp(): void {
    socket.onclose = null;
    socket.onmessage = null;
    finish({ code: 4408, reason: 'HEARTBEAT_LOST' });
    socket.close();
  }

  function welcome(frame: Hello<P>): void {
    hello = frame;
    // From here on it is waited for: how long connecting took is no matter. An older server left it unread.
    const answer = first && 'first' in frame ? requests.expect(first.type, FIRST_ID) : undefined;
    answer?.catch(() => {}); // told by the caller that awaits it, or by the close
    const beating = createHeartbeat({
      runtime,
      intervalMs: frame.heartbeatIntervalMs,
      lastHeardAt: () => lastHeardAt,
      // Without `t`: bare pings of a moment share one pong.
      ping: () => write({ type: 'ping' }),
      giveUp,
    });
    heartbeat = beating;
    // The row of a frame says what answers it.
    const request = ((frame: { type: string }) =>
      requests.open(frame.type, (id) => write({ ...frame, id }))) as Request<P>;
    const link: Link<P> = {
      hello: frame,
      first: answer,
      get isOpen() {
        return isOpen();
      },
      request,
      send: write,
      probe: beating.probe,
      close,
      closed: closed.promise,
    };
    onOpen(link);
    opened.resolve(link);
  }

  function receive(frame: P['receives']): void {
    if (!hello && isHello<P>(frame)) welcome(frame);
    if (frame.type === 'error') {
      if (frame.fatal) refusal = errorFrom(frame);
      if (requests.reject(frame.ref, frame)) return;
    } else if (frame.type === 'ack' || frame.type === 'response') requests.resolve(frame.ref, frame.data);
    if (isPushed<P>(frame)) onFrame(frame);
  }

  socket.onclose = ({ code, reason }) => finish({ code, reason });
  socket.onmessage = ({ data }) => {
    lastHeardAt = runtime.now();
    // The fields are the server's to get right; anything without a type is no frame.
    const frame: P['receives'] | null = JSON.parse(String(data));
    if (typeof frame?.type === 'string') receive(frame);
  };
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });
  return opened.promise;
}

const tooLarge = (type: string, bytes: number, limit: number): ApiError =>
  new ApiError({
    code: 'SVC_FRAME_TOO_LARGE',
    message: `This ${type} takes ${bytes} of ${limit} bytes. Send less, or an attachment.`,
  });
