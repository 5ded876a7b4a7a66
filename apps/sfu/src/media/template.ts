import { DEFAULT_EXTENSIONS, DESCRIPTOR_ID, type Extensions } from '@parley/media-description';
import { extensionLength, findExtension, RTP_HEADER_BYTES, type RtpView, toAbsSendTime } from './rtp.ts';

/** Enough for any packet on a path of 1500 bytes, with our extensions and the two bytes of RTX. */
const BYTES_MAX = 2048;
const ABS_SEND_TIME_AT = RTP_HEADER_BYTES + 4;
const TRANSPORT_NUMBER_AT = ABS_SEND_TIME_AT + 4;
/** The time itself, where heads are of two bytes. */
const WIDE_SEND_TIME_AT = TRANSPORT_NUMBER_AT + 5;

/** Extensions that go on as they came, with the id we gave them; all have ids under 15. */
const PASSED = ['audioLevel', 'orientation', 'playoutDelay'] as const;
const SENT_IDS: Extensions = {
  ...DEFAULT_EXTENSIONS.audio,
  ...DEFAULT_EXTENSIONS.video,
  dependencyDescriptor: DESCRIPTOR_ID,
};
/** What fits behind a head of one byte (RFC 8285 4.2). */
const SHORT_BYTES_MAX = 16;
const LONG_BYTES_MAX = 255;
const ONE_BYTE_PROFILE = 0xbede;
const TWO_BYTE_PROFILE = 0x1000;

/**
 * The packet as subscribers get it, less what differs from one to the next. It is built once for all of them; each then
 * writes its own SSRC, numbers and payload type over it and sends it.
 */
export class PacketTemplate {
  readonly #bytes = Buffer.alloc(BYTES_MAX);
  /** The packet; valid until the next `build`. */
  packet: Buffer = this.#bytes;
  payloadStart = 0;
  /** Where the dependency descriptor is, behind all other extensions; 0 when there is none. */
  descriptorAt = 0;

  /** False when the packet does not fit. `gap` leaves room before the payload (RTX puts a sequence number there). */
  build(view: RtpView, payloadStart: number, payloadEnd: number, ids: Extensions, nowMs: number, gap = 0): boolean {
    const bytes = this.#bytes;
    bytes[0] = 0x90;
    bytes[1] = view.marker ? 0x80 : 0;
    const descriptorAt = findExtension(view, ids.dependencyDescriptor);
    const descriptorBytes = descriptorAt < 0 ? 0 : extensionLength;
    const isWide = descriptorBytes > SHORT_BYTES_MAX;
    let at = this.#writeOwn(toAbsSendTime(nowMs), isWide);
    if (view.extensionStart !== 0) at = this.#passExtensions(view, ids, at, isWide);
    this.descriptorAt = 0;
    if (descriptorBytes > 0) {
      at = this.#writeHead(SENT_IDS.dependencyDescriptor ?? 0, descriptorBytes, at, isWide);
      this.descriptorAt = at;
      at += view.buffer.copy(bytes, at, descriptorAt, descriptorAt + descriptorBytes);
    }
    while ((at & 3) !== 0) bytes[at++] = 0;
    const words = (at - RTP_HEADER_BYTES - 4) >> 2;
    bytes[14] = words >> 8;
    bytes[15] = words & 0xff;
    this.payloadStart = at + gap;
    const end = this.payloadStart + payloadEnd - payloadStart;
    if (end > BYTES_MAX) return false;
    view.buffer.copy(bytes, this.payloadStart, payloadStart, payloadEnd);
    this.packet = bytes.subarray(0, end);
    return true;
  }

  /** Our own extensions, the transport-wide number in one place whichever the heads are; where they end. */
  #writeOwn(sendTime: number, isWide: boolean): number {
    const bytes = this.#bytes;
    bytes.writeUInt16BE(isWide ? TWO_BYTE_PROFILE : ONE_BYTE_PROFILE, RTP_HEADER_BYTES);
    if (isWide) bytes.fill(0, ABS_SEND_TIME_AT, TRANSPORT_NUMBER_AT);
    const sendTimeHead = isWide ? WIDE_SEND_TIME_AT - 2 : ABS_SEND_TIME_AT;
    const sendTimeAt = this.#writeHead(SENT_IDS.absSendTime ?? 0, 3, sendTimeHead, isWide);
    bytes.writeUIntBE(sendTime, sendTimeAt, 3);
    this.#writeHead(SENT_IDS.transportCc ?? 0, 2, isWide ? TRANSPORT_NUMBER_AT - 1 : TRANSPORT_NUMBER_AT, isWide);
    return isWide ? sendTimeAt + 3 : TRANSPORT_NUMBER_AT + 3;
  }

  #writeHead(id: number, length: number, at: number, isWide: boolean): number {
    if (!isWide) {
      this.#bytes[at] = (id << 4) | (length - 1);
      return at + 1;
    }
    this.#bytes[at] = id;
    this.#bytes[at + 1] = length;
    return at + 2;
  }

  #passExtensions(view: RtpView, ids: Extensions, start: number, isWide: boolean): number {
    let at = start;
    for (const name of PASSED) {
      const from = findExtension(view, ids[name]);
      if (from < 0 || extensionLength > 4) continue;
      at = this.#writeHead(SENT_IDS[name] ?? 0, extensionLength, at, isWide);
      for (let index = 0; index < extensionLength; index += 1) this.#bytes[at++] = view.buffer[from + index] ?? 0;
    }
    return at;
  }
}

const described = Buffer.alloc(BYTES_MAX);

/**
 * A copy with another dependency descriptor, which `write` puts where it is told; its length. Undefined when that does
 * not fit. Valid until the next.
 */
export function replaceDescriptor(
  { packet, payloadStart, descriptorAt }: PacketTemplate,
  write: (to: Buffer, at: number) => number,
): Buffer | undefined {
  const isWide = packet.readUInt16BE(RTP_HEADER_BYTES) === TWO_BYTE_PROFILE;
  packet.copy(described, 0, 0, descriptorAt);
  const length = write(described, descriptorAt);
  if (length > (isWide ? LONG_BYTES_MAX : SHORT_BYTES_MAX)) return undefined;
  if (isWide) described[descriptorAt - 1] = length;
  else described[descriptorAt - 1] = ((described[descriptorAt - 1] ?? 0) & 0xf0) | (length - 1);
  let at = descriptorAt + length;
  while ((at & 3) !== 0) described[at++] = 0;
  described.writeUInt16BE((at - RTP_HEADER_BYTES - 4) >> 2, RTP_HEADER_BYTES + 2);
  const end = at + packet.copy(described, at, payloadStart);
  return described.subarray(0, end);
}

/** Writes what is the subscriber's own over a packet. */
export function stamp(packet: Buffer, payloadType: number, sequence: number, timestamp: number, ssrc: number): void {
  packet[1] = ((packet[1] ?? 0) & 0x80) | payloadType;
  packet[2] = sequence >> 8;
  packet[3] = sequence & 0xff;
  packet[4] = timestamp >>> 24;
  packet[5] = (timestamp >>> 16) & 0xff;
  packet[6] = (timestamp >>> 8) & 0xff;
  packet[7] = timestamp & 0xff;
  packet[8] = ssrc >>> 24;
  packet[9] = (ssrc >>> 16) & 0xff;
  packet[10] = (ssrc >>> 8) & 0xff;
  packet[11] = ssrc & 0xff;
}

/** Writes a packet's place in the count of its transport. */
export function stampTransport(packet: Buffer, number: number): void {
  packet[TRANSPORT_NUMBER_AT + 1] = number >> 8;
  packet[TRANSPORT_NUMBER_AT + 2] = number & 0xff;
}

/** Writes when a packet that had to wait leaves; everything else of it stays. */
export function stampSendTime(packet: Buffer, nowMs: number): void {
  const isWide = packet.readUInt16BE(RTP_HEADER_BYTES) === TWO_BYTE_PROFILE;
  packet.writeUIntBE(toAbsSendTime(nowMs), isWide ? WIDE_SEND_TIME_AT : ABS_SEND_TIME_AT + 1, 3);
}

/** Our extension id to the client's; 0 for what it does not have. */
export type ExtensionTable = Uint8Array;

export function extensionTable(theirs: Extensions): ExtensionTable {
  const table = new Uint8Array(16);
  for (const [name, id] of Object.entries(SENT_IDS)) table[id] = theirs[name as keyof Extensions] ?? 0;
  return table;
}

const translated = Buffer.alloc(BYTES_MAX);

/** A copy with the client's extension ids; what it does not have becomes padding. Valid until the next. */
export function translateExtensions(packet: Buffer, table: ExtensionTable): Buffer {
  packet.copy(translated);
  const isWide = packet.readUInt16BE(RTP_HEADER_BYTES) === TWO_BYTE_PROFILE;
  const end = ABS_SEND_TIME_AT + packet.readUInt16BE(RTP_HEADER_BYTES + 2) * 4;
  for (let at = ABS_SEND_TIME_AT; at < end; ) {
    const head = translated[at] ?? 0;
    const bytes = isWide ? 2 + (translated[at + 1] ?? 0) : 2 + (head & 0x0f);
    const next = head === 0 ? at + 1 : at + bytes;
    const id = table[isWide ? head : head >> 4] ?? 0;
    if (id === 0) translated.fill(0, at, next);
    else translated[at] = isWide ? id : (id << 4) | (head & 0x0f);
    at = next;
  }
  return translated.subarray(0, packet.length);
}
