import type { CodecName } from '@parley/media-description';
import type { Vp8Descriptor } from './payload.ts';

/** Where a frame stands among the temporal layers of its stream: frames above a layer can be dropped. */
export interface TemporalPlace {
  /** 0 is what every other layer builds on. */
  layer: number;
  /** The frame refers to the base only: its layer can start with it. */
  startsLayer: boolean;
  /** No later frame of a higher layer refers to a frame before this one: all of them can start after it. */
  opensHigher: boolean;
}

/** Above every temporal layer there is. */
export const EVERY_FRAME = 7;

export const newTemporalPlace = (): TemporalPlace => ({ layer: 0, startsLayer: false, opensHigher: false });

/**
 * Reads it from a payload. What a packet does not say stays as it was: it continues the frame of the one before, unless
 * it comes late. Whether it said it.
 */
export function readTemporal(
  codec: CodecName,
  vp8: Vp8Descriptor | undefined,
  b: Buffer,
  start: number,
  end: number,
  place: TemporalPlace,
): boolean {
  if (codec === 'AV1') return readAv1(b, start, end, place);
  if (codec === 'VP8') set(place, vp8?.temporalLayer ?? 0, vp8?.isLayerSync ?? false, false);
  else if (codec === 'VP9') readVp9(b, start, end, place);
  else if (codec === 'H264') readH264(b, start, end, place);
  return true;
}

export const copyPlace = (from: TemporalPlace, to: TemporalPlace): void =>
  set(to, from.layer, from.startsLayer, from.opensHigher);

function set(place: TemporalPlace, layer: number, startsLayer: boolean, opensHigher: boolean): void {
  place.layer = layer;
  place.startsLayer = startsLayer;
  place.opensHigher = opensHigher;
}

/** RFC 9628 4.2: the layer indices follow the picture id; U is the switching-up point. */
function readVp9(b: Buffer, start: number, end: number, place: TemporalPlace): void {
  const flags = b[start] ?? 0;
  let at = start + 1;
  if ((flags & 0x80) !== 0) at += ((b[at] ?? 0) & 0x80) !== 0 ? 2 : 1;
  if ((flags & 0x20) === 0 || at >= end) set(place, 0, false, false);
  else set(place, (b[at] ?? 0) >> 5, false, ((b[at] ?? 0) & 0x10) !== 0);
}

const NAL_SLICE = 1;
const NAL_FU_A = 28;

/** H264 has no layers in RTP, but marks slices that no other frame refers to: those are layer 1. */
function readH264(b: Buffer, start: number, end: number, place: TemporalPlace): void {
  const first = b[start] ?? 0;
  const outer = first & 0x1f;
  const type = outer === NAL_FU_A && start + 1 < end ? (b[start + 1] ?? 0) & 0x1f : outer;
  set(place, type === NAL_SLICE && (first & 0x60) === 0 ? 1 : 0, true, true);
}

const OBU_TEMPORAL_DELIMITER = 2;

/**
 * AV1 says it in the extension of an OBU header. Without the dependency descriptor nothing marks where a layer starts,
 * but in every mode of browsers the higher layers restart after each frame of the base.
 */
function readAv1(b: Buffer, start: number, end: number, place: TemporalPlace): boolean {
  const aggregation = b[start] ?? 0;
  const isContinued = (aggregation & 0x80) !== 0;
  const count = (aggregation >> 4) & 3;
  let at = isContinued ? end : start + 1;
  for (let element = 1; at < end; element += 1) {
    // The last of a counted number of elements has no length.
    if (element !== count) at = readLength(b, at, end);
    const head = b[at] ?? 0;
    if (((head >> 3) & 0x0f) !== OBU_TEMPORAL_DELIMITER) {
      const layer = (head & 0x04) !== 0 && at + 1 < end ? (b[at + 1] ?? 0) >> 5 : 0;
      set(place, layer, false, layer === 0);
      return true;
    }
    at += lengthRead;
  }
  return false;
}

/** What `readLength` found: a second result without an allocation. */
let lengthRead = 0;

/** A length in groups of seven bits, lowest first; where it ends. */
function readLength(b: Buffer, start: number, end: number): number {
  lengthRead = 0;
  for (let at = start, shift = 0; at < end && shift < 28; at += 1, shift += 7) {
    lengthRead |= ((b[at] ?? 0) & 0x7f) << shift;
    if (((b[at] ?? 0) & 0x80) === 0) return at + 1;
  }
  return end;
}

/** Frame rates are measured over windows of this length. */
const WINDOW_MS = 1000;
/** A layer that is a little faster than wanted still counts: cameras are not exact. */
const TOLERANCE = 1.15;

/** Frames a second in each temporal layer of one stream. */
export class FrameRates {
  readonly #counts = new Uint16Array(EVERY_FRAME + 1);
  #rates: number[] = [];
  #since = 0;
  #lastTimestamp = -1;

  packet(layer: number, timestamp: number, now: number): void {
    if (timestamp === this.#lastTimestamp) return;
    this.#lastTimestamp = timestamp;
    const elapsed = now - this.#since;
    if (elapsed >= WINDOW_MS) {
      // A window with a pause in it measures nothing.
      if (elapsed < 2 * WINDOW_MS) this.#rates = [...this.#counts].map((count) => (count * 1000) / elapsed);
      this.#counts.fill(0);
      this.#since = now;
    }
    this.#counts[layer] = (this.#counts[layer] ?? 0) + 1;
  }

  /** The highest layer within a frame rate: at least the base, and every layer before anything was measured. */
  layerFor(fps: number): number {
    let sum = 0;
    for (const [layer, rate] of this.#rates.entries()) {
      sum += rate;
      if (layer > 0 && rate > 0 && sum > fps * TOLERANCE) return layer - 1;
    }
    return EVERY_FRAME;
  }
}
