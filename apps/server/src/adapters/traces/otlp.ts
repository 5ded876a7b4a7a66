import { BatcherFull, createBatcher } from '../../core/batcher.ts';
import type { Log } from '../../core/log.ts';
import type { FinishedSpan } from '../../core/tracing.ts';

export interface OtlpOptions {
  /** Base address of a collector; `/v1/traces` is added. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  log: Log;
}

interface TraceSink {
  take(span: FinishedSpan): void;
  /** Sends what is there, for a moment: a collector that does not answer holds up no stop. */
  close(): Promise<void>;
}

const gatherMs = 2_000;
const batchMax = 500;
/** Traces are best effort: beyond this many waiting, new spans are dropped. */
const waitingMax = 5_000;
const timeoutMs = 5_000;
const closeMs = 2_000;
const kinds = { internal: 1, server: 2, client: 3 } as const;

/** OTLP over HTTP in its JSON form: what every collector takes, without a library. */
export function createOtlpSink({ endpoint, headers, serviceName, log }: OtlpOptions): TraceSink {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const resource = { attributes: attributesOf({ 'service.name': serviceName }) };
  const closing = new AbortController();
  let dropped = 0;
  const batcher = createBatcher<FinishedSpan, undefined>({ batchMax, waitingMax, gatherMs, write: send });

  async function send(spans: readonly FinishedSpan[]): Promise<undefined> {
    if (closing.signal.aborted) {
      dropped += spans.length;
      return;
    }
    const scopeSpans = [{ scope: { name: 'parley' }, spans: spans.map(wireSpan) }];
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
      });
      await response.arrayBuffer();
      if (!response.ok) log.warn({ status: response.status, spans: spans.length }, 'traces were refused');
    } catch (error) {
      log.warn({ error, spans: spans.length }, 'traces were not taken');
    }
    reportDropped();
  }

  function reportDropped(): void {
    if (dropped > 0) log.warn({ spans: dropped }, 'traces were dropped: the collector does not keep up');
    dropped = 0;
  }

  return {
    take(span) {
      batcher.add(span).catch((error) => {
        if (error instanceof BatcherFull) dropped++;
      });
    },
    async close() {
      const deadline = setTimeout(() => closing.abort(), closeMs);
      await batcher.flush();
      clearTimeout(deadline);
      reportDropped();
    },
  };
}

function wireSpan({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, isFailed }: FinishedSpan) {
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    status: { code: isFailed ? 2 : 1 },
  };
}

/** As text: a JSON number cannot hold them. */
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n);

const attributesOf = (attributes: FinishedSpan['attributes']) =>
  Object.entries(attributes).flatMap(([key, value]) => (value === null ? [] : [{ key, value: wireValue(value) }]));

function wireValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
