import type { CredentialSource } from './credential.ts';
import { ConnectionError, errorFrom, type WireError } from './errors.ts';
import type { Runtime } from './runtime.ts';

export interface CallOptions {
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: object;
  signal?: AbortSignal | undefined;
}

export interface Http {
  /** The body of the answer; rejects with the service's error, or ConnectionError when there was no answer. */
  call(method: string, path: string, options?: CallOptions): Promise<unknown>;
}

export function createHttp({
  baseUrl,
  credential,
  runtime,
}: {
  baseUrl: string;
  credential: CredentialSource;
  runtime: Pick<Runtime, 'fetch'>;
}): Http {
  async function attempt(method: string, path: string, { query, body, signal }: CallOptions): Promise<Response> {
    const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const search = pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : '';
    const headers: Record<string, string> = { authorization: `Bearer ${await credential.get()}` };
    if (body) headers['content-type'] = 'application/json';
    try {
      const content = body ? { body: JSON.stringify(body) } : {};
      return await runtime.fetch(`${baseUrl}${path}${search}`, { method, headers, ...content, signal: signal ?? null });
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw new ConnectionError('network', { cause, baseUrl });
    }
  }

  return {
    async call(method, path, options = {}) {
      let response = await attempt(method, path, options);
      if (response.status === 401 && credential.canRenew) {
        await credential.renew();
        response = await attempt(method, path, options);
      }
      const text = await response.text();
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      if (response.ok) return body;
      const retryable = response.status === 429 || response.status >= 500;
      throw errorFrom({ retryable, ...(body as WireError) }, baseUrl);
    },
  };
}

/** `https://example.com/` and a path mean the origin; what follows it would end up twice. */
export const baseUrlOf = (url: string): string => url.replace(/^ws/, 'http').replace(/\/+$/, '');
