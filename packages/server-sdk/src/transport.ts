import { type Asked, fetchAnswer, newRequestId, notOurs, readBody, readChunks } from './answer.ts';
import { ApiError, ConnectionError } from './errors.ts';

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
  open(request: Outgoing, options?: RequestOptions): Promise<AsyncIterable<Uint8Array>>;
}

const firstWaitMs = 250;
/** A service that asks for a longer pause than this is not waited for: the caller decides. */
const waitMsMax = 10_000;
/** What may be sent twice without doing anything twice. */
const repeatable = new Set(['GET', 'PUT', 'DELETE']);

export function createTransport(options: TransportOptions): Transport {
  const { apiKey, baseUrl, maxRetries, sleep = pause, random = Math.random } = options;

  const headersOf = (request: Outgoing, given: RequestOptions): Record<string, string> => ({
    authorization: `Bearer ${apiKey}`,
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(request.takesKey ? { 'idempotency-key': given.idempotencyKey ?? crypto.randomUUID() } : {}),
    ...request.headers,
  });

  async function attempt(request: Outgoing, headers: Record<string, string>, asked: Asked): Promise<Response> {
    const { method, url, body } = request;
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetchAnswer(options.fetch, `${baseUrl}${url}`, { method, headers, ...content }, asked);
  }

  const askedWith = ({ requestId = newRequestId() }: RequestOptions, signal: AbortSignal | undefined): Asked => ({
    baseUrl,
    requestId,
    signal,
  });

  async function once(request: Outgoing, headers: Record<string, string>, given: RequestOptions) {
    const limit = AbortSignal.timeout(given.timeoutMs ?? options.timeoutMs);
    const asked = askedWith(given, given.signal ? AbortSignal.any([given.signal, limit]) : limit);
    const response = await attempt(request, headers, asked);
    return { body: await readBody(response, asked), headers: response.headers };
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
      const asked = askedWith(given, given.signal);
      const response = await attempt(request, headersOf(request, given), asked);
      // Whatever else came is an error, or a proxy's.
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
      if (!response.ok || !isStream) throw await notOurs(response, asked);
      return readChunks(response, asked);
    },
  };
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
