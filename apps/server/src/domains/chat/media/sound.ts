import type { AttachmentMedia } from '@parley/contract';
import { mpegWave, opusWave } from './decoded-wave.ts';
import { opusIn, opusMs } from './opus-packets.ts';
import { waveOf } from './wave.ts';

/** Length and wave of a sound; one of them may be null, and what has neither cannot be read. */
export async function readSound(bytes: Buffer, mimeType: string): Promise<AttachmentMedia> {
  const { durationMs, waveform } = (await readOpus(bytes)) ?? (await readOther(bytes, mimeType));
  if (durationMs === null && waveform === null) throw new Error('neither length nor wave can be told');
  return { kind: 'audio', durationMs, waveform };
}

interface Read {
  durationMs: number | null;
  waveform: number[] | null;
}

/** What a browser records says nothing of its length, and the library for the others takes it for broken. */
async function readOpus(bytes: Buffer): Promise<Read | null> {
  const opus = opusIn(bytes);
  if (!opus) return null;
  const durationMs = Math.round(opusMs(opus));
  return { durationMs: durationMs || null, waveform: await opusWave(opus, durationMs).catch(() => null) };
}

/** What the file says of its length, or the sum of its frames; the wave of plain samples, and of MP3. */
async function readOther(bytes: Buffer, mimeType: string): Promise<Read> {
  const { parseBuffer } = await import('music-metadata');
  const { format } = await parseBuffer(
    bytes,
    { mimeType: mimeType.split(';', 1)[0] ?? mimeType, size: bytes.length },
    { duration: true, skipCovers: true },
  );
  const { duration, codec = '' } = format;
  const isLength = duration !== undefined && Number.isFinite(duration) && duration >= 0 && duration < 1e7;
  const durationMs = isLength ? Math.round(duration * 1000) : null;
  const isMpeg = /\bLayer [123]\b/i.test(codec);
  const waveform = isMpeg ? await mpegWave(bytes, durationMs).catch(() => null) : waveOf(bytes);
  return { durationMs, waveform };
}
