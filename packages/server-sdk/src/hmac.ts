import { SvcError } from './errors.ts';
import { nodeCrypto } from './node-crypto.ts';

/** At once, by node:crypto: Web Crypto has only promises to offer (ADR 135). */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const native = nodeCrypto() ?? noNodeCrypto();
  return new Uint8Array(native.createHmac('sha256', key).update(message).digest());
}

/** On every runtime: Web Crypto where there is no node:crypto. */
export async function hmacSha256Async(key: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
  if (nodeCrypto()) return hmacSha256(key, message);
  const { subtle } = globalThis.crypto;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  // A view of its own buffer: what Web Crypto takes.
  const imported = await subtle.importKey('raw', new Uint8Array(key), algorithm, false, ['sign']);
  return new Uint8Array(await subtle.sign('HMAC', imported, new Uint8Array(message)));
}

function noNodeCrypto(): never {
  throw new SvcError({
    code: 'no_node_crypto',
    message:
      'This runtime has no node:crypto, so nothing can be signed at once: await the function with Async in its name.',
  });
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
