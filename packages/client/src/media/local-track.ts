import { MediaError } from '../errors.ts';
import { createSerialQueue } from '../serial-queue.ts';
import type { TrackSource } from '../signal/records.ts';
import { type Attachments, createAttachments } from './elements.ts';
import type { EncodingOptions } from './encodings.ts';
import type { TrackProcessor } from './track-processor.ts';

/** What a local track asks of its surroundings. */
export interface LocalTrackPort {
  setMuted(track: LocalTrack, isMuted: boolean): Promise<void>;
  replace(track: LocalTrack, media: MediaStreamTrack | null): Promise<void>;
  unpublish(track: LocalTrack): Promise<void>;
  getStats(track: LocalTrack): Promise<RTCStatsReport | null>;
  /** The device was unplugged, or the user stopped the share in the browser's bar. */
  ended(track: LocalTrack): void;
}

/** How to get the media again, from another device or after the camera was turned off. */
export type Recapture = (deviceId?: string) => Promise<MediaStreamTrack>;

export interface LocalTrackInit {
  media: MediaStreamTrack;
  source: TrackSource;
  name?: string;
  metadata?: string;
  options?: EncodingOptions;
  /** Left out for tracks of the application's own. */
  recapture?: Recapture;
  port: LocalTrackPort;
}

/** Media of this participant. */
export class LocalTrack {
  readonly kind: 'audio' | 'video';
  readonly source: TrackSource;
  readonly name: string | undefined;
  readonly metadata: string | undefined;
  /** How it is encoded. */
  readonly options: EncodingOptions;
  readonly #port: LocalTrackPort;
  #recapture: Recapture | undefined;
  readonly #attachments: Attachments;
  /** One change of the media at a time. */
  readonly #inTurn = createSerialQueue();
  /** Of the device. */
  #source: MediaStreamTrack;
  /** What is sent: the source, or what a processor made of it. */
  #media: MediaStreamTrack;
  #processor: TrackProcessor | null = null;
  #isMuted = false;
  /** What was asked for last: opening a camera takes long enough for a change of mind. */
  #isMuteWanted = false;
  #isMutedByServer = false;
  #isStopped = false;
  /** Of a camera that was released: the device to open when it is turned on again. */
  #wanted: string | null = null;
  /** The server's id; null until it is published, and another one after a new join. */
  id: string | null = null;

  constructor({ media, source, name, metadata, options = {}, recapture, port }: LocalTrackInit) {
    this.kind = media.kind === 'audio' ? 'audio' : 'video';
    this.source = source;
    this.name = name;
    this.metadata = metadata;
    this.options = options;
    this.#port = port;
    this.#recapture = recapture;
    this.#source = media;
    this.#media = media;
    this.#attachments = createAttachments(media, { kind: this.kind, isSilent: true });
    this.#watch(media);
  }

  /** `stop()` of ours fires no event. */
  #watch(source: MediaStreamTrack): void {
    source.addEventListener('ended', () => {
      if (!this.#isStopped && this.#source === source) this.#port.ended(this);
    });
  }

  /** What is sent and shown. */
  get mediaStreamTrack(): MediaStreamTrack {
    return this.#media;
  }

  /** Undefined for tracks that are of no device. */
  get deviceId(): string | undefined {
    return this.#source.getSettings().deviceId;
  }

  /** By the user or by the server. */
  get isMuted(): boolean {
    return this.#isMuted || this.#isMutedByServer;
  }

  /** Your backend muted it: only your backend can unmute it. */
  get isMutedByServer(): boolean {
    return this.#isMutedByServer;
  }

  /** What this user wants, whatever the server says. */
  get isMutedByUser(): boolean {
    return this.#isMuted;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Sends nothing more; a camera is released, so that its light goes out. */
  async mute(): Promise<void> {
    if (this.#isMuteWanted || this.#isStopped) return;
    this.#isMuteWanted = true;
    this.#isMuted = true;
    this.#media.enabled = false;
    await this.#inTurn(() => this.#releaseCapture());
    if (this.#isMuteWanted) await this.#port.setMuted(this, true);
  }

  /** Rejects with `muted_by_server` when the others hear nothing all the same. */
  async unmute(): Promise<void> {
    this.#isMuteWanted = false;
    await this.#inTurn(() => this.#unmute());
    if (this.#isMutedByServer && !this.#isStopped) throw mutedByServer(this.kind);
  }

  async #unmute(): Promise<void> {
    const isDue = (): boolean => this.#isMuted && !this.#isMuteWanted && !this.#isStopped;
    if (!isDue()) return;
    if (this.#isCaptureEnded && this.#recapture) await this.#open(this.#recapture, this.#wanted ?? this.deviceId);
    // Turned off again meanwhile: that mute comes next, and closes what was opened.
    if (!isDue()) return;
    this.#wanted = null;
    this.#isMuted = false;
    this.#media.enabled = !this.isMuted;
    await this.#port.setMuted(this, false);
  }

  /** The server drops the track's packets already. */
  mutedByServer(isMuted: boolean): void {
    this.#isMutedByServer = isMuted;
    this.#media.enabled = !this.isMuted;
  }

  async #releaseCapture(): Promise<void> {
    const isCamera = this.source === 'CAMERA' && this.#recapture;
    if (!isCamera || !this.#isMuteWanted || this.#isCaptureEnded) return;
    await this.#port.replace(this, null);
    this.#close();
  }

  get #isCaptureEnded(): boolean {
    return this.#source.readyState === 'ended';
  }

  /** Ends the track for good: it is unpublished and its device released. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.end();
    await this.#port.unpublish(this);
  }

  /** As `stop()`, without a message to the server: the call is over. */
  end(): void {
    this.#isStopped = true;
    this.#close();
    this.detach();
  }

  /** Takes the media from another device; the others notice nothing else. A camera that is off stays off. */
  setDevice(deviceId: string): Promise<void> {
    return this.#inTurn(async () => {
      const recapture = this.#recapture;
      if (!recapture) throw new Error('Publish a track of the other device instead.');
      if (this.#isMuted && this.#isCaptureEnded) {
        this.#wanted = deviceId;
        return;
      }
      const before = this.deviceId;
      // Some devices cannot be opened twice.
      this.#close();
      await this.#open(recapture, deviceId).catch(async (error) => {
        await this.#open(recapture, before).catch(() => this.#port.ended(this));
        throw error;
      });
    });
  }

  /** False for tracks of the application's own. */
  get canSetDevice(): boolean {
    return this.#recapture !== undefined;
  }

  get processor(): TrackProcessor | null {
    return this.#processor;
  }

  /** Sends what it makes of the media from now on, or the media itself again; nothing is published anew. */
  setProcessor(processor: TrackProcessor | null): Promise<void> {
    return this.#inTurn(async () => {
      const before = this.#processor;
      if (processor === before) return;
      const media = this.#isCaptureEnded ? null : ((await processor?.start(this.#source)) ?? this.#source);
      this.#processor = processor;
      if (media) await this.#show(media);
      before?.stop();
    });
  }

  /** Sends other media of the same kind, without publishing anew. It is the application's own from then on. */
  replace(media: MediaStreamTrack): Promise<void> {
    return this.#inTurn(async () => {
      if (media.kind !== this.kind) throw new TypeError(`This is a track of ${this.kind}.`);
      if (this.#isStopped) return;
      this.#processor?.stop();
      // What the SDK opened, it closes.
      if (this.#recapture) this.#source.stop();
      this.#recapture = undefined;
      await this.#open(async () => media, undefined);
    });
  }

  /** If the processor fails nothing is sent: without it the media is not what the user wants to show. */
  async #open(recapture: Recapture, deviceId: string | undefined): Promise<void> {
    const source = await recapture(deviceId);
    try {
      const media = (await this.#processor?.start(source)) ?? source;
      this.#source = source;
      this.#watch(source);
      await this.#show(media);
    } catch (error) {
      source.stop();
      throw error;
    }
    if (this.#isStopped) this.#close();
  }

  #close(): void {
    this.#processor?.stop();
    this.#source.stop();
  }

  async #show(media: MediaStreamTrack): Promise<void> {
    media.enabled = !this.isMuted;
    this.#media = media;
    this.#attachments.show(media);
    await this.#port.replace(this, media);
  }

  attach(element?: HTMLMediaElement): HTMLMediaElement {
    return this.#attachments.attach(element);
  }

  detach(element?: HTMLMediaElement): void {
    this.#attachments.detach(element);
  }

  getStats(): Promise<RTCStatsReport | null> {
    return this.#port.getStats(this);
  }
}

const mutedByServer = (kind: string): MediaError =>
  new MediaError({ code: 'muted_by_server', message: `Only the host can unmute this ${kind}.` });
