import { fail } from '@parley/contract';
import type { Clock } from './clock.ts';
import type { Keyring } from './keyring.ts';
import { readOfflineHeader } from './offline-header.ts';

/** Kinds of token we sign. Each has its own key and its own header, and neither can stand in for another. */
export const tokenFamilies = ['session', 'chat', 'rtc'] as const;
export type TokenFamily = (typeof tokenFamilies)[number];

export interface Claims {
  sub: string;
  jti: string;
  iat: number;
  exp: number;
  [claim: string]: unknown;
}

/** Tokens as short as 30 s leave no room for more. */
export const clockLeewaySeconds = 10;

export interface Tokens {
  /** A JWT (HS256) of this family. `ttlSeconds` from now. */
  sign(
    family: TokenFamily,
    claims: Record<string, unknown> & { sub: string; jti: string },
    ttlSeconds: number,
  ): SignedToken;
  /** The claims, or SVC_INVALID_TOKEN / SVC_TOKEN_EXPIRED. Nothing in the token is believed before its signature. */
  verify(family: TokenFamily, token: string): Claims;
  /** The claims of a token that we signed, whatever became of it since; null for any other. */
  read(family: TokenFamily, token: string): Claims | null;
  /** Which family the token says it is of, by its header, no matter who signed it. Proves nothing. */
  familyOf(token: string): TokenFamily | null;
}

interface SignedToken {
  token: string;
  expiresAt: number;
  expiresIn: number;
}

const base64url = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');

/**
 * The header is one constant text per family and is compared as bytes: there is no algorithm to negotiate, no `kid`,
 * `jku` or `jwk` to follow, and `none` is just another wrong header. Tokens with a `kid` are not ours: a project's
 * backend signed them, and they are verified where its keys are (domains/projects/offline-tokens.ts).
 */
const headers: Readonly<Record<TokenFamily, string>> = {
  session: base64url('{"alg":"HS256","typ":"session+jwt"}'),
  chat: base64url('{"alg":"HS256","typ":"chat+jwt"}'),
  rtc: base64url('{"alg":"HS256","typ":"rtc+jwt"}'),
};

export const tokenLengthMax = 16_384;

interface TokenDeps {
  keyring: Keyring;
  clock: Clock;
  issuer: string;
  /** Hears of every token whose signature is not ours. */
  onForged?: (family: TokenFamily) => void;
}

export function createTokens({ keyring, clock, issuer, onForged }: TokenDeps): Tokens {
  function refuse(family: TokenFamily): never {
    onForged?.(family);
    return fail('SVC_INVALID_TOKEN');
  }

  const ownFamilyOf = (token: string): TokenFamily | undefined =>
    tokenFamilies.find((family) => token.startsWith(`${headers[family]}.`));

  return {
    familyOf: (token) => ownFamilyOf(token) ?? readOfflineHeader(token)?.family ?? null,

    sign(family, claims, ttlSeconds) {
      const iat = Math.floor(clock.now() / 1000);
      const exp = iat + ttlSeconds;
      const payload = base64url(JSON.stringify({ iss: issuer, ...claims, typ: family, iat, nbf: iat, exp }));
      const signed = `${headers[family]}.${payload}`;
      const signature = keyring.mac(family, signed).toString('base64url');
      return { token: `${signed}.${signature}`, expiresAt: exp * 1000, expiresIn: ttlSeconds };
    },

    read(family, token) {
      if (token.length > tokenLengthMax || ownFamilyOf(token) !== family) return null;
      const end = token.lastIndexOf('.');
      const given = Buffer.from(token.slice(end + 1), 'base64url');
      if (!keyring.isMac(family, token.slice(0, end), given)) return null;
      // Base64 has several texts for the same bytes: a token has one.
      if (token.slice(end + 1) !== given.toString('base64url')) return null;
      // Our signature covers it, so the payload is JSON that we wrote.
      return JSON.parse(Buffer.from(token.slice(headers[family].length + 1, end), 'base64url').toString()) as Claims;
    },

    verify(family, token) {
      const claims = this.read(family, token) ?? refuse(family);
      const now = clock.now() / 1000;
      if (claims.exp + clockLeewaySeconds <= now) fail('SVC_TOKEN_EXPIRED');
      if (claims.iat - clockLeewaySeconds > now) fail('SVC_INVALID_TOKEN');
      return claims;
    },
  };
}
