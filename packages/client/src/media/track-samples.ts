import type { TransportName } from './media-health.ts';
import type { Publisher } from './publisher.ts';

/** The fields of the browser's reports that are read here. */
export interface StatsReport {
  id: string;
  type: string;
  kind?: string;
  mid?: string;
  localId?: string;
  timestamp?: number;
  bytesSent?: number;
  bytesReceived?: number;
  packetsReceived?: number;
  packetsLost?: number;
  fractionLost?: number;
  roundTripTime?: number;
  currentRoundTripTime?: number;
  jitter?: number;
  framesPerSecond?: number;
  frameHeight?: number;
  totalFreezesDuration?: number;
  availableOutgoingBitrate?: number;
  nominated?: boolean;
  state?: string;
}

type Measures = Record<'kbps' | 'loss' | 'rtt' | 'jitter' | 'fps' | 'freeze' | 'height', number | null>;

interface Sampled extends Measures {
  id: string;
  way: 'out' | 'in';
  kind: 'audio' | 'video';
}

export interface TrackSampler {
  /** How many samples wait to be sent. */
  readonly count: number;
  take(stats: Record<TransportName, readonly StatsReport[]>): void;
  /** What was gathered since the last time, by column; null when nothing was. */
  flush(): Record<string, unknown> | null;
}

interface SamplerDeps {
  sides: Record<TransportName, Pick<Publisher, 'trackAt'>>;
  everyMs: number;
}

/** Totals of the browser, from which the next sample is the difference. */
interface Totals {
  at: number;
  bytes: number;
  received: number;
  lost: number;
  frozen: number;
}

/** A room has more; the server keeps what has something to tell. */
const TRACKS_MAX = 16;

/** Samples of each track, both ways, from the browser's statistics. */
export function createTrackSampler({ sides, everyMs }: SamplerDeps): TrackSampler {
  const totals = new Map<string, Totals>();
  let samples: { bandwidth: number | null; tracks: Sampled[] }[] = [];

  /** Since the last sample; null for the first one. */
  function since(key: string, now: Totals): Totals | null {
    const before = totals.get(key);
    totals.set(key, now);
    if (!before || now.at <= before.at) return null;
    const grown = (name: keyof Totals): number => Math.max(0, now[name] - before[name]);
    return {
      at: grown('at'),
      bytes: grown('bytes'),
      received: grown('received'),
      lost: grown('lost'),
      frozen: grown('frozen'),
    };
  }

  function outgoing(reports: readonly StatsReport[]): Sampled[] {
    const remote = new Map(reports.filter(isType('remote-inbound-rtp')).map((report) => [report.localId, report]));
    const sent = reports.filter(isType('outbound-rtp'));
    return [...new Set(sent.map(({ mid = '' }) => mid))].flatMap((mid) => {
      const layers = sent.filter((report) => report.mid === mid);
      const id = sides.pub.trackAt(mid);
      const first = layers[0];
      if (id === null || !first) return [];
      const heard = layers.flatMap((layer) => remote.get(layer.id) ?? []);
      const bytes = layers.reduce((sum, { bytesSent = 0 }) => sum + bytesSent, 0);
      const grown = since(`out/${id}`, { at: first.timestamp ?? 0, bytes, received: 0, lost: 0, frozen: 0 });
      const loss = highest(heard, 'fractionLost');
      return [
        {
          id,
          way: 'out',
          kind: kindOf(first),
          kbps: kbpsOf(grown),
          loss: loss === null ? null : loss * 100,
          rtt: inMs(highest(heard, 'roundTripTime')),
          jitter: inMs(highest(heard, 'jitter')),
          fps: highest(layers, 'framesPerSecond'),
          freeze: null,
          height: highest(layers, 'frameHeight'),
        },
      ];
    });
  }

  function incoming(reports: readonly StatsReport[]): Sampled[] {
    const rtt = inMs(pathOf(reports)?.currentRoundTripTime ?? null);
    return reports.filter(isType('inbound-rtp')).flatMap((report) => {
      const id = sides.sub.trackAt(report.mid ?? '');
      if (id === null) return [];
      const { bytesReceived = 0, packetsReceived = 0, packetsLost = 0, totalFreezesDuration = 0 } = report;
      const now = { received: packetsReceived, lost: packetsLost, frozen: totalFreezesDuration * 1000 };
      const grown = since(`in/${id}`, { at: report.timestamp ?? 0, bytes: bytesReceived, ...now });
      const expected = grown ? grown.received + grown.lost : 0;
      const kind = kindOf(report);
      return [
        {
          id,
          way: 'in',
          kind,
          kbps: kbpsOf(grown),
          loss: grown && expected > 0 ? (grown.lost / expected) * 100 : null,
          rtt,
          jitter: inMs(report.jitter ?? null),
          fps: report.framesPerSecond ?? null,
          freeze: grown && kind === 'video' ? grown.frozen : null,
          height: report.frameHeight ?? null,
        },
      ];
    });
  }

  return {
    get count() {
      return samples.length;
    },
    take({ pub, sub }) {
      const bits = pathOf(pub)?.availableOutgoingBitrate;
      samples.push({
        bandwidth: bits === undefined ? null : bits / 1000,
        tracks: [...outgoing(pub), ...incoming(sub)],
      });
    },
    flush() {
      const taken = samples;
      samples = [];
      if (taken.every(({ tracks }) => tracks.length === 0)) return null;
      return byColumn(taken, everyMs);
    },
  };
}

const isType =
  (type: string) =>
  (report: StatsReport): boolean =>
    report.type === type;
const kindOf = ({ kind }: StatsReport): 'audio' | 'video' => (kind === 'audio' ? 'audio' : 'video');
const inMs = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000);
const kbpsOf = (grown: Totals | null): number | null => grown && (grown.bytes * 8) / grown.at;
const pathOf = (reports: readonly StatsReport[]): StatsReport | undefined =>
  reports.find(({ type, state, nominated }) => type === 'candidate-pair' && state === 'succeeded' && nominated);

function highest(
  reports: readonly StatsReport[],
  name: 'fractionLost' | 'roundTripTime' | 'jitter' | 'framesPerSecond' | 'frameHeight',
): number | null {
  const values = reports.flatMap((report) => report[name] ?? []);
  return values.length === 0 ? null : Math.max(...values);
}

const measures = ['kbps', 'loss', 'rtt', 'jitter', 'fps', 'freeze', 'height'] as const;
const rounded = (value: number | null): number | null => (value === null ? null : Math.round(value));

/** One list for each measure of each track: names are said once, and like values stand together. */
function byColumn(
  samples: readonly { bandwidth: number | null; tracks: readonly Sampled[] }[],
  everyMs: number,
): Record<string, unknown> {
  const all = new Map(samples.flatMap(({ tracks }) => tracks).map((track) => [`${track.way}/${track.id}`, track]));
  const tracks = [...all.values()].slice(0, TRACKS_MAX).map(({ id, way, kind }) => {
    const rows = samples.map((sample) => sample.tracks.find((track) => track.id === id && track.way === way));
    const columns = measures
      .map((name) => [name, rows.map((row) => rounded(row?.[name] ?? null))] as const)
      .filter(([, column]) => column.some((value) => value !== null));
    return { id, way, kind, ...Object.fromEntries(columns) };
  });
  return { everyMs, count: samples.length, bandwidth: samples.map(({ bandwidth }) => rounded(bandwidth)), tracks };
}
