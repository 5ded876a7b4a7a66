import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { PasskeyCreation, PasskeyRequest } from '@parley/contract';

/** An authenticator in memory, with one passkey (P-256, no attestation). */
export interface SoftPasskey {
  /** What the browser's `toJSON()` would say after making it. */
  create(options: Pick<PasskeyCreation, 'challenge' | 'rp'>): ReturnType<typeof createdBy>;
  /** Its answer to a challenge; `isVerified`: it asked its user for a PIN or a finger. */
  get(options: Pick<PasskeyRequest, 'challenge' | 'rpId'>, how?: Answering): ReturnType<typeof answeredBy>;
}

interface Answering {
  isVerified?: boolean;
  /** The signature counter says this instead of the next number. */
  counter?: number;
  origin?: string;
}

const present = 0x01;
const verified = 0x04;
const attested = 0x40;

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const text = (bytes: Buffer): string => bytes.toString('base64url');

/** The little CBOR that a credential is made of. */
function cbor(value: number | string | Buffer | Map<number | string, unknown>): Buffer {
  if (typeof value === 'number') return value < 0 ? head(0x20, -1 - value) : head(0x00, value);
  if (typeof value === 'string') return Buffer.concat([head(0x60, value.length), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(0x40, value.length), value]);
  const entries = [...value].flatMap(([key, item]) => [cbor(key), cbor(item as Buffer)]);
  return Buffer.concat([head(0xa0, value.size), ...entries]);
}

function head(kind: number, size: number): Buffer {
  if (size < 24) return Buffer.from([kind | size]);
  return size < 256 ? Buffer.from([kind | 24, size]) : Buffer.from([kind | 25, size >> 8, size & 255]);
}

const clientData = (type: 'webauthn.create' | 'webauthn.get', challenge: string, origin: string): Buffer =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

function authenticatorData(rpId: string, flags: number, counter: number, credential = Buffer.alloc(0)): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, credential]);
}

const createdBy = (id: string, client: Buffer, attestationObject: Buffer) => ({
  id,
  rawId: id,
  type: 'public-key' as const,
  response: { clientDataJSON: text(client), attestationObject: text(attestationObject) },
});

const answeredBy = (id: string, client: Buffer, data: Buffer, signature: Buffer) => ({
  id,
  rawId: id,
  type: 'public-key' as const,
  response: { clientDataJSON: text(client), authenticatorData: text(data), signature: text(signature) },
});

export function createSoftPasskey(origin: string): SoftPasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credentialId = randomBytes(32);
  const id = text(credentialId);
  let uses = 0;

  return {
    create({ challenge, rp }) {
      const key = new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]);
      const credential = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([0, credentialId.length]),
        credentialId,
        cbor(key),
      ]);
      const authData = authenticatorData(rp.id, present | verified | attested, 0, credential);
      const statement = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]);
      return createdBy(id, clientData('webauthn.create', challenge, origin), cbor(statement));
    },
    get({ challenge, rpId }, { isVerified = true, counter = ++uses, origin: from = origin } = {}) {
      const data = authenticatorData(rpId, present | (isVerified ? verified : 0), counter);
      const client = clientData('webauthn.get', challenge, from);
      const signature = createSign('sha256').update(data).update(sha256(client)).sign(privateKey);
      return answeredBy(id, client, data, signature);
    },
  };
}
