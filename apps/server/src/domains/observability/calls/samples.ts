import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type TrackMeasure, trackMeasures } from '@parley/contract';

/** Measures of one track, a value for each sample; null where nothing is known. */
export type TrackSamples = Readonly<Record<TrackMeasure, readonly (number | null)[]>> & {
  id: string;
  way: 'out' | 'in';
  kind: 'audio' | 'video';
};

/** Who took samples: the client of a participant, or the media node that carries its media. */
export type MeasuredBy = 'client' | 'node';

/** Samples that were taken one after the other, the last one just before they were sent. */
export interface SampleBatch {
  measuredBy: MeasuredBy;
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
/** Two kilobytes a participant and minute together: the SDK sends batches of 20 seconds, a node of 45; none is larger. */
const shares: Readonly<Record<MeasuredBy, { bytesPerSecond: number; secondsMax: number }>> = {
  client: { bytesPerSecond: 25, secondsMax: 20 },
  node: { bytesPerSecond: 8, secondsMax: 45 },
};

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

/** What was sent, as far as it makes sense; null when nothing of it does. */
export function readBatch(
  data: Readonly<Record<string, unknown>>,
  measuredBy: MeasuredBy = 'client',
): SampleBatch | null {
  const { everyMs, count, bandwidth, tracks } = data;
  if (typeof everyMs !== 'number' || everyMs < everyMsMin || everyMs > everyMsMax) return null;
  if (!Number.isInteger(count) || Number(count) < 1 || Number(count) > countMax) return null;
  const samples = Number(count);
  const given: unknown[] = Array.isArray(tracks) ? tracks.slice(0, tracksMax) : [];
  const read = given.flatMap((track) => trackOf(track, samples));
  return { measuredBy, everyMs, count: samples, bandwidth: columnOf(bandwidth, samples), tracks: read };
}

/** As it is stored: columns without a value are left out. */
function wireOf({ measuredBy, everyMs, bandwidth, tracks }: SampleBatch): unknown {
  const known = (column: readonly (number | null)[]): readonly (number | null)[] | 0 =>
    column.every((value) => value === null) ? 0 : column;
  return [
    everyMs,
    bandwidth,
    tracks.map((track) => [track.id, track.way, track.kind, ...trackMeasures.map((name) => known(track[name]))]),
    ...(measuredBy === 'node' ? [measuredBy] : []),
  ];
}

/** How much a track has to tell: trouble first, then what takes most of the path. */
const weightOf = ({ loss, freeze, kbps }: TrackSamples): number =>
  Math.max(0, ...loss.map((value) => value ?? 0)) * 1e4 +
  Math.max(0, ...freeze.map((value) => value ?? 0)) * 10 +
  Math.max(0, ...kbps.map((value) => value ?? 0)) / 1e3;

/** The time that a batch is about. */
export const spanMsOf = ({ everyMs, count }: Pick<SampleBatch, 'everyMs' | 'count'>): number => everyMs * count;

/** More than this nobody receives in a call: what a client says of itself must not make up traffic. */
const receivedKbpsMax = 100_000;

/** The bytes of media that its client received in that time, as it measured them. */
export function receivedBytesOf({ everyMs, count, tracks }: SampleBatch): number {
  const received = tracks.filter(({ way }) => way === 'in');
  const rates = Array.from({ length: count }, (_, at) => received.reduce((sum, { kbps }) => sum + (kbps[at] ?? 0), 0));
  return Math.round(rates.reduce((bytes, kbps) => bytes + (Math.min(kbps, receivedKbpsMax) * everyMs) / 8, 0));
}

/** Deflated, and small enough whatever the size of the call: the tracks that have least to tell are left out. */
export function pack(batch: SampleBatch): Buffer {
  const { bytesPerSecond, secondsMax } = shares[batch.measuredBy];
  const bytesMax = Math.min(secondsMax, spanMsOf(batch) / 1000) * bytesPerSecond;
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
  /** Left out of those of clients. */
  measuredBy?: MeasuredBy,
];

/** Only what `pack` wrote. */
export function unpack(packed: Uint8Array): SampleBatch {
  const [everyMs, bandwidth, tracks, measuredBy = 'client'] = JSON.parse(inflateRawSync(packed).toString()) as Wire;
  const count = bandwidth.length;
  const read = tracks.flatMap(([id, way, kind, ...columns]) =>
    trackOf({ id, way, kind, ...Object.fromEntries(trackMeasures.map((name, at) => [name, columns[at]])) }, count),
  );
  return { measuredBy, everyMs, count, bandwidth, tracks: read };
}
