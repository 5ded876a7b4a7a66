import type { OpusSound } from './opus-packets.ts';
import { partsOf } from './wave.ts';

/** Longer ones are no voice messages, and to decode them would take longer than a file may. */
const decodedMsMax = 15 * 60_000;
const packetsAtOnce = 250;
const bytesAtOnce = 64 * 1024;
/** Of the compressed sound, where its length is not known. */
const bytesMax = 16 * 1024 * 1024;
/** A hundredth of a second, about. */
const samplesOfPeak = 480;

/** Null where it is too long. */
export async function opusWave(
  { channels, preSkip, packets }: OpusSound,
  durationMs: number,
): Promise<number[] | null> {
  if (durationMs > decodedMsMax) return null;
  const { OpusDecoder } = await import('opus-decoder');
  const channelMappingTable = channels === 2 ? [0, 1] : [0];
  const streams = { streamCount: 1, coupledStreamCount: channels - 1, channelMappingTable };
  const decoder = new OpusDecoder({ channels, preSkip, ...streams });
  await decoder.ready;
  const peaks = createPeaks();
  for (let at = 0; at < packets.length; at += packetsAtOnce)
    peaks.add(decoder.decodeFrames(packets.slice(at, at + packetsAtOnce)).channelData);
  decoder.free();
  return partsOf(peaks.end());
}

export async function mpegWave(bytes: Buffer, durationMs: number | null): Promise<number[] | null> {
  if (bytes.length > bytesMax || (durationMs ?? 0) > decodedMsMax) return null;
  const { MPEGDecoder } = await import('mpg123-decoder');
  const decoder = new MPEGDecoder();
  await decoder.ready;
  const peaks = createPeaks();
  for (let at = 0; at < bytes.length; at += bytesAtOnce)
    peaks.add(decoder.decode(bytes.subarray(at, at + bytesAtOnce)).channelData);
  decoder.free();
  return partsOf(peaks.end());
}

/** The loudest sample of each hundredth of a second: how many there will be is known at the end. */
function createPeaks() {
  const peaks: number[] = [];
  let [loudest, count] = [0, 0];

  function end(): number[] {
    if (count > 0) peaks.push(loudest);
    [loudest, count] = [0, 0];
    return peaks;
  }

  return {
    add(channels: readonly Float32Array[]): void {
      const [first = new Float32Array(), second] = channels;
      // Tens of millions of samples: an iterator for them would take longer than the decoder.
      for (let at = 0; at < first.length; at++) {
        loudest = Math.max(loudest, Math.abs(first[at] ?? 0), Math.abs(second?.[at] ?? 0));
        if (++count === samplesOfPeak) end();
      }
    },
    end,
  };
}
