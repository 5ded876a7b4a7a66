import { hash, randomBytes, randomFillSync } from 'node:crypto';
import { type IdKind, idPrefixes } from '@parley/contract';
import type { Clock } from './clock.ts';

export interface Ids {
  /** A public id: prefix and 24 base32 characters that sort by time. */
  newId(kind: IdKind): string;
  /** A public id that is the same for the same seed. */
  idOf(kind: IdKind, seed: string): string;
  /** A version 7 uuid. */
  newUuid(): string;
}

// Crockford's alphabet keeps the order of the bytes and leaves out letters people confuse.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Bytes as base32, five bits a character; the length must be a multiple of five bytes. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 5) {
    const high = ((bytes[at] ?? 0) << 12) | ((bytes[at + 1] ?? 0) << 4) | ((bytes[at + 2] ?? 0) >> 4);
    const low = (((bytes[at + 2] ?? 0) & 15) << 16) | ((bytes[at + 3] ?? 0) << 8) | (bytes[at + 4] ?? 0);
    for (const half of [high, low]) {
      text += alphabet.charAt((half >> 15) & 31) + alphabet.charAt((half >> 10) & 31);
      text += alphabet.charAt((half >> 5) & 31) + alphabet.charAt(half & 31);
    }
  }
  return text;
}

const pool = Buffer.allocUnsafe(4_096);
let used = pool.length;

/** Random bytes out of a pool: asking the system for a few of them costs more than everything else about an id. */
export function pooledBytes(length: number): Buffer {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += length;
  // A copy: what was handed out is never handed out again, and never changes.
  return Buffer.from(pool.subarray(used - length, used));
}

/** `length` bytes: 48 bits of milliseconds, then randomness. */
function timeOrderedBytes(now: number, length: number): Buffer {
  const bytes = pooledBytes(length);
  bytes.writeUIntBE(now, 0, 6);
  return bytes;
}

export function createIds(clock: Clock): Ids {
  return {
    newId: (kind) => idPrefixes[kind] + base32(timeOrderedBytes(clock.now(), 15)),
    idOf: (kind, seed) => idPrefixes[kind] + base32(hash('sha256', seed, 'buffer').subarray(0, 15)),
    newUuid() {
      const bytes = timeOrderedBytes(clock.now(), 16);
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
      const hex = bytes.toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
  };
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A number as base62, filled with zeros on the left. */
export function base62Of(number: number, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest = Math.floor(rest / 62)) text = base62.charAt(rest % 62) + text;
  return text;
}

/** Random base62 text; `length` 43 holds 256 bits. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte: rejecting the rest keeps every character equally likely.
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += base62.charAt(byte % 62);
  }
  return text;
}
