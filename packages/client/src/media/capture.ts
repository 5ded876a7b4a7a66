import { MediaError } from '../errors.ts';

export interface CameraOptions {
  deviceId?: string;
  /** Default 1280 × 720 at 30. */
  width?: number;
  height?: number;
  frameRate?: number;
}

export interface MicrophoneOptions {
  deviceId?: string;
}

export interface ScreenOptions {
  /** Also the sound of the tab or the system, where the browser can. */
  audio?: boolean;
}

export async function captureCamera(options: CameraOptions = {}): Promise<MediaStreamTrack> {
  const { deviceId, width = 1280, height = 720, frameRate = 30 } = options;
  const video = {
    width: { ideal: width },
    height: { ideal: height },
    frameRate: { ideal: frameRate },
    ...exact(deviceId),
  };
  return first(await capture('camera', (devices) => devices.getUserMedia({ video })));
}

export async function captureMicrophone({ deviceId }: MicrophoneOptions = {}): Promise<MediaStreamTrack> {
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, ...exact(deviceId) };
  return first(await capture('microphone', (devices) => devices.getUserMedia({ audio })));
}

export async function captureScreen({ audio = false }: ScreenOptions = {}): Promise<MediaStreamTrack[]> {
  const stream = await capture('screen', (devices) => devices.getDisplayMedia({ video: { frameRate: 15 }, audio }));
  const tracks = stream.getTracks();
  for (const track of tracks) if (track.kind === 'video') track.contentHint = 'detail';
  return tracks;
}

const exact = (deviceId: string | undefined): object => (deviceId ? { deviceId: { exact: deviceId } } : {});

function first(stream: MediaStream): MediaStreamTrack {
  const [track] = stream.getTracks();
  if (!track) throw new MediaError({ code: 'device_not_found', message: 'The device gave no track.' });
  return track;
}

async function capture(what: string, ask: (devices: MediaDevices) => Promise<MediaStream>): Promise<MediaStream> {
  // The types of the browser say that it is always there; a page without https has none.
  const devices = globalThis.navigator?.mediaDevices as MediaDevices | undefined;
  if (!devices) throw insecureContext();
  try {
    return await ask(devices);
  } catch (cause) {
    throw mediaErrorFrom(what, cause);
  }
}

const insecureContext = (): MediaError =>
  new MediaError({
    code: 'insecure_context',
    message: `Camera and microphone need https or localhost. This page is on ${globalThis.location?.origin}.`,
  });

const FAILURES: Readonly<Record<string, readonly [code: string, sentence: string]>> = {
  NotAllowedError: ['permission_denied', 'was refused. Allow it in the site settings of the browser, then try again.'],
  NotFoundError: ['device_not_found', 'was not found. Connect one, then try again.'],
  NotReadableError: ['device_in_use', 'cannot be read. Close other programs that use it.'],
  OverconstrainedError: ['device_not_found', 'that was chosen is not there. Choose another.'],
};

function mediaErrorFrom(what: string, cause: unknown): MediaError {
  const name = cause instanceof Error || cause instanceof DOMException ? cause.name : '';
  const [code, sentence] = FAILURES[name] ?? ['device_failed', 'failed. Try again, or choose another.'];
  return new MediaError({ code, message: `The ${what} ${sentence}`, cause });
}
