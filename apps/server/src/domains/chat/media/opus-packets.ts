/** Opus as recorders of browsers give it: packets in Ogg (RFC 7845) or WebM. */
export interface OpusSound {
  channels: number;
  /** Samples at 48 kHz before the sound begins. */
  preSkip: number;
  packets: Uint8Array[];
  /** Samples at which it ends, where the file says so: the last packet may be longer. */
  end: number;
}

/** Null for anything else, and for more than two channels. */
export function opusIn(bytes: Buffer): OpusSound | null {
  if (bytes.toString('latin1', 0, 4) === 'OggS') return opusInOgg(bytes);
  return bytes.length >= 4 && bytes.readUInt32BE(0) === ebmlHeader ? opusInWebm(bytes) : null;
}

const sampleRate = 48_000;
/** Milliseconds of a frame by the configuration of its packet (RFC 6716, 3.1): four for each kind. */
const frameMs = [
  ...[10, 20, 40, 60, 10, 20, 40, 60, 10, 20, 40, 60],
  ...[10, 20, 10, 20],
  ...[2.5, 5, 10, 20, 2.5, 5, 10, 20, 2.5, 5, 10, 20, 2.5, 5, 10, 20],
];

function msOf(packet: Uint8Array): number {
  const [head = 0, count = 0] = packet;
  const code = head & 3;
  const frames = code === 0 ? 1 : code === 3 ? count & 63 : 2;
  return frames * (frameMs[head >> 3] ?? 0);
}

/** What its packets say, without decoding one. */
export function opusMs({ packets, preSkip, end }: OpusSound): number {
  const samples = packets.reduce((sum, packet) => sum + msOf(packet), 0) * (sampleRate / 1000);
  return Math.max(0, ((Math.min(samples, end) - preSkip) / sampleRate) * 1000);
}

type About = Pick<OpusSound, 'channels' | 'preSkip'>;

/** The first packet of Ogg, and what WebM keeps of the codec. */
function headOf(head: Buffer | undefined): About | null {
  if (!head || head.length < 19 || head.toString('latin1', 0, 8) !== 'OpusHead') return null;
  const [channels, preSkip, family] = [head.readUInt8(9), head.readUInt16LE(10), head.readUInt8(18)];
  return family === 0 && (channels === 1 || channels === 2) ? { channels, preSkip } : null;
}

function opusInOgg(bytes: Buffer): OpusSound | null {
  const packets: Buffer[] = [];
  let pieces: Buffer[] = [];
  let end = Number.POSITIVE_INFINITY;
  const stream = bytes.length >= 18 ? bytes.readUInt32LE(14) : 0;
  for (let at = 0; at + 27 <= bytes.length && bytes.toString('latin1', at, at + 4) === 'OggS'; ) {
    const segments = bytes.subarray(at + 27, at + 27 + bytes.readUInt8(at + 26));
    const isOurs = bytes.readUInt32LE(at + 14) === stream;
    const samples = Number(bytes.readBigInt64LE(at + 6));
    if (isOurs && samples > 0) end = samples;
    at += 27 + segments.length;
    for (const length of segments) {
      if (isOurs) pieces.push(bytes.subarray(at, at + length));
      at += length;
      // A shorter piece is the last of its packet.
      if (isOurs && length < 255) [packets[packets.length], pieces] = [Buffer.concat(pieces), []];
    }
  }
  // The second has the tags.
  const [head, , ...sound] = packets;
  const about = headOf(head);
  return about && { ...about, packets: sound, end };
}

const ebmlHeader = 0x1a45dfa3;
const element = {
  trackEntry: 0xae,
  trackNumber: 0xd7,
  codecPrivate: 0x63a2,
  simpleBlock: 0xa3,
  block: 0xa1,
} as const;
/** Gone into, whatever length they say: that of a recording is not known when it begins. */
const containers = new Set([0x18538067, 0x1654ae6b, element.trackEntry, 0x1f43b675, 0xa0]);

function opusInWebm(bytes: Buffer): OpusSound | null {
  let track = { number: -1, head: undefined as Buffer | undefined };
  let ours: (About & { number: number }) | null = null;
  const packets: Buffer[] = [];
  for (const { id, body } of elementsOf(bytes)) {
    if (id === element.trackEntry) track = { number: -1, head: undefined };
    else if (id === element.trackNumber) track.number = body.length > 0 ? body.readUInt8(body.length - 1) : -1;
    else if (id === element.codecPrivate) track.head = body;
    else if (id === element.simpleBlock || id === element.block) {
      const packet = ours && packetIn(body, ours.number);
      if (packet) packets.push(packet);
    }
    const about: About | null = ours === null && track.number >= 0 ? headOf(track.head) : null;
    if (about) ours = { ...about, number: track.number };
  }
  return ours && { channels: ours.channels, preSkip: ours.preSkip, packets, end: Number.POSITIVE_INFINITY };
}

/** A track of up to 127, a time, flags, and the packet; several in one block are not written by recorders. */
function packetIn(block: Buffer, track: number): Buffer | null {
  if (block.length < 5 || block.readUInt8(0) !== (track | 0x80)) return null;
  const isLaced = (block.readUInt8(3) & 0x06) !== 0;
  return isLaced ? null : block.subarray(4);
}

function* elementsOf(bytes: Buffer): Generator<{ id: number; body: Buffer }> {
  for (let at = 0; at < bytes.length; ) {
    const id = numberAt(bytes, at, 4);
    const length = id && numberAt(bytes, at + id.size, 8);
    if (!id || !length) return;
    at += id.size + length.size;
    // The sign of how long it is belongs to an id, and not to a length.
    const bodyLength = length.value - 2 ** (7 * length.size);
    const isContainer = containers.has(id.value);
    yield { id: id.value, body: isContainer ? bytes.subarray(at, at) : bytes.subarray(at, at + bodyLength) };
    if (!isContainer) at += bodyLength;
  }
}

/** As many bytes as the zeros at its beginning say, and one. */
function numberAt(bytes: Buffer, at: number, sizeMax: number): { value: number; size: number } | null {
  const size = Math.clz32(bytes[at] ?? 0) - 23;
  if (size > sizeMax || at + size > bytes.length) return null;
  let value = 0;
  for (const byte of bytes.subarray(at, at + size)) value = value * 256 + byte;
  return { value, size };
}
