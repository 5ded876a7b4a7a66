import { NOT_CONNECTED } from '../connection.ts';
import { ConnectionError, MediaError, PermissionError, type SvcError } from '../errors.ts';
import { createSerialQueue } from '../serial-queue.ts';
import type { Permissions, TrackSource } from '../signal/records.ts';
import {
  type CameraOptions,
  captureCamera,
  captureMicrophone,
  captureScreen,
  type DeviceOptions,
  type MicrophoneOptions,
  type ScreenOptions,
} from './capture.ts';
import type { DataOptions } from './data.ts';
import type { AudioEncodingOptions, EncodingOptions, VideoEncodingOptions } from './encodings.ts';
import { LocalTrack, type LocalTrackPort, type Recapture } from './local-track.ts';
import type { Quality } from './remote-participant.ts';
import type { ProcessorOptions } from './track-processor.ts';

export interface PublishOptions extends EncodingOptions {
  source?: TrackSource;
  /** Shown to the others. */
  name?: string;
  /** Text of the application's own for the others, at most 1,024 bytes. */
  metadata?: string;
}

type CaptureSource = 'MICROPHONE' | 'CAMERA';
type Capture = (options: DeviceOptions) => Promise<MediaStreamTrack>;
type TrackName = Pick<PublishOptions, 'name' | 'metadata'>;

export interface LocalParticipantPort extends Omit<LocalTrackPort, 'ended'> {
  isConnecting(): boolean;
  whenConnected(): Promise<void>;
  publish(tracks: readonly LocalTrack[]): Promise<void>;
  /** `tracks` has changed. */
  onChange(): void;
  sendData(payload: string | Uint8Array, options: DataOptions): Promise<void>;
  setMetadata(metadata: string): Promise<void>;
  rpc(to: string, method: string, payload: string, timeoutMs: number): Promise<string>;
  onError(error: SvcError): void;
  /** The device to open when none is named. */
  chosenDevice(source: CaptureSource): string | null;
  /** A device was opened, and so permission given. */
  onCaptured(): void;
  /** A requested device failed; the caller's promise rejects too. */
  onDeviceFailed(source: TrackSource, error: unknown): void;
}

/** This participant. What it publishes while the room is being joined is published as soon as it is. */
export class LocalParticipant {
  readonly isLocal = true;
  readonly tracks = new Set<LocalTrack>();
  identity = '';
  sessionId = '';
  metadata: string | null = null;
  permissions: Permissions | null = null;
  quality: Quality | null = null;
  isSpeaking = false;
  audioLevel = 0;
  readonly #port: LocalParticipantPort;
  /** One change of a source at a time: a double click must not publish two cameras. */
  readonly #turns = new Map<TrackSource, ReturnType<typeof createSerialQueue>>();
  /** How each device is opened, but for which it is. */
  readonly #settings = new Map<CaptureSource, object>();

  constructor(port: LocalParticipantPort) {
    this.#port = port;
  }

  get microphone(): LocalTrack | null {
    return this.#find('MICROPHONE');
  }

  get camera(): LocalTrack | null {
    return this.#find('CAMERA');
  }

  get screenShare(): LocalTrack | null {
    return this.#find('SCREEN_SHARE');
  }

  /**
   * With other options while it is on, it is opened again with them; nothing is published anew. How it is encoded,
   * its name and its metadata are settled when it is published: the first time, and after `stop()`.
   */
  setMicrophone(
    isOn: boolean,
    options: MicrophoneOptions & ProcessorOptions & AudioEncodingOptions & TrackName = {},
  ): Promise<LocalTrack | null> {
    return this.#switch('MICROPHONE', isOn, options, captureMicrophone);
  }

  /** As `setMicrophone`. */
  setCamera(
    isOn: boolean,
    options: CameraOptions & ProcessorOptions & VideoEncodingOptions & TrackName = {},
  ): Promise<LocalTrack | null> {
    return this.#switch('CAMERA', isOn, options, captureCamera);
  }

  /** Asks the user what to show. It ends with `false`, or in the browser's own bar. */
  setScreenShare(
    isOn: boolean,
    options: ScreenOptions & VideoEncodingOptions & TrackName = {},
  ): Promise<LocalTrack | null> {
    return this.#inTurn('SCREEN_SHARE', async () => {
      const running = [this.screenShare, this.#find('SCREEN_SHARE_AUDIO')].filter((track) => track !== null);
      if (!isOn) {
        for (const track of running) await track.stop();
        return null;
      }
      if (this.screenShare) return this.screenShare;
      this.#assertMayPublish('video');
      const media = await this.#capture('SCREEN_SHARE', () => captureScreen(options));
      const tracks = media.map((one) =>
        one.kind === 'video'
          ? this.#make(one, { ...options, source: 'SCREEN_SHARE' })
          : this.#make(one, { source: 'SCREEN_SHARE_AUDIO' }),
      );
      await this.#publish(tracks);
      return this.screenShare;
    });
  }

  /** Publishes media of the application's own: a canvas, a file, `createTestTracks()`. */
  async publish(media: MediaStreamTrack, options: PublishOptions = {}): Promise<LocalTrack> {
    this.#assertMayPublish(media.kind);
    const track = this.#make(media, options);
    await this.#publish([track]);
    return track;
  }

  unpublish(track: LocalTrack): Promise<void> {
    return track.stop();
  }

  /** To all or to some, reliable by default. At most 64 kB. */
  async sendData(payload: string | Uint8Array, options: DataOptions = {}): Promise<void> {
    this.#assertMayUseData();
    await this.#port.sendData(payload, options);
  }

  /** Asks another participant; they answer with `room.handleRpc`. */
  async rpc(to: string, method: string, payload = '', { timeoutMs = 10_000 } = {}): Promise<string> {
    this.#assertMayUseData();
    return this.#port.rpc(to, method, payload, timeoutMs);
  }

  /** Needs `updateMetadata` in the token: metadata is the backend's otherwise. */
  setMetadata(metadata: string): Promise<void> {
    return this.#port.setMetadata(metadata);
  }

  #find(source: TrackSource): LocalTrack | null {
    return [...this.tracks].find((track) => track.source === source) ?? null;
  }

  #inTurn<T>(source: TrackSource, run: () => Promise<T>): Promise<T> {
    const takeTurn = this.#turns.get(source) ?? createSerialQueue();
    this.#turns.set(source, takeTurn);
    return takeTurn(run);
  }

  #switch(
    source: CaptureSource,
    isOn: boolean,
    { deviceId, processor, ...settings }: DeviceOptions & ProcessorOptions,
    capture: Capture,
  ): Promise<LocalTrack | null> {
    return this.#inTurn(source, async () => {
      const hasChanged = this.#changeSettings(source, settings);
      const track = this.#find(source);
      if (track) {
        if (isOn && processor !== undefined) await track.setProcessor(processor);
        if (isOn && (hasChanged || (deviceId && deviceId !== track.deviceId)))
          await track.setDevice(deviceId ?? track.deviceId ?? '');
        await (isOn ? track.unmute() : track.mute());
        return track;
      }
      if (!isOn) return null;
      this.#assertMayPublish(source === 'CAMERA' ? 'video' : 'audio');
      const recapture: Recapture = (id) =>
        capture({
          preferredDeviceId: this.#port.chosenDevice(source),
          ...this.#settings.get(source),
          ...(id && { deviceId: id }),
        });
      const media = await this.#capture(source, () => recapture(deviceId));
      const made = this.#make(media, { ...this.#settings.get(source), source }, recapture);
      this.#port.onCaptured();
      if (processor) await made.setProcessor(processor).catch((error) => this.#discard(made, error));
      await this.#publish([made]);
      return made;
    });
  }

  #changeSettings(source: CaptureSource, settings: object): boolean {
    const before = JSON.stringify(this.#settings.get(source) ?? {});
    const next = { ...this.#settings.get(source), ...settings };
    this.#settings.set(source, next);
    return before !== JSON.stringify(next);
  }

  #discard(track: LocalTrack, error: unknown): never {
    track.end();
    throw error;
  }

  async #capture<T>(source: TrackSource, capture: () => Promise<T>): Promise<T> {
    try {
      return await capture();
    } catch (error) {
      this.#port.onDeviceFailed(source, error);
      throw error;
    }
  }

  #make(media: MediaStreamTrack, options: PublishOptions, recapture?: Recapture): LocalTrack {
    const { source = 'UNKNOWN', name, metadata } = options;
    const port: LocalTrackPort = {
      ...this.#port,
      unpublish: async (track) => {
        this.tracks.delete(track);
        await this.#port.unpublish(track);
      },
      ended: (track) => this.#ended(track),
    };
    return new LocalTrack({
      media,
      source,
      // Of a film or a page, not of a voice.
      options: { music: source === 'SCREEN_SHARE_AUDIO', ...options },
      port,
      ...(name && { name }),
      ...(metadata && { metadata }),
      ...(recapture && { recapture }),
    });
  }

  async #publish(tracks: readonly LocalTrack[]): Promise<void> {
    for (const track of tracks) this.tracks.add(track);
    this.#port.onChange();
    try {
      if (!this.permissions) await this.#port.whenConnected();
      for (const { kind } of tracks) this.#assertMayPublish(kind);
      await this.#port.publish(tracks);
    } catch (error) {
      for (const track of tracks) {
        this.tracks.delete(track);
        track.end();
      }
      this.#port.onChange();
      throw error;
    }
  }

  /** A track whose device is gone is unpublished, or the others would see a frozen picture. */
  #ended(track: LocalTrack): void {
    if (track.source === 'CAMERA' || track.source === 'MICROPHONE') {
      const what = track.source === 'CAMERA' ? 'camera' : 'microphone';
      const message = `The ${what} was disconnected. Choose another one.`;
      this.#port.onError(new MediaError({ code: 'device_lost', message }));
    }
    track.stop().catch((error) => this.#port.onError(error));
  }

  #assertMayPublish(kind: string): void {
    // Known with the join: devices open meanwhile.
    if (!this.permissions && this.#port.isConnecting()) return;
    const { publish, publishAudio, publishVideo } = this.#granted();
    const isOpen = publishAudio === publishVideo;
    if (publish && (isOpen || (kind === 'audio' ? publishAudio : publishVideo))) return;
    const message = publish
      ? `This RTC token does not allow publishing ${kind}.`
      : 'This RTC token does not allow publishing. Mint it with `permissions: speaker()` or `{ publish: true }`.';
    throw new PermissionError({ code: 'SVC_PUBLISH_NOT_ALLOWED', message });
  }

  #assertMayUseData(): void {
    if (this.#granted().publishData) return;
    const message = 'This RTC token does not allow data. Mint it with `permissions: { publishData: true }`.';
    throw new PermissionError({ code: 'SVC_DATA_NOT_ALLOWED', message });
  }

  #granted(): Permissions {
    if (this.permissions) return this.permissions;
    throw new ConnectionError('client', NOT_CONNECTED);
  }
}
