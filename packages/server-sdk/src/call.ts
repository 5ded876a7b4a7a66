import type { RouteRecords } from '@parley/contract/types.gen';
import { fetchAnswer, newRequestId, readBody } from './answer.ts';
import { routeAddresses } from './routes.gen.ts';

export interface CallerOptions {
  baseUrl: string;
  /** Bearer credential: an API key, a token or a dashboard session. */
  credential?: string | (() => string | Promise<string>);
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  idempotencyKey?: string;
  requestId?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export type RouteName = keyof RouteRecords;
/** What a route needs: its path parameters, query and body, as its row declares them. */
export type CallInput<N extends RouteName> = RouteRecords[N]['input'];
export type CallAnswer<N extends RouteName> = RouteRecords[N]['answer'];

/** Arguments of a call: the input may be left out where the row needs none. */
export type CallArguments<N extends RouteName> =
  object extends CallInput<N>
    ? [input?: CallInput<N>, options?: CallOptions]
    : [input: CallInput<N>, options?: CallOptions];

export interface Reply<T> {
  status: number;
  headers: Headers;
  body: T;
}

export interface Api {
  /** Calls a route by its name; resolves with the body, rejects with ApiError. */
  call<N extends RouteName>(name: N, ...args: CallArguments<N>): Promise<CallAnswer<N>>;
  /** The same with status and headers. */
  request<N extends RouteName>(name: N, ...args: CallArguments<N>): Promise<Reply<CallAnswer<N>>>;
}

/** A typed client over the route table. */
export function createApi({ baseUrl, credential, fetch = globalThis.fetch }: CallerOptions): Api {
  async function request<N extends RouteName>(
    name: N,
    ...[input, options]: CallArguments<N>
  ): Promise<Reply<CallAnswer<N>>> {
    const { query, body, ...params } = (input ?? {}) as { query?: object; body?: unknown } & Record<string, string>;
    const { method, url } = addressOf(routeAddresses[name], params, query);
    const bearer = typeof credential === 'function' ? await credential() : credential;
    const { idempotencyKey, signal } = options ?? {};
    // By their names in lower case: one of ours in capitals would be sent beside ours.
    const given = Object.fromEntries(new Headers(options?.headers));
    const requestId = given['x-request-id'] ?? options?.requestId ?? newRequestId();
    const headers = {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...given,
    };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const asked = { baseUrl, requestId, signal };
    const response = await fetchAnswer(fetch, `${baseUrl}${url}`, { method, headers, ...content }, asked);
    const answer = await readBody(response, asked);
    // The server checks its answers against the same row.
    return { status: response.status, headers: response.headers, body: answer as CallAnswer<N> };
  }

  return { request, call: async (name, ...args) => (await request(name, ...args)).body };
}

export function addressOf(
  at: string,
  /** By name, or in the order of the path. */
  params: Readonly<Record<string, string>> | readonly string[],
  query: object | undefined,
): { method: string; url: string } {
  const [method = 'GET', path = '/'] = at.split(' ', 2);
  let position = 0;
  const part = (name: string): string =>
    (Array.isArray(params) ? params[position++] : (params as Readonly<Record<string, string>>)[name]) ?? '';
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(part(name)));
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(pairs).toString();
  return { method, url: search === '' ? filled : `${filled}?${search}` };
}

export { ApiError, errorOf, isParleyError } from './errors.ts';
