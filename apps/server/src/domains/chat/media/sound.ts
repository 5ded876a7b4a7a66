import type { AttachmentMedia } from '@parley/contract';
import { waveOf } from './wave.ts';

/** What the file says of its length, or the sum of its frames; the wave where it is not compressed. */
export async function readSound(bytes: Buffer, mimeType: string): Promise<AttachmentMedia> {
  const { parseBuffer } = await import('music-metadata');
  const { format } = await parseBuffer(
    bytes,
    { mimeType: mimeType.split(';', 1)[0] ?? mimeType, size: bytes.length },
    { duration: true, skipCovers: true },
  );
  const { duration } = format;
  const isLength = duration !== undefined && Number.isFinite(duration) && duration >= 0 && duration < 1e7;
  const durationMs = isLength ? Math.round(duration * 1000) : null;
  const waveform = waveOf(bytes);
  if (durationMs === null && waveform === null) throw new Error('neither length nor wave can be told');
  return { kind: 'audio', durationMs, waveform };
}
