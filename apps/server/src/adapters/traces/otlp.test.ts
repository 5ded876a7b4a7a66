import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSilentServer } from '../../../testkit/peers/silent-server.ts';
import type { FinishedSpan } from '../../core/tracing.ts';
import { createOtlpSink } from './otlp.ts';

const span: FinishedSpan = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: null,
  name: 'work',
  kind: 'internal',
  startMs: 0,
  endMs: 1,
  attributes: {},
  isFailed: false,
};

test('[OBS-15] a collector that never answers: 5000 spans wait, the rest is dropped and counted, and closing gives up', async () => {
  const collector = await startSilentServer();
  const lines: { message: string; spans: number }[] = [];
  const note = (fields: object, message: string) =>
    void lines.push({ message, spans: Number((fields as { spans: number }).spans) });
  const log = { debug: note, info: note, warn: note, error: note };
  const sink = createOtlpSink({ endpoint: collector.url, headers: {}, serviceName: 'test', log });
  for (let taken = 0; taken < 7_000; taken++) sink.take(span);
  await sink.close();
  assert.deepEqual(lines, [
    { message: 'traces were not taken', spans: 500 },
    { message: 'traces were dropped: the collector does not keep up', spans: 2_000 },
    { message: 'traces were dropped: the collector does not keep up', spans: 4_500 },
  ]);
  await collector.close();
});
