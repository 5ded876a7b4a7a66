import type { KeyObject } from 'node:crypto';
import { SvcError } from './errors.ts';
import { hmacSha256, hmacSha256Async } from './hmac.ts';
import { nodeCrypto } from './node-crypto.ts';

/**
 * What tokens are signed with: `sgk_….…` as the dashboard has shown it, or the id of a registered public key with its
 * private half (PEM, or a KeyObject), Ed25519 or P-256. Keep it on your servers.
 */
export type SigningKey = string | { id: string; privateKey: string | PrivateKey };

/** What a `KeyObject` of node:crypto has; its own type would ask every user for Node's types. */
export interface PrivateKey {
  readonly type: string;
  readonly asymmetricKeyType?: string | undefined;
  export(options: object): unknown;
}

type Type = 'rtc+jwt' | 'chat+jwt';

interface Signer {
  /** As they stand in a token. */
  headers: Readonly<Record<Type, string>>;
  sign(text: string): string;
  /** Where there is no node:crypto. */
  signAsync?(text: string): Promise<string>;
}

const utf8 = new TextEncoder();
const secretPattern = /^(sgk_[0-9a-z]{24})\.([A-Za-z0-9]{43})$/;

interface Kind {
  typ: Type;
  prefix: 'rtk_' | 'ctk_';
}
type Claims = Readonly<Record<string, unknown>>;

/** The token and what is said about it in the answers of the mint routes. */
export function signToken(signingKey: SigningKey, kind: Kind, claims: Claims, ttlSeconds: number) {
  const signer = signerOf(signingKey);
  const { text, about } = prepare(signer, kind, claims, ttlSeconds);
  return { token: `${text}.${signer.sign(text)}`, ...about };
}

export async function signTokenAsync(signingKey: SigningKey, kind: Kind, claims: Claims, ttlSeconds: number) {
  const signer = signerOf(signingKey);
  const { text, about } = prepare(signer, kind, claims, ttlSeconds);
  return { token: `${text}.${(await signer.signAsync?.(text)) ?? signer.sign(text)}`, ...about };
}

function prepare({ headers }: Signer, { typ, prefix }: Kind, claims: Claims, ttlSeconds: number) {
  const now = Date.now();
  const iat = Math.floor(now / 1000);
  const exp = iat + ttlSeconds;
  const tokenId = `${prefix}${newId(now)}`;
  const text = `${headers[typ]}.${encode({ ...claims, jti: tokenId, iat, exp, ims: now })}`;
  const expiresAt = new Date(exp * 1000).toISOString();
  return { text, about: { tokenId, tokenType: 'Bearer' as const, expiresAt, expiresIn: ttlSeconds } };
}

/** Reading a key costs more than signing with it, so each is read once. */
const pairs = new WeakMap<object, Signer>();
let lastSecret: { text: string; signer: Signer } | null = null;

function signerOf(signingKey: SigningKey): Signer {
  if (typeof signingKey === 'string') {
    if (lastSecret?.text !== signingKey) lastSecret = { text: signingKey, signer: secretSigner(signingKey) };
    return lastSecret.signer;
  }
  const signer = pairs.get(signingKey) ?? pairSigner(signingKey);
  pairs.set(signingKey, signer);
  return signer;
}

const signer = (kid: string, alg: 'HS256' | 'EdDSA' | 'ES256', sign: Signer['sign']): Signer => ({
  headers: {
    'rtc+jwt': encode({ alg, typ: 'rtc+jwt', kid }),
    'chat+jwt': encode({ alg, typ: 'chat+jwt', kid }),
  },
  sign,
});

function secretSigner(text: string): Signer {
  const [, id, secret] = secretPattern.exec(text) ?? [];
  if (id === undefined || secret === undefined) return invalid('signingKey must look like sgk_….…');
  const key = utf8.encode(secret);
  const native = nodeCrypto();
  if (!native)
    return {
      ...signer(id, 'HS256', (message) => base64url(hmacSha256(key, utf8.encode(message)))),
      signAsync: async (message) => base64url(await hmacSha256Async(key, utf8.encode(message))),
    };
  const secretKey = native.createSecretKey(key);
  return signer(id, 'HS256', (message) => native.createHmac('sha256', secretKey).update(message).digest('base64url'));
}

function pairSigner({ id, privateKey }: Exclude<SigningKey, string>): Signer {
  const native = nodeCrypto() ?? invalid('a key pair needs node:crypto; use a secret (HS256) on this runtime');
  // Anything else is refused by Node when it signs.
  const key = typeof privateKey === 'string' ? native.createPrivateKey(privateKey) : (privateKey as KeyObject);
  if (key.asymmetricKeyType === 'ed25519')
    return signer(id, 'EdDSA', (message) => base64url(native.sign(null, utf8.encode(message), key)));
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return invalid('privateKey must be Ed25519 or P-256');
  return signer(id, 'ES256', (message) => base64url(rawSignature(native.sign('sha256', utf8.encode(message), key))));
}

const numberLength = 32;

/** Both numbers of a DER signature, side by side as JWS wants them. Asking Node for `ieee-p1363` halves its speed. */
function rawSignature(der: Uint8Array): Uint8Array {
  const raw = new Uint8Array(2 * numberLength);
  // Behind the head of the sequence; a signature of P-256 is short enough for lengths of one byte.
  let at = 2;
  for (const end of [numberLength, raw.length]) {
    const from = at + 2;
    at = from + (der[at + 1] ?? 0);
    // Without the zero in front that keeps a number positive; a small one has fewer bytes.
    const digits = der.subarray(Math.max(from, at - numberLength), at);
    raw.set(digits, end - digits.length);
  }
  return raw;
}

/** What was given may be a secret: it is not repeated. */
function invalid(what: string): never {
  throw new SvcError({
    code: 'invalid_signing_key',
    message: `${what}. Make a signing key in the dashboard, under API keys.`,
  });
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** As the service makes them, so that they sort together: base32 of 48 bits of milliseconds and 72 bits of chance. */
function newId(now: number): string {
  const [first = 0, ...bytes] = globalThis.crypto.getRandomValues(new Uint8Array(15));
  let text = alphabet.charAt(((now % 8) << 2) | (first & 3));
  for (let left = Math.floor(now / 8), at = 0; at < 9; at++, left = Math.floor(left / 32))
    text = alphabet.charAt(left % 32) + text;
  for (const byte of bytes) text += alphabet.charAt(byte & 31);
  return text;
}

const encode = (value: object): string => base64url(utf8.encode(JSON.stringify(value)));

function base64url(bytes: Uint8Array): string {
  if (typeof Buffer !== 'undefined')
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
