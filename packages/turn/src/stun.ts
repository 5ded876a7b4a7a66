/**
 * STUN messages (RFC 8489) as far as TURN (RFC 8656) needs them. What is malformed decodes to null and never throws:
 * every byte comes from strangers.
 */
import { type Address, addressOf, bytesOf } from './addresses.ts';

export const HEADER_BYTES = 20;
export const COOKIE = 0x2112a442;
const ATTRIBUTES_MAX = 32;

export const METHOD = {
  binding: 1,
  allocate: 3,
  refresh: 4,
  send: 6,
  data: 7,
  createPermission: 8,
  channelBind: 9,
} as const;

export const ATTRIBUTE = {
  username: 0x0006,
  messageIntegrity: 0x0008,
  errorCode: 0x0009,
  unknownAttributes: 0x000a,
  channelNumber: 0x000c,
  lifetime: 0x000d,
  peerAddress: 0x0012,
  data: 0x0013,
  realm: 0x0014,
  nonce: 0x0015,
  relayedAddress: 0x0016,
  requestedFamily: 0x0017,
  evenPort: 0x0018,
  requestedTransport: 0x0019,
  mappedAddress: 0x0020,
  priority: 0x0024,
  fingerprint: 0x8028,
  iceControlled: 0x8029,
  iceControlling: 0x802a,
} as const;

const CLASSES = ['request', 'indication', 'success', 'error'] as const;
export type StunClass = (typeof CLASSES)[number];

export interface StunMessage {
  method: number;
  class: StunClass;
  transactionId: Buffer;
  attributes: readonly StunAttribute[];
}

export interface StunAttribute {
  type: number;
  value: Buffer;
  /** Of the attribute's own header, from the message's first byte. */
  offset: number;
}

/** Whether these bytes may be STUN and not RTP, DTLS or ChannelData. */
export const isStun = (bytes: Buffer): boolean =>
  bytes.length >= HEADER_BYTES && (bytes.readUInt8(0) & 0xc0) === 0 && bytes.readUInt32BE(4) === COOKIE;

/** Exactly one message, or null. What follows MESSAGE-INTEGRITY is not covered by it and is left out, but FINGERPRINT. */
export function decodeStun(bytes: Buffer): StunMessage | null {
  if (!isStun(bytes) || bytes.readUInt16BE(2) !== bytes.length - HEADER_BYTES || bytes.length % 4 !== 0) return null;
  const attributes: StunAttribute[] = [];
  let isCovered = true;
  for (let offset = HEADER_BYTES; offset < bytes.length; ) {
    const type = bytes.readUInt16BE(offset);
    const start = offset + 4;
    const end = start + bytes.readUInt16BE(offset + 2);
    if (end > bytes.length || attributes.length === ATTRIBUTES_MAX) return null;
    if (isCovered || type === ATTRIBUTE.fingerprint)
      attributes.push({ type, value: bytes.subarray(start, end), offset });
    if (type === ATTRIBUTE.messageIntegrity) isCovered = false;
    offset = padded(end);
  }
  return { ...kindOf(bytes.readUInt16BE(0)), transactionId: bytes.subarray(8, HEADER_BYTES), attributes };
}

export const padded = (length: number): number => (length + 3) & ~3;

/** Method and class share the first 14 bits (RFC 8489 5). */
const kindOf = (type: number): Pick<StunMessage, 'method' | 'class'> => ({
  method: (type & 0x000f) | ((type & 0x00e0) >> 1) | ((type & 0x3e00) >> 2),
  class: CLASSES[((type & 0x0010) >> 4) | ((type & 0x0100) >> 7)] ?? 'request',
});

function typeOf(method: number, kind: StunClass): number {
  const bits = CLASSES.indexOf(kind);
  return (method & 0x0f) | ((method & 0x70) << 1) | ((method & 0xf80) << 2) | ((bits & 1) << 4) | ((bits & 2) << 7);
}

export type NewAttribute = readonly [type: number, value: Buffer];

/** Without integrity: `sign` of integrity.ts appends it. */
export function encodeStun(
  { method, class: kind, transactionId }: Omit<StunMessage, 'attributes'>,
  attributes: readonly NewAttribute[],
): Buffer {
  const length = attributes.reduce((sum, [, value]) => sum + 4 + padded(value.length), 0);
  const bytes = Buffer.alloc(HEADER_BYTES + length);
  bytes.writeUInt16BE(typeOf(method, kind), 0);
  bytes.writeUInt16BE(length, 2);
  bytes.writeUInt32BE(COOKIE, 4);
  transactionId.copy(bytes, 8);
  let offset = HEADER_BYTES;
  for (const [type, value] of attributes) {
    bytes.writeUInt16BE(type, offset);
    bytes.writeUInt16BE(value.length, offset + 2);
    value.copy(bytes, offset + 4);
    offset += 4 + padded(value.length);
  }
  return bytes;
}

/** The first attribute of this type: RFC 8489 14 ignores the others. */
export const find = (message: StunMessage, type: number): Buffer | undefined =>
  message.attributes.find((attribute) => attribute.type === type)?.value;

export const findAll = (message: StunMessage, type: number): Buffer[] =>
  message.attributes.filter((attribute) => attribute.type === type).map(({ value }) => value);

export const findText = (message: StunMessage, type: number): string | undefined => find(message, type)?.toString();

/** Undefined when it is absent or not four bytes long. */
export function findUint32(message: StunMessage, type: number): number | undefined {
  const value = find(message, type);
  return value?.length === 4 ? value.readUInt32BE(0) : undefined;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function errorCode(code: number, reason: string): Buffer {
  return Buffer.concat([Buffer.from([0, 0, Math.floor(code / 100), code % 100]), Buffer.from(reason)]);
}

export function readErrorCode(message: StunMessage): number | undefined {
  const value = find(message, ATTRIBUTE.errorCode);
  return value && value.length >= 4 ? (value.readUInt8(2) & 7) * 100 + value.readUInt8(3) : undefined;
}

/** An address is sent XORed with the cookie and, for IPv6, the transaction (RFC 8489 14.2). */
export function xorAddress(address: Address, transactionId: Buffer): Buffer {
  const ip = bytesOf(address.address);
  const value = Buffer.alloc(4 + ip.length);
  value.writeUInt8(address.family === 4 ? 1 : 2, 1);
  value.writeUInt16BE(address.port ^ (COOKIE >>> 16), 2);
  xor(ip, transactionId).copy(value, 4);
  return value;
}

export function readXorAddress(value: Buffer | undefined, transactionId: Buffer): Address | undefined {
  if (!value || value.length < 4) return undefined;
  const isWhole = value.length === { 1: 8, 2: 20 }[value.readUInt8(1)];
  if (!isWhole) return undefined;
  return addressOf(xor(value.subarray(4), transactionId), value.readUInt16BE(2) ^ (COOKIE >>> 16));
}

function xor(ip: Buffer, transactionId: Buffer): Buffer {
  const mask = Buffer.concat([uint32(COOKIE), transactionId]);
  return Buffer.from(ip.map((byte, index) => byte ^ (mask[index] ?? 0)));
}
