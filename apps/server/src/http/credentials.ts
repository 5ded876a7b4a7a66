import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Credential, fail } from '@parley/contract';
import type { Callers } from '../core/caller.ts';
import type { TokenFamily, Tokens } from '../core/tokens.ts';

/** How each kind of credential becomes a caller; the domains supply these. Each fails with the contract's 401. */
export interface Authenticators {
  /** The address is the client's, behind the proxies that count. */
  apiKey(key: string, ip: string): Promise<Callers['apiKey']>;
  chatToken(token: string): Promise<Callers['chatToken']>;
  rtcToken(token: string): Promise<Callers['rtcToken']>;
  session(token: string): Promise<Callers['session']>;
}

export type IdentifiedCaller = Callers[Credential];
export type Identify = (
  accepted: readonly Credential[],
  headers: IncomingHttpHeaders,
  ip: string,
) => Promise<IdentifiedCaller>;

const byFamily = { session: 'session', chat: 'chatToken', rtc: 'rtcToken' } as const satisfies Record<
  TokenFamily,
  Credential
>;

interface IdentifyDeps {
  authenticators: Authenticators;
  tokens: Tokens;
  /** Two at once while a secret is being rotated. */
  sfuSecrets: readonly string[];
}

/** Finds out who is calling. A valid credential of a kind the route does not take is 403, an invalid one 401. */
export function createIdentify({ authenticators, tokens, sfuSecrets }: IdentifyDeps): Identify {
  const isSfuSecret = (given: string): boolean => sfuSecrets.some((secret) => equalTexts(given, secret));

  async function identifyBearer(bearer: string, ip: string, takesNodes: boolean): Promise<IdentifiedCaller> {
    if (bearer.startsWith('svk_')) return authenticators.apiKey(bearer, ip);
    const family = tokens.familyOf(bearer);
    if (family) return authenticators[byFamily[family]](bearer);
    if (isSfuSecret(bearer)) return { kind: 'sfuSecret' };
    return fail(takesNodes ? 'SVC_INVALID_SFU_SECRET' : 'SVC_INVALID_TOKEN');
  }

  return async (accepted, headers, ip) => {
    if (accepted.includes('none')) return { kind: 'none' };
    const takesNodes = accepted.includes('sfuSecret');
    const bearer = bearerOf(headers) ?? (takesNodes ? headers['x-sfu-secret'] : undefined);
    if (typeof bearer !== 'string') return fail('SVC_UNAUTHENTICATED');
    const caller = await identifyBearer(bearer, ip, takesNodes);
    return accepted.includes(caller.kind) ? caller : fail('SVC_WRONG_CREDENTIAL_TYPE');
  };
}

/** The bearer credential of a request; the scheme is matched without regard to case, as RFC 9110 asks. */
export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer +([\x21-\x7e]{1,16384})$/i.exec(headers.authorization ?? '')?.[1];
}

function equalTexts(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
