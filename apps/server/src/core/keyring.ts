import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** What a derived key is for. One purpose each, so that one family's token can never pass for another's. */
type KeyPurpose = 'session' | 'chat' | 'rtc' | 'signed-url' | 'cursor' | 'refresh' | 'seal' | 'sfu-control';

export interface Keyring {
  key(purpose: KeyPurpose): KeyObject;
  /** HMAC-SHA256 of `text`. */
  mac(purpose: KeyPurpose, text: string): Buffer;
  /** Encrypts what must be kept but never in clear: replayed answers, webhook secrets. */
  seal(text: string): string;
  /** Throws when the text was altered or sealed under another key. */
  unseal(sealed: string): string;
}

export function createKeyring(secretKey: string): Keyring {
  const root = createSecretKey(Buffer.from(secretKey, 'utf8'));
  const derived = new Map<KeyPurpose, KeyObject>();

  // KeyObjects, not Buffers: node:crypto imports a Buffer again for each call, at 3-4 times the cost.
  function key(purpose: KeyPurpose): KeyObject {
    const known = derived.get(purpose);
    if (known) return known;
    const made = createSecretKey(Buffer.from(hkdfSync('sha256', root, 'parley', purpose, 32)));
    derived.set(purpose, made);
    return made;
  }

  return {
    key,
    mac: (purpose, text) => createHmac('sha256', key(purpose)).update(text).digest(),
    seal(text) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key('seal'), nonce);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    unseal(sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      const decipher = createDecipheriv('aes-256-gcm', key('seal'), bytes.subarray(0, 12));
      decipher.setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
    },
  };
}
