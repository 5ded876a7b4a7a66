import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** What a derived key is for. One purpose each, so that one family's token can never pass for another's. */
type KeyPurpose =
  | 'session'
  | 'chat'
  | 'rtc'
  | 'signed-url'
  | 'cursor'
  | 'refresh'
  | 'seal'
  | 'sfu-control'
  | 'call-link'
  | 'erased-user';

export interface Keyring {
  /** There is a key before this one, and what it sealed is to be sealed anew. */
  readonly isRotating: boolean;
  key(purpose: KeyPurpose): KeyObject;
  /** HMAC-SHA256 of `text`. */
  mac(purpose: KeyPurpose, text: string): Buffer;
  /** The same under the present key and the one before it, if there is one. */
  macs(purpose: KeyPurpose, text: string): Buffer[];
  /** Whether `given` is that, or its beginning of `bytes` bytes; made with the key before this one, too. */
  isMac(purpose: KeyPurpose, text: string, given: Uint8Array, bytes?: number): boolean;
  /** Encrypts what must be kept but never in clear: replayed answers, webhook secrets. */
  seal(text: string): string;
  /** Throws when the text was altered or sealed under another key than the two. */
  unseal(sealed: string): string;
  /** The same sealed under the present key; null when it is already, or when there was no other. */
  renew(sealed: string): string | null;
}

const macBytesMax = 32;

/** The keys of a service; while its root is rotated, what the one before it signed and sealed is still good. */
export function createKeyring(secretKey: string, previousKey: string | null = null): Keyring {
  const present = createKeys(secretKey);
  const previous = previousKey === null ? null : createKeys(previousKey);

  return {
    isRotating: previous !== null,
    key: present.key,
    mac: present.mac,
    macs: (purpose, text) => [present, ...(previous === null ? [] : [previous])].map((keys) => keys.mac(purpose, text)),
    seal: present.seal,
    isMac(purpose, text, given, bytes = macBytesMax) {
      const isOf = (keys: Keys): boolean =>
        given.length === bytes && timingSafeEqual(given, keys.mac(purpose, text).subarray(0, bytes));
      return isOf(present) || (previous !== null && isOf(previous));
    },
    unseal(sealed) {
      if (previous === null) return present.unseal(sealed);
      try {
        return present.unseal(sealed);
      } catch {
        return previous.unseal(sealed);
      }
    },
    renew(sealed) {
      if (previous === null) return null;
      try {
        present.unseal(sealed);
        return null;
      } catch {
        return present.seal(previous.unseal(sealed));
      }
    },
  };
}

type Keys = Pick<Keyring, 'key' | 'mac' | 'seal' | 'unseal'>;

function createKeys(secretKey: string): Keys {
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
