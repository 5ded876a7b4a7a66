/** Peaks of what is not compressed, which we can read without a decoder. */
const peaksCount = 64;

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

/** The loudest of each part, the loudest of all being 100. */
function peaksOf({ channels, bits, isFloat, data }: Pcm): number[] | null {
  const width = bits / 8;
  const frames = Math.floor(data.length / (width * channels));
  if (frames === 0) return null;
  const count = Math.min(peaksCount, frames);
  const peaks = new Array<number>(count).fill(0);
  for (let frame = 0; frame < frames; frame++) {
    const part = Math.floor((frame * count) / frames);
    for (let channel = 0; channel < channels; channel++) {
      const value = Math.abs(sampleAt(data, (frame * channels + channel) * width, bits, isFloat));
      if (value > (peaks[part] ?? 0)) peaks[part] = value;
    }
  }
  const loudest = Math.max(...peaks);
  return peaks.map((peak) => (loudest > 0 ? Math.round((peak / loudest) * 100) : 0));
}

function sampleAt(data: Buffer, at: number, bits: number, isFloat: boolean): number {
  if (isFloat) {
    const value = data.readFloatLE(at);
    return Number.isFinite(value) ? Math.min(1, Math.max(-1, value)) : 0;
  }
  // Eight bits have no sign.
  return bits === 8 ? (data.readUInt8(at) - 128) / 128 : data.readIntLE(at, bits / 8) / 2 ** (bits - 1);
}
