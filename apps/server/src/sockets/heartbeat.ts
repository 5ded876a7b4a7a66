import { frameText, type SocketFrame } from '../core/socket.ts';

/** What a heartbeat asks: `t` comes back in the pong, as JSON. */
interface Heartbeat {
  t: string | null;
}

const start = Buffer.from('{"type":"ping"');
const field = Buffer.from(',"t":');
const bare: Heartbeat = { t: null };
const [zero, nine, end] = [0x30, 0x39, 0x7d];
/** A number of so many digits is what JSON makes of it again. */
const digitsMax = 15;

/**
 * A ping as SDKs write it, bare or with a whole number: most of what idle sockets send, so that it is known by its
 * bytes. Null for every other frame, also a ping written otherwise.
 */
export function readHeartbeat(bytes: Buffer): Heartbeat | null {
  const { length } = bytes;
  if (
    length <= start.length ||
    bytes[length - 1] !== end ||
    bytes.compare(start, 0, start.length, 0, start.length) !== 0
  )
    return null;
  if (length === start.length + 1) return bare;
  const digitsAt = start.length + field.length;
  const digits = length - 1 - digitsAt;
  if (digits < 1 || digits > digitsMax || bytes.compare(field, 0, field.length, start.length, digitsAt) !== 0)
    return null;
  for (let at = digitsAt; at < length - 1; at++) {
    const code = bytes[at] ?? 0;
    if (code < zero || code > nine) return null;
  }
  // A leading zero is no JSON.
  return digits > 1 && bytes[digitsAt] === zero ? null : { t: bytes.toString('latin1', digitsAt, length - 1) };
}

let written: { now: number; frame: SocketFrame } | null = null;

/** The pong to a heartbeat; bare ones of a millisecond share it. */
export function pongFrame({ t }: Heartbeat, now: number): SocketFrame {
  if (t !== null) return frameText(`{"type":"pong","t":${t},"serverTime":${now},"ts":${now}}`);
  if (written?.now !== now) written = { now, frame: frameText(`{"type":"pong","serverTime":${now},"ts":${now}}`) };
  return written.frame;
}
