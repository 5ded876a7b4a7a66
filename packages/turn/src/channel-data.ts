import { padded } from './stun.ts';

export const CHANNEL_MIN = 0x4000;
/** RFC 8656 ends at 0x4fff; clients of RFC 5766 use all up to here. */
export const CHANNEL_MAX = 0x7ffe;

/** Media in a channel has four bytes of header instead of a message around it (RFC 8656 12.4). */
export const isChannelData = (bytes: Buffer): boolean => bytes.length >= 4 && (bytes.readUInt8(0) & 0xc0) === 0x40;

/** Null when it is shorter than it says; longer is padding. */
export function decodeChannelData(bytes: Buffer): { channel: number; data: Buffer } | null {
  const length = bytes.readUInt16BE(2);
  if (bytes.length < 4 + length) return null;
  return { channel: bytes.readUInt16BE(0), data: bytes.subarray(4, 4 + length) };
}

/** In a stream it is padded, so that the next message begins at a multiple of four. */
export function encodeChannelData(channel: number, data: Buffer, isStream: boolean): Buffer {
  const bytes = Buffer.alloc(4 + (isStream ? padded(data.length) : data.length));
  bytes.writeUInt16BE(channel, 0);
  bytes.writeUInt16BE(data.length, 2);
  data.copy(bytes, 4);
  return bytes;
}
