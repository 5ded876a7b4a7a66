import { createHmac, createPublicKey, createSecretKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import type { SigningAlgorithm } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';

/** The key of a project with what verifies its signatures. */
export interface SigningKeyRecord extends ProjectScope {
  id: string;
  algorithm: SigningAlgorithm;
  key: KeyObject;
  isRevoked: boolean;
}

/** Whether the token's signature is the key's, by the key's own algorithm. */
export function isSignedBy({ algorithm, key }: SigningKeyRecord, token: string): boolean {
  const end = token.lastIndexOf('.');
  const text = token.slice(end + 1);
  const signature = Buffer.from(text, 'base64url');
  // One text for one signature.
  if (signature.length === 0 || signature.toString('base64url') !== text) return false;
  const signed = Buffer.from(token.slice(0, end));
  if (algorithm === 'HS256') {
    const expected = createHmac('sha256', key).update(signed).digest();
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  }
  if (algorithm === 'EdDSA') return verify(null, signed, key, signature);
  return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

/** What verifies a signature: the secret's bytes, or the public key. */
export const verifyingKey = (secret: string | null, publicKey: string | null): KeyObject =>
  secret === null ? createPublicKey(publicKey ?? '') : createSecretKey(Buffer.from(secret, 'utf8'));
