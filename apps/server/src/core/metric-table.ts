import { ErrorCategory } from '@parley/contract';

/** What we count or time: its help, and the label values that are shown as zero before anything happened. */
interface MetricRow {
  kind: 'counter' | 'histogram';
  help: string;
  /** Alerts and panels compare series: one that appears only with its first failure keeps them silent. */
  from: readonly Readonly<Record<string, string>>[];
}

const alone = [{}] as const;
const each = <L extends string>(label: L, values: readonly string[]): Record<L, string>[] =>
  values.map((value) => ({ [label]: value }) as Record<L, string>);

export const metricTable = {
  parley_connections_total: {
    kind: 'counter',
    help: 'Connections by what became of them; returned ones had ended or failed and came back.',
    from: each('outcome', ['started', 'succeeded', 'failed', 'ended', 'returned']),
  },
  parley_connection_errors_total: {
    kind: 'counter',
    help: 'Classified errors of connections.',
    from: each('category', ErrorCategory.enum),
  },
  parley_webhook_attempts_total: {
    kind: 'counter',
    help: 'Attempts to deliver a webhook.',
    from: each('result', ['delivered', 'failed']),
  },
  parley_push_attempts_total: {
    kind: 'counter',
    help: 'Attempts to send a notification.',
    from: each('result', ['sent', 'gone', 'busy', 'refused']),
  },
  parley_data_dropped_total: {
    kind: 'counter',
    help: 'Data messages that slow receivers missed, as reported by media nodes.',
    from: alone,
  },
  parley_media_link_faults_total: {
    kind: 'counter',
    help: 'Frames of media nodes that could not be read.',
    from: alone,
  },
  parley_media_foreign_events_total: {
    kind: 'counter',
    help: 'Events of media nodes about sessions that are not theirs.',
    from: alone,
  },
  parley_forged_tokens_total: {
    kind: 'counter',
    help: 'Tokens whose signature is not ours.',
    from: each('family', ['session', 'chat', 'rtc']),
  },
  parley_request_log_dropped_total: {
    kind: 'counter',
    help: 'Requests that are not in the request log: beyond its rate, beyond what may wait, or not stored.',
    from: each('reason', ['rate', 'queue', 'store']),
  },
  parley_replica_reads_total: {
    kind: 'counter',
    help: 'Reads that might be of the replica, by who answered: it, or the primary since it was behind or away.',
    from: each('result', ['replica', 'behind', 'away']),
  },
  parley_tls_refused_total: {
    kind: 'counter',
    help: 'TLS connections that were refused.',
    from: each('reason', ['too many']),
  },
  parley_http_requests_total: { kind: 'counter', help: 'Requests by method, route and status.', from: [] },
  parley_http_request_seconds: { kind: 'histogram', help: 'Time to answer a request.', from: [] },
  parley_connect_seconds: { kind: 'histogram', help: 'Time from the first step to being in the room.', from: alone },
  parley_chat_send_latency_seconds: {
    kind: 'histogram',
    help: 'Time from a client sending a message to its being stored, by both clocks.',
    from: alone,
  },
  parley_webhook_delivery_seconds: {
    kind: 'histogram',
    help: 'Time from an event to its delivery.',
    from: alone,
  },
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof metricTable;
type NameOf<K extends MetricRow['kind']> = {
  [N in MetricName]: (typeof metricTable)[N]['kind'] extends K ? N : never;
}[MetricName];
export type CounterName = NameOf<'counter'>;
export type HistogramName = NameOf<'histogram'>;
