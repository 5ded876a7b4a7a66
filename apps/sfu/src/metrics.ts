import type { WorkerLoad } from './control/worker-protocol.ts';
import { LAYER_NAMES } from './media/downlink.ts';

interface MetricRow {
  kind: 'counter' | 'gauge';
  help: string;
  /** Its series: label values, and the figure of a media process. */
  series: readonly (readonly [labels: Record<string, string>, read: (load: WorkerLoad) => number])[];
}

type Read = (load: WorkerLoad) => number;

const one = (read: Read) => [[{}, read]] as const;
const bothWays = (into: Read, out: Read) =>
  [
    [{ direction: 'in' }, into],
    [{ direction: 'out' }, out],
  ] as const;

/** What a media node shows, one series for each of its processes. */
const TABLE: Record<string, MetricRow> = {
  parley_media_rooms: { kind: 'gauge', help: 'Open rooms.', series: one(({ rooms }) => rooms) },
  parley_media_participants: {
    kind: 'gauge',
    help: 'Participants in rooms.',
    series: one(({ participants }) => participants),
  },
  parley_media_packets_total: {
    kind: 'counter',
    help: 'RTP packets of publishers (in), RTP and RTCP packets to clients (out).',
    series: bothWays(
      ({ counters }) => counters.packetsIn,
      ({ outPackets }) => outPackets,
    ),
  },
  parley_media_bytes_total: {
    kind: 'counter',
    help: 'Bytes of media, from clients and to them.',
    series: bothWays(
      ({ inBytes }) => inBytes,
      ({ outBytes }) => outBytes,
    ),
  },
  parley_media_packets_lost_total: {
    kind: 'counter',
    help: 'Packets lost on the way from publishers, and to subscribers as those report.',
    series: bothWays(
      ({ counters }) => counters.lostIn,
      ({ counters }) => counters.lostOut,
    ),
  },
  parley_media_nacks_total: {
    kind: 'counter',
    help: 'Packets requested again: by subscribers (in), of publishers (out).',
    series: bothWays(
      ({ counters }) => counters.nacksIn,
      ({ counters }) => counters.nacksOut,
    ),
  },
  parley_media_key_frame_requests_total: {
    kind: 'counter',
    help: 'Key frames requested (PLI, FIR): by subscribers (in), of publishers (out).',
    series: bothWays(
      ({ counters }) => counters.keyFrameRequestsIn,
      ({ counters }) => counters.keyFrameRequestsOut,
    ),
  },
  parley_media_packets_resent_total: {
    kind: 'counter',
    help: 'Packets repeated to subscribers.',
    series: one(({ counters }) => counters.resent),
  },
  parley_media_rtx_packets_total: {
    kind: 'counter',
    help: 'Packets that publishers repeated by RTX: requested, or to probe their path.',
    series: one(({ counters }) => counters.rtxIn),
  },
  parley_media_data_dropped_total: {
    kind: 'counter',
    help: 'Data messages that slow receivers missed.',
    series: one(({ dataDropped }) => dataDropped),
  },
  parley_media_estimate_bytes_per_second: {
    kind: 'gauge',
    help: 'What the paths to all subscribers carry together, as estimated.',
    series: one(({ estimateBps }) => estimateBps / 8),
  },
  parley_media_video_subscriptions: {
    kind: 'gauge',
    help: 'Subscribed videos by the layer that is sent, 0 the lowest.',
    series: LAYER_NAMES.map((layer, index) => [{ layer }, ({ layers }) => layers[index] ?? 0] as const),
  },
  parley_media_event_loop_delay_p99_seconds: {
    kind: 'gauge',
    help: 'Delay of the event loop over the last second, 99th percentile.',
    series: one(({ loopDelaySeconds }) => loopDelaySeconds),
  },
  parley_media_pipes: {
    kind: 'gauge',
    help: 'Other processes that share a room with this one.',
    series: one(({ pipes }) => pipes),
  },
  parley_media_piped_tracks: {
    kind: 'gauge',
    help: 'Tracks that go to another process, once for each of them.',
    series: one(({ pipedTracks }) => pipedTracks),
  },
  parley_media_pipe_nacks_total: {
    kind: 'counter',
    help: 'Packets requested again between processes: by others (in), of others (out).',
    series: bothWays(
      ({ counters }) => counters.pipeNacksIn,
      ({ counters }) => counters.pipeNacksOut,
    ),
  },
  parley_media_pipe_packets_resent_total: {
    kind: 'counter',
    help: 'Packets repeated to other processes.',
    series: one(({ counters }) => counters.pipeResent),
  },
  parley_media_pipe_datagrams_lost_total: {
    kind: 'counter',
    help: 'Datagrams lost on the way from other processes.',
    series: one(({ pipeDatagramsLost }) => pipeDatagramsLost),
  },
  parley_media_pipe_layers_cut: {
    kind: 'gauge',
    help: 'Layers of each track that lossy paths from other nodes do not carry, of all of them together.',
    series: one(({ pipeLayersCut }) => pipeLayersCut),
  },
  parley_media_cpu_seconds_total: {
    kind: 'counter',
    help: 'Processor time.',
    series: one(({ cpuMicros }) => cpuMicros / 1e6),
  },
  parley_media_memory_bytes: { kind: 'gauge', help: 'Resident memory.', series: one(({ memoryBytes }) => memoryBytes) },
};

/** Of a process that has not reported yet. */
export const NOTHING: WorkerLoad = {
  rooms: 0,
  participants: 0,
  inBytes: 0,
  outBytes: 0,
  outPackets: 0,
  dataDropped: 0,
  pipes: 0,
  pipedTracks: 0,
  pipeDatagramsLost: 0,
  pipeLayersCut: 0,
  estimateBps: 0,
  layers: [],
  counters: {
    packetsIn: 0,
    lostIn: 0,
    lostOut: 0,
    rtxIn: 0,
    nacksIn: 0,
    nacksOut: 0,
    keyFrameRequestsIn: 0,
    keyFrameRequestsOut: 0,
    resent: 0,
    pipeNacksIn: 0,
    pipeNacksOut: 0,
    pipeResent: 0,
  },
  cpuMicros: 0,
  memoryBytes: 0,
  loopDelaySeconds: 0,
};

export const METRICS_TYPE = 'text/plain; version=0.0.4';

/** Prometheus text: every series is there from the start, at zero. */
export function renderMetrics(workers: readonly { load: WorkerLoad | undefined }[]): string {
  const lines: string[] = [];
  for (const [name, { kind, help, series }] of Object.entries(TABLE)) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
    for (const [index, { load = NOTHING }] of workers.entries())
      for (const [labels, read] of series)
        lines.push(`${name}{${labelText({ process: String(index), ...labels })}} ${read(load)}`);
  }
  return `${lines.join('\n')}\n`;
}

const labelText = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');
