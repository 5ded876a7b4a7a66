import type { CredentialSource } from './credential.ts';
import { asSvcError, ConnectionError, type DisconnectReason, type SvcError } from './errors.ts';
import { RefusedLink } from './link.ts';
import {
  backoffMs,
  type CloseInfo,
  classify,
  type ReconnectOptions,
  retryAfter,
  retryAfterSeconds,
  STABLE_MS,
  type Verdict,
} from './reconnect.ts';
import type { Runtime } from './runtime.ts';

export type Retry = Extract<Verdict, { go: 'retry' }>;

export interface RetryPolicyDeps {
  /** `http://…`, `https://…`; the socket's scheme follows. */
  baseUrl: string;
  credential: Pick<CredentialSource, 'canRenew'>;
  reconnect: Required<ReconnectOptions> | false;
  runtime: Runtime;
  /** Sentences for reasons that only this socket knows. */
  messages?: Partial<Record<DisconnectReason, string>>;
}

export interface RetryPolicy {
  /** Why the last attempt failed or the last connection ended. */
  readonly lastError: ConnectionError;
  connected(): void;
  /** What to do about a connection that was there; null: this client closed it to make a new one. */
  afterClose(close: CloseInfo | null): Verdict;
  /** What to do about an attempt that failed. */
  afterFailure(error: unknown): Verdict;
  /** Counts the next attempt; false when there were enough. */
  admit(verdict: Retry): boolean;
}

export const CONNECT_TIMEOUT_MS = 15_000;
/** The first connection gets few attempts: the caller awaits it. */
const FIRST_RETRIES_MAX = 2;

/** Decides after each failure of one session whether and when the next attempt is made. */
export function createRetryPolicy({ baseUrl, credential, reconnect, runtime, messages }: RetryPolicyDeps): RetryPolicy {
  let lastError = new ConnectionError('network', { baseUrl });
  /** Attempts since the last stable connection. */
  let attempt = 0;
  let hasRenewed = false;
  let connectedAt: number | null = null;
  let lostAt = runtime.now();

  function classifyClose(close: CloseInfo, refusal?: SvcError): Verdict {
    const verdict = classify(close, { attempt, hasRenewed, canRenew: credential.canRenew }, runtime.random);
    lastError = describe(verdict.reason, close, refusal);
    return verdict;
  }

  function afterFailure(error: unknown): Verdict {
    if (error instanceof RefusedLink) return classifyClose(error.close, error.refusal);
    const cause = asSvcError(error);
    lastError = cause instanceof ConnectionError ? cause : asConnectionError(cause);
    const { reason } = lastError;
    if (!lastError.retryable) return { go: 'stop', reason };
    return retryAfter(reason, backoffMs(attempt, runtime.random));
  }

  function asConnectionError(cause: SvcError): ConnectionError {
    const { kind, code, message, retryable } = cause;
    const reason = kind === 'permission' ? 'forbidden' : 'protocol';
    return new ConnectionError(reason, { code, message, retryable, cause, baseUrl });
  }

  function isOver(waitMs: number): boolean {
    if (connectedAt === null) return attempt >= FIRST_RETRIES_MAX || waitMs > CONNECT_TIMEOUT_MS;
    return reconnect === false || runtime.now() + waitMs - lostAt > reconnect.giveUpAfterMs;
  }

  /** The close code in a sentence; the server's own words come first where it gave some. */
  function describe(reason: DisconnectReason, close: CloseInfo, refusal: SvcError | undefined): ConnectionError {
    const isLimited = reason === 'rate_limited';
    const sentence = messages?.[reason] ?? new ConnectionError(reason).message;
    const message = isLimited
      ? `${sentence} The next one is possible in ${retryAfterSeconds(close.reason)} s.`
      : `${refusal?.message ?? ''} ${sentence}`.trim();
    return new ConnectionError(reason, { code: refusal?.code ?? reason, message, baseUrl, cause: refusal });
  }

  return {
    get lastError() {
      return lastError;
    },
    connected() {
      connectedAt = runtime.now();
      hasRenewed = false;
    },
    afterClose(close) {
      lostAt = runtime.now();
      if (lostAt - (connectedAt ?? lostAt) > STABLE_MS) attempt = 0;
      return close ? classifyClose(close) : retryAfter('node_lost', 0);
    },
    afterFailure,
    admit({ afterMs, renewToken }) {
      if (isOver(afterMs)) return false;
      attempt += 1;
      hasRenewed ||= renewToken;
      return true;
    },
  };
}
