import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { DatagramWindow, readNumber, writeNumber } from './datagram-window.ts';
import { type DatagramSeal, HEAD_BYTES, type PipeEnd, SEALED_BYTES } from './seal.ts';

const NUMBER_AT = 4;
const KEY_BYTES = SEALED_BYTES - HEAD_BYTES;

/**
 * One end of a pipe between processes of one machine: each datagram carries the key of its direction, which only the two
 * know. Who could read it from the loopback device could read the processes too (ADR 160).
 */
export class Stamp implements DatagramSeal {
  readonly #send: Buffer;
  readonly #receive: Buffer;
  readonly #window = new DatagramWindow();
  #sent = 0;

  constructor(secret: Buffer, end: PipeEnd) {
    this.#send = deriveKey(secret, end);
    this.#receive = deriveKey(secret, end === 'a' ? 'b' : 'a');
  }

  get sent(): number {
    return this.#sent;
  }

  get lost(): number {
    return this.#window.lost;
  }

  /** A copy: what is written next must not change a datagram that the system has yet to take. */
  seal(pipe: number, plain: Buffer): Buffer[] {
    this.#sent += 1;
    const datagram = Buffer.allocUnsafe(SEALED_BYTES + plain.length);
    datagram.writeUInt32BE(pipe, 0);
    writeNumber(datagram, NUMBER_AT, this.#sent);
    this.#send.copy(datagram, HEAD_BYTES);
    plain.copy(datagram, SEALED_BYTES);
    return [datagram];
  }

  open(datagram: Buffer): Buffer | undefined {
    if (datagram.length < SEALED_BYTES) return undefined;
    const number = readNumber(datagram, NUMBER_AT);
    if (!this.#window.isFresh(number)) return undefined;
    if (!timingSafeEqual(datagram.subarray(HEAD_BYTES, SEALED_BYTES), this.#receive)) return undefined;
    this.#window.accept(number);
    return datagram.subarray(SEALED_BYTES);
  }
}

const deriveKey = (secret: Buffer, sender: PipeEnd): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `parley pipe on one machine, sent by ${sender}`, KEY_BYTES));
