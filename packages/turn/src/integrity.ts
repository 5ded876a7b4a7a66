import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ATTRIBUTE, decodeStun, HEADER_BYTES, type StunMessage } from './stun.ts';

const MAC_BYTES = 20;
const FINGERPRINT_XOR = 0x5354554e;

/** The key of a long-term credential (RFC 8489 9.2.2). */
export const longTermKey = (username: string, realm: string, password: string): Buffer =>
  createHash('md5').update(`${username}:${realm}:${password}`).digest();

/** The message with MESSAGE-INTEGRITY appended; it must have neither that nor FINGERPRINT yet. */
export function sign(bytes: Buffer, key: Buffer | string): Buffer {
  return append(bytes, ATTRIBUTE.messageIntegrity, MAC_BYTES, (covered) => mac(covered, key));
}

/** The message with FINGERPRINT appended. */
export function addFingerprint(bytes: Buffer): Buffer {
  return append(bytes, ATTRIBUTE.fingerprint, 4, fingerprint);
}

/** The value covers everything before its attribute, in a message whose length counts the attribute (RFC 8489 14.5). */
function append(bytes: Buffer, type: number, length: number, digest: (covered: Buffer) => Buffer): Buffer {
  const whole = Buffer.alloc(bytes.length + 4 + length);
  bytes.copy(whole);
  whole.writeUInt16BE(whole.length - HEADER_BYTES, 2);
  whole.writeUInt16BE(type, bytes.length);
  whole.writeUInt16BE(length, bytes.length + 2);
  digest(whole.subarray(0, bytes.length)).copy(whole, bytes.length + 4);
  return whole;
}

function fingerprint(covered: Buffer): Buffer {
  const value = Buffer.alloc(4);
  value.writeUInt32BE((crc32(covered) ^ FINGERPRINT_XOR) >>> 0);
  return value;
}

const mac = (covered: Buffer, key: Buffer | string): Buffer => createHmac('sha1', key).update(covered).digest();

/** Whether MESSAGE-INTEGRITY is there and was made with this key. */
export function isSigned(bytes: Buffer, message: StunMessage, key: Buffer | string): boolean {
  const found = message.attributes.find(({ type }) => type === ATTRIBUTE.messageIntegrity);
  if (found?.value.length !== MAC_BYTES) return false;
  return timingSafeEqual(mac(coveredBy(bytes, found.offset, MAC_BYTES), key), found.value);
}

/** Whether FINGERPRINT is there, is last and is right. */
export function isFingerprinted(bytes: Buffer): boolean {
  const found = decodeStun(bytes)?.attributes.at(-1);
  if (found?.type !== ATTRIBUTE.fingerprint) return false;
  return fingerprint(coveredBy(bytes, found.offset, 4)).equals(found.value);
}

function coveredBy(bytes: Buffer, offset: number, length: number): Buffer {
  const covered = Buffer.from(bytes.subarray(0, offset));
  covered.writeUInt16BE(offset + 4 + length - HEADER_BYTES, 2);
  return covered;
}
