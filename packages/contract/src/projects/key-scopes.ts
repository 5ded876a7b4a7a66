import { type Static, Type } from 'typebox';

/**
 * What an API key may be bounded to. Each opens its own resource, to read and to change: `tokens` mints and revokes RTC
 * and chat tokens, `streams` gives the tokens of its hosts and viewers too, `webhooks` reads events and their types, `alerts` keeps alerts.
 * `read` opens every GET route, and alone connections, errors, metrics, diagnostics and usage.
 */
export const apiKeyScopes = ['rooms', 'tokens', 'chat', 'streams', 'webhooks', 'users', 'alerts', 'read'] as const;
export const ApiKeyScope = Type.Enum([...apiKeyScopes]);
export type ApiKeyScope = Static<typeof ApiKeyScope>;

/** What a route asks of a bounded key; `any` is open to every key. */
export type RouteScope = ApiKeyScope | 'any';

/** The scope that a key lacks for a route, or null when it may. A key without scopes may everything. */
export function missingScope(
  scopes: readonly ApiKeyScope[] | null,
  { at, scope }: { at: string; scope?: RouteScope },
): ApiKeyScope | null {
  if (scopes === null || scope === undefined || scope === 'any') return null;
  if (scopes.includes(scope) || (at.startsWith('GET ') && scopes.includes('read'))) return null;
  return scope;
}
