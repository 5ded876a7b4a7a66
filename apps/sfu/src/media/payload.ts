import type { CodecName } from '@parley/media-description';

/** Where the parts of a VP8 payload descriptor (RFC 7741 4.2) are; offsets are 0 when the part is absent. */
export interface Vp8Descriptor {
  isFrameStart: boolean;
  pictureIdAt: number;
  /** 7 or 15 bits. */
  pictureIdBits: number;
  pictureId: number;
  tl0PicIdxAt: number;
  tl0PicIdx: number;
  temporalLayer: number;
  isLayerSync: boolean;
  payloadStart: number;
}

export const newVp8Descriptor = (): Vp8Descriptor => ({
  isFrameStart: false,
  pictureIdAt: 0,
  pictureIdBits: 0,
  pictureId: 0,
  tl0PicIdxAt: 0,
  tl0PicIdx: 0,
  temporalLayer: 0,
  isLayerSync: false,
  payloadStart: 0,
});

/** False when the payload is too short for what its flags announce. */
export function readVp8(b: Buffer, start: number, end: number, descriptor: Vp8Descriptor): boolean {
  if (end <= start) return false;
  const first = b[start] ?? 0;
  let at = start + 1;
  descriptor.isFrameStart = (first & 0x10) !== 0 && (first & 0x07) === 0;
  descriptor.pictureIdAt = 0;
  descriptor.pictureIdBits = 0;
  descriptor.tl0PicIdxAt = 0;
  descriptor.temporalLayer = 0;
  descriptor.isLayerSync = false;
  if ((first & 0x80) !== 0) {
    const flags = b[at] ?? 0;
    at += 1;
    if ((flags & 0x80) !== 0) {
      const isLong = ((b[at] ?? 0) & 0x80) !== 0;
      if (at + (isLong ? 2 : 1) > end) return false;
      descriptor.pictureIdAt = at;
      descriptor.pictureIdBits = isLong ? 15 : 7;
      descriptor.pictureId = isLong ? b.readUInt16BE(at) & 0x7fff : (b[at] ?? 0) & 0x7f;
      at += isLong ? 2 : 1;
    }
    if ((flags & 0x40) !== 0) {
      descriptor.tl0PicIdxAt = at;
      descriptor.tl0PicIdx = b[at] ?? 0;
      at += 1;
    }
    if ((flags & 0x30) !== 0) {
      const layers = b[at] ?? 0;
      descriptor.temporalLayer = (flags & 0x20) !== 0 ? layers >> 6 : 0;
      descriptor.isLayerSync = (layers & 0x20) !== 0;
      at += 1;
    }
  }
  descriptor.payloadStart = at;
  return at < end;
}

/** Overwrites a picture id of 7 or 15 bits. */
export function writePictureId(b: Buffer, at: number, bits: number, pictureId: number): void {
  if (bits === 15) {
    b[at] = 0x80 | (pictureId >> 8);
    b[at + 1] = pictureId & 0xff;
  } else b[at] = pictureId & 0x7f;
}

const scratch = newVp8Descriptor();

/** True when a key frame starts in this payload: the only place where a receiver can begin to decode. */
export function startsKeyFrame(codec: CodecName, b: Buffer, start: number, end: number): boolean {
  switch (codec) {
    case 'VP8':
      return readVp8(b, start, end, scratch) && scratch.isFrameStart && ((b[scratch.payloadStart] ?? 1) & 1) === 0;
    case 'VP9':
      return startsVp9KeyFrame(b, start, end);
    case 'H264':
      return startsH264KeyFrame(b, start, end);
    case 'AV1':
      // Aggregation header: N says that a new coded video sequence starts here.
      return end > start && ((b[start] ?? 0) & 0x88) === 0x08;
    case 'opus':
    case 'red':
      return true;
  }
}

/** Not predicted (P), the beginning of a frame (B), and of the base spatial layer. */
function startsVp9KeyFrame(b: Buffer, start: number, end: number): boolean {
  if (end <= start) return false;
  const flags = b[start] ?? 0;
  if ((flags & 0x40) !== 0 || (flags & 0x08) === 0) return false;
  let at = start + 1;
  if ((flags & 0x80) !== 0) at += ((b[at] ?? 0) & 0x80) !== 0 ? 2 : 1;
  if ((flags & 0x20) === 0) return at <= end;
  return at < end && (((b[at] ?? 0) >> 1) & 7) === 0;
}

const NAL_IDR = 5;
const NAL_SPS = 7;
const NAL_STAP_A = 24;
const NAL_FU_A = 28;

/** An SPS, or the start of an IDR picture; both alone, aggregated or fragmented. */
function startsH264KeyFrame(b: Buffer, start: number, end: number): boolean {
  if (end <= start) return false;
  const type = (b[start] ?? 0) & 0x1f;
  if (type === NAL_SPS || type === NAL_IDR) return true;
  if (type === NAL_FU_A && end - start >= 2) {
    const head = b[start + 1] ?? 0;
    return (head & 0x80) !== 0 && ((head & 0x1f) === NAL_IDR || (head & 0x1f) === NAL_SPS);
  }
  if (type !== NAL_STAP_A) return false;
  for (let at = start + 1; at + 2 < end; at += 2 + b.readUInt16BE(at)) {
    const inner = (b[at + 2] ?? 0) & 0x1f;
    if (inner === NAL_SPS || inner === NAL_IDR) return true;
  }
  return false;
}

/**
 * Payload of the newest block of RED audio (RFC 2198), for receivers that did not accept RED; undefined when malformed.
 */
export function redPrimary(b: Buffer, start: number, end: number): { start: number; end: number } | undefined {
  let at = start;
  let redundant = 0;
  while (at < end && ((b[at] ?? 0) & 0x80) !== 0) {
    if (at + 4 > end) return undefined;
    redundant += (((b[at + 2] ?? 0) & 3) << 8) | (b[at + 3] ?? 0);
    at += 4;
  }
  const primary = at + 1 + redundant;
  return primary <= end ? { start: primary, end } : undefined;
}

/** Gives every block of a RED payload another payload type: publishers number Opus as they like. */
export function retypeRed(b: Buffer, start: number, end: number, payloadType: number): void {
  let at = start;
  while (at < end && ((b[at] ?? 0) & 0x80) !== 0) {
    b[at] = 0x80 | payloadType;
    at += 4;
  }
  if (at < end) b[at] = payloadType;
}
