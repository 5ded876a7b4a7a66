import type { FrameData, SignalingClientFrames } from '@parley/contract';
import type { TrackSource } from '../signal/records.ts';

const LAYERS = [
  { rid: 'q', scaleResolutionDownBy: 4, maxBitrate: 150_000 },
  { rid: 'h', scaleResolutionDownBy: 2, maxBitrate: 500_000 },
  { rid: 'f', scaleResolutionDownBy: 1, maxBitrate: 1_700_000 },
];

/** How a track is sent: a camera in layers, lowest first, as many as its size is worth; a screen in one, sharp. */
export function encodingsFor(source: TrackSource, track: MediaStreamTrack): RTCRtpEncodingParameters[] {
  if (track.kind === 'audio') return [];
  const settings = track.getSettings();
  // A phone held upright sends as many pixels as one held across.
  const width = Math.max(settings.width ?? 1280, settings.height ?? 0);
  if (source === 'SCREEN_SHARE') return [{ maxBitrate: 2_500_000 }];
  if (width >= 960) return LAYERS;
  if (width < 480) return [{ maxBitrate: 400_000 }];
  return LAYERS.slice(0, 2).map(({ rid, scaleResolutionDownBy, maxBitrate }) => ({
    rid,
    scaleResolutionDownBy: scaleResolutionDownBy / 2,
    maxBitrate,
  }));
}

type Layer = NonNullable<FrameData<SignalingClientFrames['publish']>['tracks'][number]['layers']>[number];

/** What is said of the layers when a track is published. */
export function layersOf(encodings: readonly RTCRtpEncodingParameters[], track: MediaStreamTrack): Layer[] {
  const { width, height } = track.getSettings();
  return encodings.map(({ rid = '', scaleResolutionDownBy = 1, maxBitrate }) => ({
    rid,
    ...(width && height
      ? { width: Math.round(width / scaleResolutionDownBy), height: Math.round(height / scaleResolutionDownBy) }
      : {}),
    ...(maxBitrate ? { bitrate: maxBitrate } : {}),
  }));
}
