import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { DatagramWindow, readNumber, writeNumber } from './datagram-window.ts';

const CIPHER = 'aes-128-gcm';
const KEY_BYTES = 16;
const SALT_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The receiver's number of the pipe, which chooses the key, then the number of the datagram, which is the nonce. */
export const HEAD_BYTES = 12;
export const SEALED_BYTES = HEAD_BYTES + TAG_BYTES;

/** The two ends of a pipe: each sends with the key that the other receives with. */
export type PipeEnd = 'a' | 'b';

/** What makes datagrams of a pipe, and reads those of its other end. */
export interface DatagramSeal {
  /** Datagrams sealed so far. */
  readonly sent: number;
  /** Datagrams of the other end that never came. */
  readonly lost: number;
  /** The parts of the datagram, for a socket that sends them as one. */
  seal(pipe: number, plain: Buffer): Buffer[];
  /** The plain text; undefined for a datagram that is not of the other end, or that came before. */
  open(datagram: Buffer): Buffer | undefined;
}

interface DirectionKey {
  key: KeyObject;
  salt: Buffer;
}

/**
 * One end of a pipe between nodes: AES-128-GCM with a key for each direction, a number for each datagram, each accepted once. A secret
 * must never make two of them at one end: both would count from one.
 */
export class Seal implements DatagramSeal {
  /** Of each secret that both ends may have: first the one that the other end was last heard with, which is answered with. */
  readonly #keys: { send: DirectionKey; receive: DirectionKey }[];
  readonly #sendNonce = Buffer.alloc(NONCE_BYTES);
  readonly #receiveNonce = Buffer.alloc(NONCE_BYTES);
  readonly #window = new DatagramWindow();
  #sent = 0;

  /** `others`: secrets that the other end may still, or already, have instead. */
  constructor(secret: Buffer, end: PipeEnd, others: readonly Buffer[] = []) {
    this.#keys = [secret, ...others].map((one) => ({
      send: deriveKey(one, end),
      receive: deriveKey(one, end === 'a' ? 'b' : 'a'),
    }));
  }

  get sent(): number {
    return this.#sent;
  }

  get lost(): number {
    return this.#window.lost;
  }

  seal(pipe: number, plain: Buffer): Buffer[] {
    this.#sent += 1;
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt32BE(pipe, 0);
    writeNumber(head, SALT_BYTES, this.#sent);
    const [keys] = this.#keys;
    if (!keys) throw new Error('A pipe without a secret.');
    keys.send.salt.copy(this.#sendNonce);
    head.copy(this.#sendNonce, SALT_BYTES, SALT_BYTES);
    const cipher = createCipheriv(CIPHER, keys.send.key, this.#sendNonce);
    const sealed = cipher.update(plain);
    cipher.final();
    return [head, sealed, cipher.getAuthTag()];
  }

  open(datagram: Buffer): Buffer | undefined {
    const end = datagram.length - TAG_BYTES;
    if (end < HEAD_BYTES) return undefined;
    const number = readNumber(datagram, SALT_BYTES);
    if (!this.#window.isFresh(number)) return undefined;
    for (const [index, { receive }] of this.#keys.entries()) {
      const plain = this.#openWith(receive, datagram, end);
      if (!plain) continue;
      if (index > 0) this.#keys.unshift(...this.#keys.splice(index, 1));
      this.#window.accept(number);
      return plain;
    }
    return undefined;
  }

  #openWith({ key, salt }: DirectionKey, datagram: Buffer, end: number): Buffer | undefined {
    salt.copy(this.#receiveNonce);
    datagram.copy(this.#receiveNonce, SALT_BYTES, SALT_BYTES, HEAD_BYTES);
    const decipher = createDecipheriv(CIPHER, key, this.#receiveNonce);
    decipher.setAuthTag(datagram.subarray(end));
    const plain = decipher.update(datagram.subarray(HEAD_BYTES, end));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return plain;
  }
}

function deriveKey(secret: Buffer, sender: PipeEnd): DirectionKey {
  const info = `parley pipe, sent by ${sender}`;
  const bytes = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), info, KEY_BYTES + SALT_BYTES));
  return { key: createSecretKey(bytes.subarray(0, KEY_BYTES)), salt: bytes.subarray(KEY_BYTES) };
}
