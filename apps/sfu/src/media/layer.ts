import type { MediaLayer, MediaTrackRequest } from '@parley/contract/media-control';
import { RateMeter } from './rate-meter.ts';
import { isForLayer, type SvcPlace } from './svc/svc-place.ts';
import { FrameRates } from './temporal.ts';
import type { Upstream } from './upstream.ts';

/** A key frame is expensive for a publisher: at most two a second and layer, however many subscribers ask. */
const KEY_FRAME_MS_MIN = 500;
/** A layer without packets for this long is off. */
const SILENT_MS = 2000;
/** So long, while a lower one of the same picture goes on: its publisher has no bandwidth for it. */
const LEFT_BEHIND_MS = 600;
/** A layer that goes on has had a packet in this time. */
const GOES_ON_MS = 200;
/** How long a layer may take to start after the publisher was asked to send it. */
const STARTS_MS = 4000;
/** A layer without subscribers for this long may be turned off. */
const IDLE_MS = 3000;

/** Size and bit rate as the publisher declared them. */
export type DeclaredLayer = NonNullable<MediaTrackRequest['layers']>[number];

/** One simulcast or spatial layer of a track, or the whole track where there is only one. */
export class Layer {
  readonly rid: string;
  readonly #declared: DeclaredLayer | undefined;
  /** Bits per second assumed until it was measured. */
  readonly #guessedBitrate: number;
  readonly frameRates = new FrameRates();
  upstream: Upstream | undefined;
  /** Of a layer that shares its stream with others: what it takes with all that it builds on. */
  #ownRate: RateMeter | undefined;
  /** Bits per second when it was last on long enough to measure. */
  #measuredBitrate: number | undefined;
  #isKeyFrameWanted = false;
  #keyFrameRequestedAt = Number.NEGATIVE_INFINITY;
  /** Whether the publisher was asked to send this layer. */
  #isEnabled = true;
  #enabledAt = Number.NEGATIVE_INFINITY;
  /** Since when it has no subscriber. */
  #idleSince = Number.POSITIVE_INFINITY;

  constructor(rid: string, declared: DeclaredLayer | undefined, guessedBitrate: number) {
    this.rid = rid;
    this.#declared = declared;
    this.#guessedBitrate = guessedBitrate;
  }

  get height(): number | null {
    return this.#declared?.height ?? null;
  }

  get isEnabled(): boolean {
    return this.#isEnabled;
  }

  /** It is asked for once it has a subscriber. */
  turnOff(): void {
    this.#isEnabled = false;
    this.#idleSince = Number.NEGATIVE_INFINITY;
  }

  requestKeyFrame(): void {
    this.#isKeyFrameWanted = true;
  }

  onKeyFrame(): void {
    this.#isKeyFrameWanted = false;
  }

  /** Whether the publisher is to be asked for a key frame now. */
  takeKeyFrameRequest(hasSubscribers: boolean, now: number): boolean {
    if (!this.#isKeyFrameWanted || !this.upstream || now - this.#keyFrameRequestedAt < KEY_FRAME_MS_MIN) return false;
    if (!hasSubscribers) this.#isKeyFrameWanted = false;
    // A layer that is off starts with a key frame anyway: asking would only disturb the others.
    if (!hasSubscribers || !this.#isEnabled || now - this.upstream.rate.lastMediaAt > SILENT_MS) return false;
    this.#keyFrameRequestedAt = now;
    return true;
  }

  /** Enables the layer at once when it has subscribers, and disables it after a while without; whether that changed. */
  updateDemand(hasSubscribers: boolean, now: number): boolean {
    if (hasSubscribers) this.#idleSince = Number.POSITIVE_INFINITY;
    else if (this.#idleSince === Number.POSITIVE_INFINITY) this.#idleSince = now;
    const isEnabled = hasSubscribers || now - this.#idleSince < IDLE_MS;
    if (isEnabled === this.#isEnabled) return false;
    this.#isEnabled = isEnabled;
    if (isEnabled) this.#enabledAt = now;
    return true;
  }

  get #rate(): RateMeter | undefined {
    return this.#ownRate ?? this.upstream?.rate;
  }

  /** A packet of the stream that this layer shares with others. */
  onSvcPacket(place: SvcPlace, index: number, bytes: number, now: number): void {
    this.#ownRate ??= new RateMeter();
    // Where its content is left out on the way, the bit rate is that from before.
    if (place.spatial === index) this.#ownRate.lastMediaAt = place.isBare ? Number.NEGATIVE_INFINITY : now;
    if (isForLayer(place, index)) this.#ownRate.add(bytes);
  }

  /** Twice a second. */
  measure(now: number): void {
    this.#ownRate?.measure(now);
  }

  isOn(now: number): boolean {
    return this.#rate !== undefined && now - this.#rate.lastMediaAt < SILENT_MS;
  }

  /** It was sent, and is no longer, while a lower one is. */
  isBehind(lower: readonly Layer[], now: number): boolean {
    const sentAt = this.#rate?.lastMediaAt ?? Number.NEGATIVE_INFINITY;
    if (!this.#isEnabled || sentAt < this.#enabledAt || now - sentAt < LEFT_BEHIND_MS) return false;
    return lower.some((layer) => layer.#rate !== undefined && now - layer.#rate.lastMediaAt < GOES_ON_MS);
  }

  /** A layer that is on, that was disabled by ourselves, or that was enabled just now. */
  canServe(now: number): boolean {
    return !this.#isEnabled || now - this.#enabledAt < STARTS_MS || this.isOn(now);
  }

  /** Bits per second: as measured while it was last on for a while, else as declared or guessed. */
  bitrate(now: number): number {
    return this.#measure(now) ?? this.#declared?.bitrate ?? this.#guessedBitrate;
  }

  #measure(now: number): number | undefined {
    const rate = this.#rate;
    if (rate?.isMeasured && this.isOn(now) && rate.bitrate > 0) this.#measuredBitrate = rate.bitrate;
    return this.#measuredBitrate;
  }

  describe(now: number): MediaLayer {
    const { width = null, height = null, bitrate = null } = this.#declared ?? {};
    const measured = this.#measure(now);
    return { rid: this.rid, width, height, bitrate: measured ? Math.round(measured) : bitrate };
  }
}
