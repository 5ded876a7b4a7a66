import { type Credential, fail } from '@parley/contract';

/** The browser origins a project allows. */
export interface OriginPolicy {
  allowedOrigins: readonly string[];
  allowLocalhostOrigins: boolean;
}

/** An origin as browsers write it (scheme, host, port), or null when the text is something else. */
export function serializedOrigin(text: string): string | null {
  if (!/^https?:\/\/[^/?#@\s]+\/?$/i.test(text) || !URL.canParse(text)) return null;
  const { origin, username, password, hostname } = new URL(text);
  return username === '' && password === '' && hostname !== '' ? origin : null;
}

const localHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Exact match of the serialized origin; no wildcards, no suffixes. An empty list allows any origin. */
export function isOriginAllowed(policy: OriginPolicy, origin: string | undefined): boolean {
  if (origin === undefined || policy.allowedOrigins.length === 0) return true;
  const serialized = serializedOrigin(origin);
  if (serialized === null) return false;
  if (policy.allowLocalhostOrigins && localHosts.has(new URL(serialized).hostname)) return true;
  return policy.allowedOrigins.includes(serialized);
}

/** Credentials that travel in browsers of the developer's own users. */
const browserCredentials: readonly Credential[] = ['apiKey', 'chatToken', 'rtcToken'];

export const isBrowserRoute = (by: readonly Credential[]): boolean =>
  by.some((credential) => browserCredentials.includes(credential));

/** Refuses a browser request from an origin the project does not list. */
export function assertOriginAllowed(policy: OriginPolicy, origin: string | undefined): void {
  if (!isOriginAllowed(policy, origin)) fail('SVC_ORIGIN_NOT_ALLOWED');
}
