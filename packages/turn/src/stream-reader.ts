import { COOKIE, HEADER_BYTES, padded } from './stun.ts';

/** Cuts a TCP stream into messages (RFC 8656 12.5). What it holds is at most one message. */
export class StreamReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Null when this is not TURN: the connection is of no more use. */
  read(chunk: Buffer): Buffer[] | null {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: Buffer[] = [];
    while (rest.length >= 4) {
      const length = lengthOf(rest);
      if (length === null) return null;
      if (rest.length < length) break;
      messages.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    this.#rest = rest;
    return messages;
  }
}

/** Of the message that begins here, with its padding. */
function lengthOf(bytes: Buffer): number | null {
  const kind = bytes.readUInt8(0) & 0xc0;
  const length = bytes.readUInt16BE(2);
  if (kind === 0x40) return 4 + padded(length);
  const isStrange = bytes.length >= 8 && bytes.readUInt32BE(4) !== COOKIE;
  return kind === 0 && length % 4 === 0 && !isStrange ? HEADER_BYTES + length : null;
}
