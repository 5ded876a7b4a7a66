import type { CredentialSource } from './credential.ts';
import { ConnectionError, errorFrom, type WireError } from './errors.ts';
import type { Runtime } from './runtime.ts';

export interface CallOptions {
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: object;
  signal?: AbortSignal | undefined;
}

export interface PageOptions {
  /** At most 200. */
  limit?: number;
  /** The `nextCursor` of the page before. */
  cursor?: string;
}

export interface Page<T> {
  items: readonly T[];
  /** Continues where this page ended; null at the end. */
  nextCursor: string | null;
}

export interface Http {
  /** The body of the answer; rejects with the service's error, or ConnectionError when there was no answer. */
  call(method: string, path: string, options?: CallOptions): Promise<unknown>;
  /** One page of a list whose items the route's row describes. */
  page<T>(path: string, options?: PageOptions): Promise<Page<T>>;
}

export function createHttp({
  baseUrl,
  credential,
  runtime,
}: {
  baseUrl: string;
  credential: CredentialSource;
  runtime: Pick<Runtime, 'fetch' | 'newId'>;
}): Http {
  async function attempt(
    method: string,
    path: string,
    { query, body, signal }: CallOptions,
  ): Promise<[Response, requestId: string]> {
    // As the service makes them: the dashboard finds it.
    const requestId = `req_${runtime.newId().replaceAll('-', '').slice(0, 24)}`;
    const url = new URL(baseUrl + path);
    for (const [name, value] of Object.entries(query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const headers: Record<string, string> = {
      authorization: `Bearer ${await credential.get()}`,
      'x-request-id': requestId,
    };
    if (body) headers['content-type'] = 'application/json';
    try {
      const content = body ? JSON.stringify(body) : null;
      const response = await runtime.fetch(url.href, { method, headers, body: content, signal: signal ?? null });
      return [response, requestId];
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw new ConnectionError('network', { cause, requestId, baseUrl });
    }
  }

  async function answer(method: string, path: string, options: CallOptions): Promise<[body: unknown, Headers]> {
    let [response, requestId] = await attempt(method, path, options);
    if (response.status === 401 && credential.canRenew) {
      await credential.renew();
      [response, requestId] = await attempt(method, path, options);
    }
    // A proxy's page and a body that broke off are none of ours.
    const body: unknown = await response.json().catch(() => undefined);
    const { ok, status, headers } = response;
    if (ok && (body !== undefined || status === 204)) return [body, headers];
    throw errorFrom(
      {
        code: 'SVC_UNREADABLE_ANSWER',
        message: `The answer ${status} is not the service's. Check its address.`,
        retryable: ok || status === 429 || status >= 500,
        requestId: headers.get('x-request-id') ?? requestId,
        ...(body as WireError),
      },
      baseUrl,
    );
  }

  return {
    call: async (method, path, options = {}) => (await answer(method, path, options))[0],
    async page<T>(path: string, options: PageOptions = {}) {
      const [items, headers] = await answer('GET', path, { query: { ...options } });
      // The answer of our own route.
      return { items: items as readonly T[], nextCursor: headers.get('x-next-cursor') };
    },
  };
}

/** By the id that the server gave. */
export const pathOf = (conversationId: string): string => `/v1/chat/conversations/${conversationId}`;

/** `https://example.com/` and a path mean the origin; what follows it would end up twice. */
export const baseUrlOf = (url: string): string => url.replace(/^ws/, 'http').replace(/\/+$/, '');
