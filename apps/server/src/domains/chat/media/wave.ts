/** Peaks of what is not compressed, which we can read without a decoder. */
const partsCount = 64;

interface Pcm {
  channels: number;
  bits: number;
  isFloat: boolean;
  data: Buffer;
}

/** Null for anything but a WAV file of plain samples. */
export function waveOf(bytes: Buffer): number[] | null {
  const pcm = pcmIn(bytes);
  return pcm && peaksOf(pcm);
}

function pcmIn(bytes: Buffer): Pcm | null {
  if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE')
    return null;
  let format: Omit<Pcm, 'data'> | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const [name, length] = [bytes.toString('latin1', at, at + 4), bytes.readUInt32LE(at + 4)];
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (name === 'fmt ') format = formatIn(body);
    if (name === 'data') return format && { ...format, data: body };
    at += 8 + length + (length % 2);
  }
  return null;
}

function formatIn(body: Buffer): Omit<Pcm, 'data'> | null {
  if (body.length < 16) return null;
  const [channels, bits] = [body.readUInt16LE(2), body.readUInt16LE(14)];
  const tag = body.readUInt16LE(0);
  // Extensible: what it is stands further back.
  const code = tag === 0xfffe && body.length >= 26 ? body.readUInt16LE(24) : tag;
  const isFloat = code === 3 && bits === 32;
  const isInteger = code === 1 && [8, 16, 24, 32].includes(bits);
  return channels >= 1 && channels <= 64 && (isFloat || isInteger) ? { channels, bits, isFloat } : null;
}

function peaksOf({ channels, bits, isFloat, data }: Pcm): number[] | null {
  const width = bits / 8;
  const frames = Math.floor(data.length / (width * channels));
  return inParts(frames, (frame) => {
    let peak = 0;
    for (let channel = 0; channel < channels; channel++)
      peak = Math.max(peak, Math.abs(sampleAt(data, (frame * channels + channel) * width, bits, isFloat)));
    return peak;
  });
}

/** The loudest of each part, the loudest of all being 100. */
function inParts(length: number, peakAt: (index: number) => number): number[] | null {
  if (length === 0) return null;
  const count = Math.min(partsCount, length);
  const parts = new Array<number>(count).fill(0);
  for (let index = 0; index < length; index++) {
    const part = Math.floor((index * count) / length);
    parts[part] = Math.max(parts[part] ?? 0, peakAt(index));
  }
  const loudest = Math.max(...parts);
  return parts.map((peak) => (loudest > 0 ? Math.round((peak / loudest) * 100) : 0));
}

/** Peaks of many short pieces as those of a few parts. */
export const partsOf = (peaks: readonly number[]): number[] | null =>
  inParts(peaks.length, (index) => peaks[index] ?? 0);

function sampleAt(data: Buffer, at: number, bits: number, isFloat: boolean): number {
  if (isFloat) {
    const value = data.readFloatLE(at);
    return Number.isFinite(value) ? Math.min(1, Math.max(-1, value)) : 0;
  }
  // Eight bits have no sign.
  return bits === 8 ? (data.readUInt8(at) - 128) / 128 : data.readIntLE(at, bits / 8) / 2 ** (bits - 1);
}
