import type { CredentialSource } from './credential.ts';
import { createDeferred, type Deferred } from './deferred.ts';
import { ConnectionError } from './errors.ts';
import type { Protocol, Pushed } from './frames.ts';
import { type Link, openLink, RefusedLink } from './link.ts';
import type { ConnectionState } from './reconnect.ts';
import { CONNECT_TIMEOUT_MS, createRetryPolicy, type Retry, type RetryPolicyDeps } from './retry-policy.ts';
import { sleep } from './runtime.ts';

export interface ConnectOptions {
  signal?: AbortSignal;
  /** Default 15 s. */
  timeoutMs?: number;
}

export interface SessionDeps<P extends Protocol> extends RetryPolicyDeps {
  path: string;
  subprotocol: string;
  credential: CredentialSource;
  /** What the upgrade request carries for `welcome`, if anything. */
  first?(): { type: string } | undefined;
  /** The first exchange after `hello`. The state becomes `connected` when it resolves. */
  welcome(link: Link<P>): Promise<void>;
  onFrame(frame: Pushed<P>): void;
}

export interface SessionEvents {
  onState(state: Exclude<ConnectionState, 'idle' | 'disconnected'>, error?: ConnectionError): void;
  onEnd(error: ConnectionError): void;
}

/** From connect() until `disconnected`. */
export interface Session<P extends Protocol> {
  /** Of the connection that is being made, or is there; after a loss it is another one. */
  readonly ready: Promise<void>;
  readonly link: Link<P> | null;
  /** Connects again and again until the session ends. */
  start(options: ConnectOptions): void;
  /** Closes the link after a while and makes a new one. */
  cycle(afterMs: number): void;
  end(error: ConnectionError): void;
}

type Phase<P extends Protocol> =
  | { is: 'dialing' }
  /** Also during the welcome: frames that come then may have to be answered. */
  | { is: 'linked'; link: Link<P>; isCycling: boolean }
  /** Before the next attempt; `hurry` makes it at once. */
  | { is: 'waiting'; hurry(): void };

export function createSession<P extends Protocol>(deps: SessionDeps<P>, events: SessionEvents): Session<P> {
  const { runtime, credential, reconnect } = deps;
  const policy = createRetryPolicy(deps);
  const ending = new AbortController();
  let phase: Phase<P> = { is: 'dialing' };
  let ready = newReady();
  /** Whether the last attempt got a hello: if not, something between may refuse addresses with a frame. */
  let gotThrough = true;

  const isEnded = (): boolean => ending.signal.aborted;

  async function run(): Promise<void> {
    let renewToken = false;
    while (!isEnded()) {
      const verdict = await connectOnce(renewToken);
      if (isEnded()) return;
      if (verdict.go === 'stop' || !policy.admit(verdict)) return end(policy.lastError);
      renewToken = verdict.renewToken;
      await pause(verdict);
    }
  }

  /** One connection, from dialing to its loss, and what to do after it. */
  async function connectOnce(renewToken: boolean) {
    try {
      const link = await dial(renewToken);
      // Checked with nothing awaited before `connected`: the session may have ended at any moment.
      if (!link.isOpen) throw new RefusedLink(await link.closed, undefined);
      policy.connected();
      events.onState('connected');
      ready.resolve();
      const close = await link.closed;
      const isCycling = phase.is === 'linked' && phase.isCycling;
      const verdict = policy.afterClose(isCycling ? null : close);
      if (!isEnded() && verdict.go === 'retry' && reconnect !== false) {
        phase = { is: 'dialing' };
        ready = newReady();
        events.onState('reconnecting', policy.lastError);
      }
      return verdict;
    } catch (error) {
      return policy.afterFailure(error);
    }
  }

  async function dial(renewToken: boolean): Promise<Link<P>> {
    phase = { is: 'dialing' };
    const token = await (renewToken ? credential.renew() : credential.get());
    if (isEnded()) throw new ConnectionError('client');
    const url = `${deps.baseUrl.replace(/^http/, 'ws')}${deps.path}`;
    const first = gotThrough ? deps.first?.() : undefined;
    gotThrough = false;
    const link = await openLink<P>({
      ...deps,
      url,
      token,
      first,
      // At once: frames may come with the hello, and ask for an answer.
      onOpen(link) {
        phase = { is: 'linked', link, isCycling: false };
        gotThrough = true;
      },
      signal: ending.signal,
    });
    if (isEnded()) throw new ConnectionError('client');
    try {
      await deps.welcome(link);
    } catch (error) {
      link.close();
      throw error;
    }
    return link;
  }

  async function pause({ reason, afterMs }: Retry): Promise<void> {
    const waking = new AbortController();
    // A rate limit is waited out, whatever the network says.
    phase = { is: 'waiting', hurry: () => reason !== 'rate_limited' && waking.abort() };
    await sleep(runtime, afterMs, AbortSignal.any([waking.signal, ending.signal]));
  }

  function wake({ type }: Pick<Event, 'type'>): void {
    if (phase.is === 'linked') phase.link.probe(type === 'online');
    else if (phase.is === 'waiting') phase.hurry();
  }

  function end(error: ConnectionError): void {
    if (isEnded()) return;
    phase = { is: 'dialing' };
    ending.abort();
    ready.reject(error);
    events.onEnd(error);
  }

  return {
    get ready() {
      return ready.promise;
    },
    get link() {
      return phase.is === 'linked' ? phase.link : null;
    },
    start({ signal, timeoutMs = CONNECT_TIMEOUT_MS }) {
      const onAbort = (): void => end(new ConnectionError('client', { cause: signal?.reason }));
      const cancelTimer = runtime.setTimer(() => {
        const cause = policy.lastError;
        const message = `No connection within ${timeoutMs} ms: ${cause.message}`;
        end(new ConnectionError(cause.reason, { message, baseUrl: deps.baseUrl, cause }));
      }, timeoutMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      const settled = (): void => {
        cancelTimer();
        signal?.removeEventListener('abort', onAbort);
      };
      ready.promise.then(settled, settled);
      ending.signal.addEventListener('abort', runtime.onWake(wake), { once: true });
      events.onState('connecting');
      if (signal?.aborted) onAbort();
      else void run();
    },
    async cycle(afterMs) {
      const leaving = phase;
      if (leaving.is !== 'linked') return;
      await sleep(runtime, afterMs, ending.signal);
      // A link that closes during the welcome would count as a refusal.
      await ready.promise.catch(() => {});
      if (phase !== leaving) return;
      leaving.isCycling = true;
      leaving.link.close();
    },
    end,
  };
}

/** Its rejection counts as handled: not every caller awaits each reconnect. */
function newReady(): Deferred<void> {
  const ready = createDeferred<void>();
  ready.promise.catch(() => {});
  return ready;
}
