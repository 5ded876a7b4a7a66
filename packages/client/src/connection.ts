import type { CredentialSource } from './credential.ts';
import { asSvcError, ConnectionError, type DisconnectReason, type SvcError } from './errors.ts';
import { type Frame, type Link, openLink, RefusedLink } from './link.ts';
import {
  backoffMs,
  type CloseInfo,
  type ConnectionState,
  isTransition,
  judge,
  type ReconnectOptions,
  retryAfterSeconds,
  STABLE_MS,
  type Verdict,
} from './reconnect.ts';
import { type Runtime, sleep } from './runtime.ts';

export interface ConnectOptions {
  signal?: AbortSignal;
  /** Default 15 s. */
  timeoutMs?: number;
}

export interface ConnectionDeps {
  /** `http://…`, `https://…`; the socket's scheme follows. */
  baseUrl: string;
  path: string;
  subprotocol: string;
  credential: CredentialSource;
  reconnect: Required<ReconnectOptions> | false;
  runtime: Runtime;
  /** Sentences for reasons that only this socket knows. */
  messages?: Partial<Record<DisconnectReason, string>>;
  /** The first exchange after `hello`. The state becomes `connected` when it resolves. */
  welcome(link: Link): Promise<void>;
  onFrame(frame: Frame): void;
  onState(state: ConnectionState, previous: ConnectionState, error?: ConnectionError): void;
}

export interface Connection {
  readonly state: ConnectionState;
  /** The open link, or null. */
  readonly link: Link | null;
  /** One promise for all callers; after it resolves or rejects nothing of it is left pending. */
  connect(options?: ConnectOptions): Promise<void>;
  /** Resolves once connected; rejects when that will not happen. */
  whenConnected(): Promise<void>;
  /** Lets the link go and makes a new one, as when the server asks for it. */
  cycle(afterMs: number): void;
  disconnect(): void;
  /** Ends for good, with a reason that did not come from a close code. */
  stop(reason: DisconnectReason, error?: ConnectionError): void;
}

const CONNECT_TIMEOUT_MS = 15_000;
/** The first connection is not worth many tries: somebody waits for it. */
const FIRST_RETRIES_MAX = 2;

/** From connect() to `disconnected`. */
interface Session {
  readonly ending: AbortController;
  /** Of the connection that is being made, or is there. */
  ready: PromiseWithResolvers<void>;
  attempt: number;
  hasRenewed: boolean;
  lostAt: number;
  lastError: ConnectionError;
  /** The next loss is our own doing. */
  isCycling: boolean;
  /** Ends the wait before the next attempt. */
  hurry: (() => void) | null;
}

export function createConnection(deps: ConnectionDeps): Connection {
  const { runtime, credential, reconnect, baseUrl } = deps;
  let state: ConnectionState = 'idle';
  let session: Session | null = null;
  let link: Link | null = null;

  function enter(next: ConnectionState, error?: ConnectionError): void {
    if (!isTransition(state, next)) return;
    const previous = state;
    state = next;
    deps.onState(next, previous, error);
  }

  /** Ends `ending` for good. Whoever waits for it learns why. */
  function finish(ended: Session, error: ConnectionError): void {
    if (session !== ended) return;
    session = null;
    link = null;
    ended.ending.abort();
    ended.ready.reject(error);
    enter('disconnected', error.reason === 'client' ? undefined : error);
  }

  async function dial(current: Session, renewToken: boolean): Promise<Link> {
    const { signal } = current.ending;
    const token = await (renewToken ? credential.renew() : credential.get());
    if (signal.aborted) throw new ConnectionError('client');
    const url = `${baseUrl.replace(/^http/, 'ws')}${deps.path}`;
    const { subprotocol, onFrame } = deps;
    const opened = await openLink({ url, subprotocol, token, runtime, onFrame, signal });
    if (signal.aborted) throw new ConnectionError('client');
    // Frames that come during the welcome may have to be answered.
    link = opened;
    try {
      await deps.welcome(opened);
    } catch (error) {
      opened.close();
      throw error;
    }
    if (!opened.isOpen) throw new RefusedLink(await opened.closed, undefined);
    return opened;
  }

  /** Connects again and again until the session ends. */
  async function run(current: Session): Promise<void> {
    let renewToken = false;
    while (session === current) {
      let verdict: Verdict;
      try {
        const opened = await dial(current, renewToken);
        const connectedAt = runtime.now();
        current.hasRenewed = false;
        enter('connected');
        current.ready.resolve();
        const close = await opened.closed;
        if (session !== current) return;
        link = null;
        if (runtime.now() - connectedAt > STABLE_MS) current.attempt = 0;
        verdict = afterClose(current, close);
        startReconnecting(current, verdict);
      } catch (error) {
        if (session !== current) return;
        link = null;
        verdict = afterFailure(current, error);
      }
      if (verdict.go === 'stop' || isOver(current, verdict.afterMs)) return finish(current, current.lastError);
      current.attempt += 1;
      renewToken = verdict.renewToken;
      if (renewToken) current.hasRenewed = true;
      await pause(current, verdict.reason, verdict.afterMs);
    }
  }

  function afterClose(current: Session, close: CloseInfo, refusal?: SvcError): Verdict {
    if (current.isCycling) {
      current.isCycling = false;
      return { go: 'retry', reason: 'node_lost', afterMs: 0, renewToken: false };
    }
    const past = { attempt: current.attempt, hasRenewed: current.hasRenewed, canRenew: credential.canRenew };
    const verdict = judge(close, past, runtime.random);
    current.lastError = describe(verdict.reason, close, refusal, deps);
    return verdict;
  }

  function afterFailure(current: Session, error: unknown): Verdict {
    if (error instanceof RefusedLink) return afterClose(current, error.close, error.refusal);
    const cause = asSvcError(error);
    const { code, message, retryable } = cause;
    const reason =
      cause instanceof ConnectionError ? cause.reason : cause.kind === 'permission' ? 'forbidden' : 'protocol';
    current.lastError =
      cause instanceof ConnectionError
        ? cause
        : new ConnectionError(reason, { code, message, retryable, cause, baseUrl });
    if (!current.lastError.retryable) return { go: 'stop', reason };
    return { go: 'retry', reason, afterMs: backoffMs(current.attempt, runtime.random), renewToken: false };
  }

  function startReconnecting(current: Session, verdict: Verdict): void {
    if (verdict.go === 'stop' || reconnect === false) return;
    current.lostAt = runtime.now();
    current.ready = newReady();
    enter('reconnecting', current.lastError);
  }

  function isOver(current: Session, waitMs: number): boolean {
    if (state === 'connecting') return current.attempt >= FIRST_RETRIES_MAX || waitMs > CONNECT_TIMEOUT_MS;
    return reconnect === false || runtime.now() + waitMs - current.lostAt > reconnect.giveUpAfterMs;
  }

  async function pause(current: Session, reason: DisconnectReason, waitMs: number): Promise<void> {
    const waking = new AbortController();
    // A limit of the server's is waited out, whatever the network says.
    if (reason !== 'rate_limited') current.hurry = () => waking.abort();
    await sleep(runtime, waitMs, AbortSignal.any([waking.signal, current.ending.signal]));
    current.hurry = null;
  }

  function start({ signal, timeoutMs = CONNECT_TIMEOUT_MS }: ConnectOptions): Promise<void> {
    const current: Session = {
      ending: new AbortController(),
      ready: newReady(),
      attempt: 0,
      hasRenewed: false,
      lostAt: runtime.now(),
      lastError: new ConnectionError('network', { baseUrl }),
      isCycling: false,
      hurry: null,
    };
    session = current;
    const onAbort = (): void => finish(current, new ConnectionError('client', { cause: signal?.reason }));
    const cancelTimer = runtime.setTimer(() => {
      const message = `No connection within ${timeoutMs} ms: ${current.lastError.message}`;
      finish(current, new ConnectionError(current.lastError.reason, { message, baseUrl, cause: current.lastError }));
    }, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    const settled = (): void => {
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
    };
    current.ready.promise.then(settled, settled);
    const stopWaking = runtime.onWake(() => (link ? link.probe() : current.hurry?.()));
    current.ending.signal.addEventListener('abort', stopWaking, { once: true });
    enter('connecting');
    if (signal?.aborted) onAbort();
    else void run(current);
    return current.ready.promise;
  }

  return {
    get state() {
      return state;
    },
    get link() {
      return link;
    },
    async connect(options = {}) {
      await (session?.ready.promise ?? start(options));
    },
    async whenConnected() {
      if (!session) throw new ConnectionError('client', NOT_CONNECTED);
      await session.ready.promise;
    },
    cycle(afterMs) {
      const current = session;
      const leaving = link;
      if (!current || !leaving) return;
      void sleep(runtime, afterMs, current.ending.signal).then(() => {
        if (link !== leaving) return;
        current.isCycling = true;
        leaving.close();
      });
    },
    disconnect() {
      if (session) finish(session, new ConnectionError('client'));
    },
    stop(reason, error) {
      if (session) finish(session, error ?? new ConnectionError(reason, { baseUrl }));
    },
  };
}

/** Its rejection counts as handled: not everybody who starts a connection waits for each of its returns. */
function newReady(): PromiseWithResolvers<void> {
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {});
  return ready;
}

const NOT_CONNECTED = { code: 'not_connected', message: 'There is no connection. Call connect() first.' };

/** The close code in a sentence; the server's own words come first where it gave some. */
function describe(
  reason: DisconnectReason,
  close: CloseInfo,
  refusal: SvcError | undefined,
  { baseUrl, messages }: ConnectionDeps,
): ConnectionError {
  const words =
    reason === 'rate_limited'
      ? `The next one is possible in ${retryAfterSeconds(close.reason)} s.`
      : (refusal?.message ?? '');
  const message = messages?.[reason] ?? new ConnectionError(reason).message;
  return new ConnectionError(reason, {
    code: refusal?.code ?? reason,
    message: reason === 'rate_limited' ? `${message} ${words}` : `${words} ${message}`.trim(),
    baseUrl,
    cause: refusal,
  });
}
