import { MediaError } from '../errors.ts';
import type { AudioEncodingOptions, VideoEncodingOptions } from './encodings.ts';

export interface DeviceOptions {
  /** This device and no other: without it the capture fails. */
  deviceId?: string;
  /** This device if it is connected, otherwise the browser's default. */
  preferredDeviceId?: string | null;
}

export interface CameraOptions extends DeviceOptions {
  /** Default 1280 × 720 at 30. */
  width?: number;
  height?: number;
  frameRate?: number;
}

/** What the browser does to the sound of a microphone: all on by default, all off with `music`. */
export interface MicrophoneOptions extends DeviceOptions {
  echoCancellation?: boolean;
  noiseSuppression?: boolean;
  autoGainControl?: boolean;
}

export interface ScreenOptions {
  /** Also the sound of the tab or the system, where the browser can. */
  audio?: boolean;
  /** `motion`: moves like a film (30 frames a second, blurred rather than slow). Default `detail`: sharp, 15 frames; `text`: 5. */
  contentHint?: 'detail' | 'text' | 'motion';
}

/** Opens a camera, for a preview before the call or to be published. It stays open until you stop it. */
export async function captureCamera(options: CameraOptions = {}): Promise<MediaStreamTrack> {
  const { width = 1280, height = 720, frameRate = 30 } = options;
  const video = {
    width: { ideal: width },
    height: { ideal: height },
    frameRate: { ideal: frameRate },
    ...deviceOf(options),
  };
  return first(await capture('camera', (devices) => devices.getUserMedia({ video })));
}

/** Opens a microphone, as `captureCamera` does a camera. */
export async function captureMicrophone(
  options: MicrophoneOptions & AudioEncodingOptions = {},
): Promise<MediaStreamTrack> {
  const { music = false, stereo = music } = options;
  const { echoCancellation = !music, noiseSuppression = !music, autoGainControl = !music } = options;
  const shape = stereo ? { channelCount: 2 } : {};
  const audio = { echoCancellation, noiseSuppression, autoGainControl, ...shape, ...deviceOf(options) };
  return first(await capture('microphone', (devices) => devices.getUserMedia({ audio })));
}

/** Frames a second: what is sharp keeps its size and may be slow. */
const SCREEN_RATES = { text: 5, detail: 15, motion: 30 };

export async function captureScreen(options: ScreenOptions & VideoEncodingOptions = {}): Promise<MediaStreamTrack[]> {
  const { audio = false, contentHint = 'detail', frameRate = SCREEN_RATES[contentHint] } = options;
  const wanted = { video: { frameRate }, audio: audio && UNPROCESSED, systemAudio: 'include' };
  const stream = await capture('screen', (devices) => devices.getDisplayMedia(wanted));
  const tracks = stream.getTracks();
  for (const track of tracks) if (track.kind === 'video') track.contentHint = contentHint;
  return tracks;
}

/** Of a film or a page: there is no echo in it, and music is not noise. */
const UNPROCESSED = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };

/** The types of the browser say that it is always there; a page without https has none. */
export const mediaDevices = (): MediaDevices | undefined => globalThis.navigator?.mediaDevices;

export async function capture(
  what: string,
  ask: (devices: MediaDevices) => Promise<MediaStream>,
): Promise<MediaStream> {
  const devices = mediaDevices();
  if (!devices) throw await captureError(what);
  try {
    return await ask(devices);
  } catch (cause) {
    throw await captureError(what, cause);
  }
}

/** The reasons are loaded when they are needed: most calls never do. */
export async function captureError(what: string, cause?: unknown): Promise<MediaError> {
  const reason = await import('./capture-error.ts')
    .then(({ reasonFor }) => reasonFor(what, cause))
    .catch(() => ({ code: 'device_failed', message: `The ${what} did not start.` }));
  return new MediaError({ ...reason, cause });
}

function deviceOf({ deviceId, preferredDeviceId }: DeviceOptions): MediaTrackConstraints {
  if (deviceId) return { deviceId: { exact: deviceId } };
  return preferredDeviceId ? { deviceId: { ideal: preferredDeviceId } } : {};
}

function first(stream: MediaStream): MediaStreamTrack {
  const [track] = stream.getTracks();
  if (!track) throw new MediaError({ code: 'device_not_found', message: 'The device gave no track.' });
  return track;
}
