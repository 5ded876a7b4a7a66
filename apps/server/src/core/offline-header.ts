import { idPattern } from '@parley/contract';

/** The header of a token that a backend signed with a key of its project. */
export interface OfflineHeader {
  family: 'chat' | 'rtc';
  /** What the token says; the key's row decides. */
  algorithm: string;
  keyId: string;
}

const keyIdPattern = new RegExp(idPattern('signingKey'));
const families: Readonly<Record<string, OfflineHeader['family']>> = { 'chat+jwt': 'chat', 'rtc+jwt': 'rtc' };
const lengthMax = 256;

export const isSigningKeyId = (keyId: string): boolean => keyIdPattern.test(keyId);

/**
 * Reads `alg`, `typ` and `kid` and takes nothing beside them: there is no `jku`, `jwk`, `x5u` or `crit` to follow. Null
 * for any other text. Proves nothing.
 */
export function readOfflineHeader(token: string): OfflineHeader | null {
  const end = token.indexOf('.');
  if (end < 1 || end > lengthMax) return null;
  const { alg, typ, kid, ...others } = readObject(Buffer.from(token.slice(0, end), 'base64url').toString());
  const family = typeof typ === 'string' && Object.hasOwn(families, typ) ? families[typ] : undefined;
  if (typeof alg !== 'string' || typeof kid !== 'string' || !family || Object.keys(others).length > 0) return null;
  return isSigningKeyId(kid) ? { family, algorithm: alg, keyId: kid } : null;
}

function readObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
