import { MediaError } from '../errors.ts';
import { captureError, insecureContext } from './capture-error.ts';

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

/** What the browser does to the sound of a microphone: all on by default. Music wants all off. */
export interface MicrophoneOptions extends DeviceOptions {
  echoCancellation?: boolean;
  noiseSuppression?: boolean;
  autoGainControl?: boolean;
}

export interface ScreenOptions {
  /** Also the sound of the tab or the system, where the browser can. */
  audio?: boolean;
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
export async function captureMicrophone(options: MicrophoneOptions = {}): Promise<MediaStreamTrack> {
  const { echoCancellation = true, noiseSuppression = true, autoGainControl = true } = options;
  const audio = { echoCancellation, noiseSuppression, autoGainControl, ...deviceOf(options) };
  return first(await capture('microphone', (devices) => devices.getUserMedia({ audio })));
}

export async function captureScreen({ audio = false }: ScreenOptions = {}): Promise<MediaStreamTrack[]> {
  const stream = await capture('screen', (devices) => devices.getDisplayMedia({ video: { frameRate: 15 }, audio }));
  const tracks = stream.getTracks();
  for (const track of tracks) if (track.kind === 'video') track.contentHint = 'detail';
  return tracks;
}

/** The types of the browser say that it is always there; a page without https has none. */
export const mediaDevices = (): MediaDevices | undefined => globalThis.navigator?.mediaDevices;

export async function capture(
  what: string,
  ask: (devices: MediaDevices) => Promise<MediaStream>,
): Promise<MediaStream> {
  const devices = mediaDevices();
  if (!devices) throw insecureContext(what);
  try {
    return await ask(devices);
  } catch (cause) {
    throw await captureError(what, cause);
  }
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
