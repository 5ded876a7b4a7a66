/** RTP packets for tests, written by hand so that the reader under test does not check itself. */
export interface PacketInit {
  sequence: number;
  timestamp?: number;
  ssrc?: number;
  payloadType?: number;
  marker?: boolean;
  payload?: Uint8Array;
  /** One-byte-header extension elements. */
  extensions?: [id: number, data: number[]][];
  /** Elements with heads of two bytes, in place of those. */
  wideExtensions?: [id: number, data: number[]][];
}

export function rtpPacket(init: PacketInit): Buffer {
  const {
    sequence,
    timestamp = 0,
    ssrc = 1,
    payloadType = 96,
    marker = false,
    payload = new Uint8Array(),
    extensions = [],
    wideExtensions = [],
  } = init;
  const hasExtensions = extensions.length + wideExtensions.length > 0;
  const head = Buffer.alloc(12);
  head[0] = hasExtensions ? 0x90 : 0x80;
  head[1] = payloadType | (marker ? 0x80 : 0);
  head.writeUInt16BE(sequence & 0xffff, 2);
  head.writeUInt32BE(timestamp >>> 0, 4);
  head.writeUInt32BE(ssrc, 8);
  const elements = extensions.flatMap(([id, data]) => [(id << 4) | (data.length - 1), ...data]);
  elements.push(...wideExtensions.flatMap(([id, data]) => [id, data.length, ...data]));
  while (elements.length % 4 !== 0) elements.push(0);
  const profile = wideExtensions.length > 0 ? [0x10, 0x00] : [0xbe, 0xde];
  const block = hasExtensions ? [...profile, 0, elements.length / 4, ...elements] : [];
  return Buffer.concat([head, Buffer.from(block), payload]);
}

/** A VP8 payload with a 15-bit picture id and TL0PICIDX. */
export function vp8Payload(pictureId: number, tl0: number, isKeyFrame: boolean, body: number[] = [1, 2, 3]): Buffer {
  return Buffer.from([
    0x90,
    0xe0,
    0x80 | (pictureId >> 8),
    pictureId & 0xff,
    tl0 & 0xff,
    0,
    isKeyFrame ? 0 : 1,
    ...body,
  ]);
}

/** A packet as RTX repeats it (RFC 4588): in a stream of its own, with its number in front of the payload. */
export function rtxPacket(repeated: PacketInit, own: Partial<PacketInit> & { sequence: number }): Buffer {
  const { sequence, payload = new Uint8Array() } = repeated;
  return rtpPacket({
    ...repeated,
    ...own,
    payload: Uint8Array.of((sequence >> 8) & 0xff, sequence & 0xff, ...payload),
  });
}

/** Without content: a browser probes its path with it. */
export function paddingPacket(init: PacketInit, bytes = 224): Buffer {
  const padding = new Uint8Array(bytes);
  padding[bytes - 1] = bytes;
  const packet = rtpPacket({ ...init, payload: padding });
  packet[0] = (packet[0] ?? 0) | 0x20;
  return packet;
}
