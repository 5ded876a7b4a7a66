import { ApiError, ConnectionError, errorOf } from './errors.ts';

/** The last argument of every method. */
export interface RequestOptions {
  signal?: AbortSignal;
  /** How long one attempt may take; not for event streams, which stay open. */
  timeoutMs?: number;
  /** Given by itself to every call that takes one; give your own to repeat a call over restarts of your process. */
  idempotencyKey?: string;
  /** Shown in the service's logs and in the dashboard. */
  requestId?: string;
}

export interface TransportOptions {
  apiKey: string;
  baseUrl: string;
  fetch: typeof globalThis.fetch;
  maxRetries: number;
  timeoutMs: number;
  /** For tests. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  random?: () => number;
}

export interface Outgoing {
  method: string;
  url: string;
  body?: unknown;
  /** The service answers a repeat with the same key like the first. */
  takesKey?: boolean;
  accept?: string;
  headers?: Record<string, string>;
}

export interface Transport {
  /** Retries until it is answered, refused or out of attempts. */
  send(request: Outgoing, options?: RequestOptions): Promise<{ body: unknown; headers: Headers }>;
  /** The answer while it comes in: never repeated, never timed out. */
  open(request: Outgoing, options?: RequestOptions): Promise<Response>;
}

const firstWaitMs = 250;
/** A service that asks for a longer pause than this is not waited for: the caller decides. */
const waitMsMax = 10_000;
/** What may be sent twice without doing anything twice. */
const repeatable = new Set(['GET', 'PUT', 'DELETE']);

export function createTransport(options: TransportOptions): Transport {
  const { apiKey, baseUrl, maxRetries, sleep = pause, random = Math.random } = options;

  async function attempt(request: Outgoing, headers: Record<string, string>, signal: AbortSignal | undefined) {
    try {
      return await options.fetch(`${baseUrl}${request.url}`, {
        method: request.method,
        headers,
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        ...(signal ? { signal } : {}),
      });
    } catch (cause) {
      const isTimeout = signal?.aborted === true && (signal.reason as Error)?.name === 'TimeoutError';
      const message = isTimeout
        ? `${baseUrl} did not answer in time. Give a longer timeoutMs, or look at its health.`
        : `${baseUrl} cannot be reached. Check the address and that the service runs.`;
      throw new ConnectionError({ code: isTimeout ? 'timeout' : 'network', message, retryable: true, baseUrl, cause });
    }
  }

  const headersOf = (request: Outgoing, given: RequestOptions): Record<string, string> => ({
    authorization: `Bearer ${apiKey}`,
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(request.takesKey ? { 'idempotency-key': given.idempotencyKey ?? crypto.randomUUID() } : {}),
    ...(given.requestId === undefined ? {} : { 'x-request-id': given.requestId }),
    ...request.headers,
  });

  async function once(request: Outgoing, headers: Record<string, string>, given: RequestOptions) {
    const limit = AbortSignal.timeout(given.timeoutMs ?? options.timeoutMs);
    const signal = given.signal ? AbortSignal.any([given.signal, limit]) : limit;
    const response = await attempt(request, headers, signal);
    const text = await response.text().catch((cause) => {
      throw new ConnectionError({ code: 'network', message: 'The answer broke off.', retryable: true, baseUrl, cause });
    });
    if (!response.ok) throw errorOf(response.status, text, response.headers, baseUrl);
    return { body: bodyOf(text, response, baseUrl), headers: response.headers };
  }

  /** How long to wait before the next attempt; null when there is to be none. */
  function waitAfter(error: unknown, request: Outgoing, attempts: number): number | null {
    if (attempts > maxRetries) return null;
    const isSafe = request.takesKey === true || repeatable.has(request.method);
    if (error instanceof ConnectionError) return isSafe ? backoff(attempts, random()) : null;
    if (!(error instanceof ApiError) || !error.retryable) return null;
    // Turned away before anything was done: these may be repeated whatever they are.
    const didNothing = error.status === 429 || error.status === 503;
    if (!isSafe && !didNothing) return null;
    const askedMs = (error.retryAfterSeconds ?? 0) * 1000;
    return askedMs > waitMsMax ? null : Math.max(askedMs, backoff(attempts, random()));
  }

  return {
    async send(request, given = {}) {
      // One key for all attempts: that is what makes them one call.
      const headers = headersOf(request, given);
      for (let attempts = 1; ; attempts++) {
        try {
          return await once(request, headers, given);
        } catch (error) {
          if (given.signal?.aborted) throw given.signal.reason;
          const waitMs = waitAfter(error, request, attempts);
          if (waitMs === null) throw error;
          await sleep(waitMs, given.signal);
        }
      }
    },

    async open(request, given = {}) {
      const response = await attempt(request, headersOf(request, given), given.signal);
      if (response.ok) return response;
      throw errorOf(response.status, await response.text(), response.headers, baseUrl);
    },
  };
}

/** A page of a proxy can come with 200 too. */
function bodyOf(text: string, { status, headers }: Response, baseUrl: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch (cause) {
    const { code, message, requestId } = errorOf(status, text, headers, baseUrl);
    throw new ConnectionError({ code, message, requestId, retryable: true, baseUrl, cause });
  }
}

/** Doubling, each somewhere in its upper half, so that many callers do not come back together. */
const backoff = (attempts: number, chance: number): number =>
  Math.min(waitMsMax, firstWaitMs * 2 ** (attempts - 1)) * (0.5 + chance / 2);

const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
