import type { FrameData, SignalingClientFrames } from '@parley/contract';
import type { MediaEntry } from '@parley/media-description';
import type { TrackSource } from '../signal/records.ts';

export interface VideoEncodingOptions {
  /**
   * The codec to send, if the browser can; else its own choice. VP9 and AV1 carry their layers in one stream, which
   * costs less than several; a browser that cannot do that sends its own choice too.
   */
  codec?: 'vp8' | 'vp9' | 'h264' | 'av1';
  /** Bits a second at most; of a video in layers, for the largest. */
  maxBitrate?: number;
  /** Frames a second at most. */
  frameRate?: number;
  /** False sends one layer only. By default a camera is sent in layers, a screen is not. True of VP9 and AV1: in streams. */
  simulcast?: boolean;
  /** Of VP9 and AV1: `L3T3_KEY` and the like. By default as many layers as the size is worth. */
  scalabilityMode?: string;
  /** In which codec it is sent too while somebody in the room cannot decode the first; false: never. Default VP8 for VP9 and AV1. */
  backupCodec?: 'vp8' | false;
  /** What is kept when the path or the computer is too slow. By default the browser decides, by the content hint. */
  degradationPreference?: 'balanced' | 'maintain-framerate' | 'maintain-resolution';
}

export interface AudioEncodingOptions {
  /** Bits a second. Default: the browser's, about 32,000. */
  maxBitrate?: number;
  /** False sends in silence too. Default true. */
  dtx?: boolean;
  /** Each packet repeats the one before it, where the browser can. Default true. */
  red?: boolean;
  stereo?: boolean;
  /** Stereo at 128,000 bits a second, without DTX and RED; of a microphone also without processing. */
  music?: boolean;
}

export type EncodingOptions = VideoEncodingOptions & AudioEncodingOptions;

/** The types of the browser do not know it everywhere. */
export type Encoding = RTCRtpEncodingParameters & { scalabilityMode?: string };

/** Lowest first, with its bits a second; each is twice as wide as the one before. */
const LAYERS = [
  ['q', 150_000],
  ['h', 500_000],
  ['f', 1_700_000],
] as const;

/** These codecs carry layers in one stream, and not every browser decodes them. */
export const isScalable = ({ codec }: EncodingOptions): boolean => codec === 'vp9' || codec === 'av1';

/** How a track is sent: a camera in layers, lowest first, as many as its size is worth; a screen in one, sharp. */
export function encodingsFor(source: TrackSource, track: MediaStreamTrack, options: EncodingOptions = {}): Encoding[] {
  if (track.kind === 'audio') return [];
  const { frameRate, simulcast = source !== 'SCREEN_SHARE' } = options;
  const settings = track.getSettings();
  // A phone held upright sends as many pixels as one held across.
  const width = Math.max(settings.width ?? 1280, settings.height ?? 0);
  // How many layers it is worth, and the bits of the largest.
  const [worth, bits] = width < 480 ? [1, 400_000] : width < 960 ? [2, 500_000] : [3, 1_700_000];
  const count = simulcast ? worth : 1;
  const { maxBitrate = source === 'SCREEN_SHARE' ? 2_500_000 : bits } = options;
  // Without a mode these codecs take several encodings for the layers of one stream.
  const usual = options.simulcast || count === 1 ? 'L1T3' : `L${count}T3_KEY`;
  const { scalabilityMode = usual } = options;
  const shared = { ...(frameRate && { maxFramerate: frameRate }), ...(isScalable(options) && { scalabilityMode }) };
  if (count === 1 || (isScalable(options) && scalabilityMode[1] !== '1')) return [{ ...shared, maxBitrate }];
  return inLayers(count, maxBitrate).map((layer) => ({ ...shared, ...layer }));
}

/** Lowest first; each keeps its share of the bits of the largest. */
function inLayers(count: number, maxBitrate: number) {
  const [, most] = LAYERS[count - 1] ?? LAYERS[0];
  return LAYERS.slice(0, count).map(([rid, usual], at) => ({
    rid,
    scaleResolutionDownBy: 2 ** (count - 1 - at),
    maxBitrate: Math.round((usual * maxBitrate) / most),
  }));
}

/** The wanted codec before the browser's own order, which is what remains without it. */
export function preferCodec(line: RTCRtpTransceiver, kind: 'audio' | 'video', options: EncodingOptions): void {
  const { music, stereo = music, red = !stereo, codec = '' } = options;
  const wanted = kind === 'video' ? codec : red ? 'red' : 'opus';
  const rank = ({ mimeType }: RTCRtpCodec): number => Number(mimeType.toLowerCase() === `${kind}/${wanted}`);
  const codecs = wanted && globalThis.RTCRtpReceiver?.getCapabilities(kind)?.codecs;
  if (codecs) line.setCodecPreferences?.(codecs.sort((a, b) => rank(b) - rank(a)));
}

/** A line of the answer, with what the browser's Opus encoder is to do: it reads it there. */
export function tuneOpus(line: MediaEntry, { music, ...options }: EncodingOptions = {}): MediaEntry {
  if (line.kind !== 'audio' || !line.codecs) return line;
  const { stereo = music, dtx = !stereo, maxBitrate = music && 128_000 } = options;
  const bitrate = maxBitrate ? `;maxaveragebitrate=${maxBitrate}` : '';
  const fmtp = `minptime=10;useinbandfec=1${dtx ? ';usedtx=1' : ''}${stereo ? ';stereo=1' : ''}${bitrate}`;
  return { ...line, codecs: line.codecs.map((codec) => (codec.name === 'opus' ? { ...codec, fmtp } : codec)) };
}

type Layer = NonNullable<FrameData<SignalingClientFrames['publish']>['tracks'][number]['layers']>[number];

/** What is said of the layers when a track is published; those of one stream are named like those of several. */
export function layersOf(encodings: readonly Encoding[], track: MediaStreamTrack): Layer[] {
  const { width, height } = track.getSettings();
  const [{ scalabilityMode = '', maxBitrate = 0 } = {}] = encodings;
  const count = Number(scalabilityMode[1] ?? 1);
  return (count > 1 ? inLayers(count, maxBitrate) : encodings).map(
    ({ rid = '', scaleResolutionDownBy = 1, maxBitrate }) => ({
      rid,
      ...(width &&
        height && {
          width: Math.round(width / scaleResolutionDownBy),
          height: Math.round(height / scaleResolutionDownBy),
        }),
      ...(maxBitrate && { bitrate: maxBitrate }),
    }),
  );
}
