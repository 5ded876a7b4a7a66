import type { Socket } from 'node:net';

/** What a connection begins with: a TLS handshake, one of an authority that validates our name, or neither. */
type Opening = 'tls' | 'validation' | 'plain';

const handshakeRecord = 0x16;
const recordHeaderBytes = 5;
/** As it stands in the list of protocols that a ClientHello offers (RFC 8737). */
const validationProtocol = Buffer.from('\x0aacme-tls/1', 'latin1');

/** Null until enough is there. A validation has another certificate, so it must be known before the handshake. */
export function openingOf(bytes: Buffer): Opening | null {
  if (bytes[0] !== handshakeRecord) return 'plain';
  if (bytes.length < recordHeaderBytes || bytes.length < recordHeaderBytes + bytes.readUInt16BE(3)) return null;
  return bytes.includes(validationProtocol) ? 'validation' : 'tls';
}

const magicCookie = 0x2112a442;

/** STUN and TURN messages begin with two zero bits and have a magic cookie (RFC 8656); HTTP begins with a letter. */
export function isTurn(bytes: Buffer): boolean | null {
  if ((bytes[0] ?? 0) >= 0x40) return false;
  return bytes.length < 8 ? null : bytes.readUInt32BE(4) === magicCookie;
}

/** Reads until `judge` answers, and puts everything back. Null when the connection ended before. */
export function peek<T>(socket: Socket, judge: (bytes: Buffer) => T | null): Promise<T | null> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    function finish(verdict: T | null): void {
      socket.off('readable', onReadable);
      socket.off('end', onEnd);
      socket.off('close', onEnd);
      if (bytes.length > 0 && !socket.destroyed) socket.unshift(bytes);
      resolve(verdict);
    }
    const onEnd = (): void => finish(null);
    function onReadable(): void {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      bytes = Buffer.concat([bytes, chunk]);
      const verdict = judge(bytes);
      if (verdict !== null) finish(verdict);
    }
    socket.on('readable', onReadable);
    socket.once('end', onEnd);
    socket.once('close', onEnd);
  });
}
