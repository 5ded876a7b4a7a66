import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mint, newRoom, type RoomsService, startRooms } from '../../testkit/clients/rooms.ts';
import { joinRoom } from '../../testkit/clients/signal-client.ts';
import { addWebhook } from '../../testkit/clients/webhooks.ts';
import { eventually } from '../../testkit/kit/eventually.ts';
import { type CollectedSpan, type Collector, startCollector } from '../../testkit/peers/collector.ts';
import { startReceiver, type TestReceiver } from '../../testkit/peers/receiver.ts';
import { systemClock } from './clock.ts';
import { createTracer, type FinishedSpan, readTraceparent } from './tracing.ts';

let collector: Collector;
let receiver: TestReceiver;
let service: RoomsService;
before(async () => {
  collector = await startCollector();
  receiver = await startReceiver();
  service = await startRooms({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue',
      OTEL_SERVICE_NAME: 'parley-test',
    },
  });
});
after(async () => {
  await service.stop();
  await receiver.close();
  await collector.close();
});

const named = (name: string): CollectedSpan[] => collector.spans.filter((span) => span.name === name);
const traceId = '0af7651916cd43dd8448eb211c80319c';

test('[OBS-12] a request joins the trace of its caller, and its transactions lie under it', async () => {
  const project = await service.newProject();
  const answer = await service.fetch('/v1/chat/conversations', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${project.apiKey}`,
      'content-type': 'application/json',
      'x-request-id': 'trace-me',
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    },
    body: JSON.stringify({ name: 'traced' }),
  });
  assert.equal(answer.status, 201);
  const request = await eventually(() => {
    const [span] = named('POST /v1/chat/conversations').filter((each) => each.traceId === traceId);
    assert.ok(span, 'the request was exported to the collector');
    return span;
  });
  assert.equal(request.parentSpanId, 'b7ad6b7169203331');
  assert.deepEqual([request.kind, request.status.code, request.service], [2, 1, 'parley-test']);
  assert.partialDeepStrictEqual(request.attributes, {
    'parley.request_id': 'trace-me',
    'http.response.status_code': '201',
  });
  assert.ok(BigInt(request.endTimeUnixNano) >= BigInt(request.startTimeUnixNano));
  const transactions = named('database transaction').filter((span) => span.parentSpanId === request.spanId);
  assert.ok(transactions.length > 0, 'the transaction is a child of its request');
  assert.equal(collector.headers[0]?.['x-team'], 'blue');
});

test('[OBS-12] a caller that does not sample is not traced', async () => {
  const quiet = 'ffffffffffffffffffffffffffffffff';
  await service.fetch('/healthz', { headers: { traceparent: `00-${quiet}-b7ad6b7169203331-00` } });
  await service.fetch('/healthz');
  await eventually(() => assert.ok(named('GET /healthz').length > 0));
  assert.equal(collector.spans.filter((span) => span.traceId === quiet).length, 0);
});

test('[OBS-12] a join and a webhook attempt are spans, and the receiver gets the trace', async () => {
  const project = await service.newProject();
  await addWebhook(project, { url: receiver.url, events: ['conversation.created'] });
  await project.api.call('createConversation', { body: { name: 'told' } });
  const room = await newRoom(project.api);
  const client = await joinRoom(service.url, (await mint(project.api, room, 'ada')).token);
  const join = await eventually(() => {
    const [span] = named('join').filter((each) => each.attributes['parley.project_id'] === project.id);
    assert.ok(span);
    return span;
  });
  assert.ok(String(join.attributes['parley.connection_id']).length > 0);
  const attempt = await eventually(() => {
    const [span] = named('webhook attempt');
    assert.ok(span);
    return span;
  });
  assert.partialDeepStrictEqual(attempt.attributes, {
    'parley.event_type': 'conversation.created',
    'parley.attempt': '1',
    'http.response.status_code': '204',
  });
  assert.equal(receiver.requests[0]?.headers['traceparent'], `00-${attempt.traceId}-${attempt.spanId}-01`);
  await client.close();
});

test('[OBS-12] a traceparent that is none begins a trace of its own; failures are marked', async () => {
  for (const text of ['', 'x', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, `ff-${traceId}-b7ad6b7169203331-01`])
    assert.equal(readTraceparent(text), null, text);
  const spans: FinishedSpan[] = [];
  const tracer = createTracer({
    clock: systemClock,
    sampleRatio: 1,
    random: () => 0.5,
    onEnd: (span) => spans.push(span),
  });
  await assert.rejects(
    tracer.trace('outer', { parent: 'nonsense' }, () =>
      tracer.trace('inner', {}, () => Promise.reject(new Error('no'))),
    ),
  );
  const [inner, outer] = spans;
  assert.deepEqual([inner?.parentSpanId, inner?.traceId], [outer?.spanId, outer?.traceId]);
  assert.deepEqual([inner?.isFailed, outer?.isFailed, outer?.parentSpanId], [true, true, null]);
});
