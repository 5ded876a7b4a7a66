import assert from 'node:assert/strict';
import { allRoutes, codesOf, type RouteName } from '@parley/contract';
import { type Api, ApiError, type CallerOptions, createApi } from '@parley/server';
import { lightFetch } from './light-fetch.ts';

/** Calls by whom every refusal must be one that its route declares. */
export function createDeclaredApi(options: CallerOptions): Api {
  const fetch = (url: unknown, init?: RequestInit) => lightFetch(String(url), init);
  const api = createApi({ fetch, ...options });

  const request: Api['request'] = async (name, ...args) => {
    try {
      return await api.request(name, ...args);
    } catch (error) {
      if (error instanceof ApiError) assertDeclared(name, error);
      throw error;
    }
  };

  return { request, call: async (name, ...args) => (await request(name, ...args)).body };
}

function assertDeclared(name: RouteName, { status, body }: ApiError): void {
  const declared: readonly string[] = codesOf(allRoutes[name]);
  // Any credential may be dead in its own way on any route.
  assert.ok(status === 401 || declared.includes(body.code), `${name} answers ${body.code}, which it does not declare`);
}
