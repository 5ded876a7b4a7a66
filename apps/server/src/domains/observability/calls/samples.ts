import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type TrackMeasure, trackMeasures } from '@parley/contract';

/** Measures of one track, a value for each sample; null where nothing is known. */
export type TrackSamples = Readonly<Record<TrackMeasure, readonly (number | null)[]>> & {
  id: string;
  way: 'out' | 'in';
  kind: 'audio' | 'video';
};

/** Samples that a client took one after the other, the last one just before it sent them. */
export interface SampleBatch {
  everyMs: number;
  count: number;
  /** Kilobits per second that it believes it can send. */
  bandwidth: readonly (number | null)[];
  tracks: readonly TrackSamples[];
}

const countMax = 12;
const tracksMax = 32;
const everyMsMin = 1_000;
const everyMsMax = 60_000;
/** Of any measure: more is nonsense. */
const valueMax = 10_000_000;
/** Two kilobytes a participant and minute: the SDK sends batches of 20 seconds, and no batch is larger. */
const bytesPerSecond = 33;
const packedBytesMax = 20 * bytesPerSecond;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function columnOf(value: unknown, count: number): (number | null)[] {
  const given: unknown[] = Array.isArray(value) ? value : [];
  return Array.from({ length: count }, (_, at) => {
    const one = given[at];
    return typeof one === 'number' && one >= 0 && one <= valueMax ? Math.round(one * 10) / 10 : null;
  });
}

function trackOf(value: unknown, count: number): TrackSamples[] {
  if (!isRecord(value)) return [];
  const { id, way, kind } = value;
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id)) return [];
  if ((way !== 'out' && way !== 'in') || (kind !== 'audio' && kind !== 'video')) return [];
  // Every measure has its column.
  const columns = Object.fromEntries(trackMeasures.map((name) => [name, columnOf(value[name], count)])) as Record<
    TrackMeasure,
    (number | null)[]
  >;
  return [{ id, way, kind, ...columns }];
}

/** What a client sent, as far as it makes sense; null when nothing of it does. */
export function readBatch(data: Readonly<Record<string, unknown>>): SampleBatch | null {
  const { everyMs, count, bandwidth, tracks } = data;
  if (typeof everyMs !== 'number' || everyMs < everyMsMin || everyMs > everyMsMax) return null;
  if (!Number.isInteger(count) || Number(count) < 1 || Number(count) > countMax) return null;
  const samples = Number(count);
  const given: unknown[] = Array.isArray(tracks) ? tracks.slice(0, tracksMax) : [];
  const read = given.flatMap((track) => trackOf(track, samples));
  return { everyMs, count: samples, bandwidth: columnOf(bandwidth, samples), tracks: read };
}

/** As it is stored: columns without a value are left out. */
function wireOf({ everyMs, bandwidth, tracks }: SampleBatch): unknown {
  const known = (column: readonly (number | null)[]): readonly (number | null)[] | 0 =>
    column.every((value) => value === null) ? 0 : column;
  return [
    everyMs,
    bandwidth,
    tracks.map((track) => [track.id, track.way, track.kind, ...trackMeasures.map((name) => known(track[name]))]),
  ];
}

/** How much a track has to tell: trouble first, then what takes most of the path. */
const weightOf = ({ loss, freeze, kbps }: TrackSamples): number =>
  Math.max(0, ...loss.map((value) => value ?? 0)) * 1e4 +
  Math.max(0, ...freeze.map((value) => value ?? 0)) * 10 +
  Math.max(0, ...kbps.map((value) => value ?? 0)) / 1e3;

/** The time that a batch is about. */
export const spanMsOf = ({ everyMs, count }: Pick<SampleBatch, 'everyMs' | 'count'>): number => everyMs * count;

/** Deflated, and small enough whatever the size of the call: the tracks that have least to tell are left out. */
export function pack(batch: SampleBatch): Buffer {
  const bytesMax = Math.min(packedBytesMax, (spanMsOf(batch) / 1000) * bytesPerSecond);
  const tracks = batch.tracks.toSorted((a, b) => weightOf(b) - weightOf(a));
  for (let left = tracks.length; ; left--) {
    const packed = deflateRawSync(JSON.stringify(wireOf({ ...batch, tracks: tracks.slice(0, left) })), { level: 9 });
    if (packed.length <= bytesMax || left === 0) return packed;
  }
}

type Wire = [
  everyMs: number,
  bandwidth: (number | null)[],
  tracks: [string, 'out' | 'in', 'audio' | 'video', ...unknown[]][],
];

/** Only what `pack` wrote. */
export function unpack(packed: Uint8Array): SampleBatch {
  const [everyMs, bandwidth, tracks] = JSON.parse(inflateRawSync(packed).toString()) as Wire;
  const count = bandwidth.length;
  const read = tracks.flatMap(([id, way, kind, ...columns]) =>
    trackOf({ id, way, kind, ...Object.fromEntries(trackMeasures.map((name, at) => [name, columns[at]])) }, count),
  );
  return { everyMs, count, bandwidth, tracks: read };
}
