/** One RTP packet, read in place. A view is reused for packet after packet: nothing in the hot path allocates. */
export interface RtpView {
  buffer: Buffer;
  marker: boolean;
  payloadType: number;
  sequence: number;
  timestamp: number;
  ssrc: number;
  /** Where the extension elements are; 0 when there are none. */
  extensionStart: number;
  extensionEnd: number;
  /** Extension elements have two-byte heads (RFC 8285 4.3). */
  isWide: boolean;
  payloadStart: number;
  /** Without padding. */
  payloadEnd: number;
}

export const RTP_HEADER_BYTES = 12;
const ONE_BYTE_PROFILE = 0xbede;
const TWO_BYTE_PROFILE = 0x1000;

export const newRtpView = (): RtpView => ({
  buffer: Buffer.alloc(0),
  marker: false,
  payloadType: 0,
  sequence: 0,
  timestamp: 0,
  ssrc: 0,
  extensionStart: 0,
  extensionEnd: 0,
  isWide: false,
  payloadStart: 0,
  payloadEnd: 0,
});

/** Packet types 64-95 after the marker bit are RTCP (RFC 5761 4). */
export const isRtcp = (buffer: Buffer): boolean => {
  const type = (buffer[1] ?? 0) & 0x7f;
  return type >= 64 && type <= 95;
};

/** False, and a view that must not be used, when the bytes are not a whole RTP packet. */
export function readRtp(buffer: Buffer, view: RtpView): boolean {
  const { length } = buffer;
  if (length < RTP_HEADER_BYTES) return false;
  const first = buffer[0] ?? 0;
  const second = buffer[1] ?? 0;
  if (first >> 6 !== 2) return false;
  view.buffer = buffer;
  view.marker = second >= 128;
  view.payloadType = second & 0x7f;
  view.sequence = buffer.readUInt16BE(2);
  view.timestamp = buffer.readUInt32BE(4);
  view.ssrc = buffer.readUInt32BE(8);
  view.extensionStart = 0;
  view.extensionEnd = 0;
  let offset = RTP_HEADER_BYTES + (first & 0x0f) * 4;
  if ((first & 0x10) !== 0) {
    if (offset + 4 > length) return false;
    const profile = buffer.readUInt16BE(offset);
    const end = offset + 4 + buffer.readUInt16BE(offset + 2) * 4;
    if (end > length) return false;
    view.isWide = (profile & 0xfff0) === TWO_BYTE_PROFILE;
    if (profile === ONE_BYTE_PROFILE || view.isWide) {
      view.extensionStart = offset + 4;
      view.extensionEnd = end;
    }
    offset = end;
  }
  if (offset > length) return false;
  view.payloadStart = offset;
  view.payloadEnd = length;
  if ((first & 0x20) !== 0) {
    const padding = buffer[length - 1] ?? 0;
    if (padding === 0 || offset + padding > length) return false;
    view.payloadEnd = length - padding;
  }
  return true;
}

/** Where the data of an extension element starts, or -1. Its length is left in `extensionLength`. */
export function findExtension(view: RtpView, id: number | undefined): number {
  if (id === undefined || view.extensionStart === 0) return -1;
  const { buffer, extensionEnd, isWide } = view;
  let offset = view.extensionStart;
  while (offset < extensionEnd) {
    const head = buffer[offset] ?? 0;
    if (head === 0) {
      offset += 1;
      continue;
    }
    const elementId = isWide ? head : head >> 4;
    if (!isWide && elementId === 15) return -1;
    const length = isWide ? (buffer[offset + 1] ?? 0) : (head & 0x0f) + 1;
    const start = offset + (isWide ? 2 : 1);
    if (start + length > extensionEnd) return -1;
    if (elementId === id) {
      extensionLength = length;
      return start;
    }
    offset = start + length;
  }
  return -1;
}

/** Length of the element that `findExtension` found last: a second result without an allocation. */
export let extensionLength = 0;

/** Text of an extension element (MID, RID), or undefined. */
export function readExtensionText(view: RtpView, id: number | undefined): string | undefined {
  const start = findExtension(view, id);
  return start < 0 ? undefined : view.buffer.toString('latin1', start, start + extensionLength);
}

/** Signed distance from `from` to `to` on the 16-bit circle: positive when `to` is newer. */
export const sequenceDistance = (from: number, to: number): number => ((to - from) << 16) >> 16;

/** Signed distance on the 32-bit circle. */
export const timestampDistance = (from: number, to: number): number => (to - from) | 0;

/** 24 bits, seconds with 18 fractional bits. */
export const toAbsSendTime = (nowMs: number): number => Math.floor(((nowMs % 64_000) / 1000) * 262_144) & 0xffffff;
