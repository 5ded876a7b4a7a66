import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyWebhook } from '@parley/server';
import { addWebhook, emit, readDeliveries, readWebhook, streamEvents } from '../../../testkit/clients/webhooks.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import {
  eventIn,
  hasValidSignature,
  hasValidStandardSignature,
  startReceiver,
  type TestReceiver,
} from '../../../testkit/peers/receiver.ts';

let service: TestService;
let project: TestProject;
const receivers: TestReceiver[] = [];

const receive = async (...args: Parameters<typeof startReceiver>): Promise<TestReceiver> => {
  const receiver = await startReceiver(...args);
  receivers.push(receiver);
  return receiver;
};

before(async () => {
  service = await sharedService();
  project = await service.newProject();
});
after(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

const nowSeconds = () => Date.now() / 1000;

test('[WH-1] an event reaches the endpoint as the envelope, signed over its exact bytes', async () => {
  const receiver = await receive();
  const webhook = await addWebhook(project, { url: receiver.url, headers: { 'X-Team': 'blue' } });
  await emit(service, project, [
    { type: 'live_stream.started', data: { streamId: 's"ü\u2028', startedAt: '2026-01-01T00:00:00.000Z' } },
  ]);
  const [request] = receiver.requests;
  assert.ok(request);
  const event = JSON.parse(request.body.toString());
  assert.match(event.id, /^evt_[0-9a-z]{24}$/);
  assert.deepEqual(Object.keys(event), ['id', 'type', 'projectId', 'environment', 'createdAt', 'data']);
  assert.deepEqual(
    { type: event.type, projectId: event.projectId, environment: event.environment, data: event.data },
    {
      type: 'live_stream.started',
      projectId: project.id,
      environment: 'DEVELOPMENT',
      data: { streamId: 's"ü\u2028', startedAt: '2026-01-01T00:00:00.000Z' },
    },
  );
  assert.match(String(request.headers['svc-signature']), /^t=\d+,v1=[0-9a-f]{64}$/);
  assert.ok(hasValidSignature(request, webhook.secret, nowSeconds()));
  assert.ok(hasValidStandardSignature(request, webhook.secret, nowSeconds()));
  assert.deepEqual(verifyWebhook(request.body, request.headers, webhook.secret), event);
  assert.ok(
    !hasValidSignature(
      { ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) },
      webhook.secret,
      nowSeconds(),
    ),
  );
  const [delivery] = await readDeliveries(project, webhook.id);
  assert.ok(delivery);
  assert.deepEqual(
    [
      request.headers['svc-event-id'],
      request.headers['svc-delivery-id'],
      request.headers['svc-attempt'],
      request.headers['content-type'],
      request.headers['user-agent'],
      request.headers['webhook-id'],
      request.headers['x-team'],
    ],
    [event.id, delivery.id, '1', 'application/json', 'svc-webhooks/1', event.id, 'blue'],
  );
  const { attemptLog, ...rest } = delivery;
  assert.partialDeepStrictEqual(rest, {
    status: 'DELIVERED',
    eventId: event.id,
    eventType: 'live_stream.started',
    attempts: 1,
    maxAttempts: 6,
    nextAttemptAt: null,
    lastStatusCode: 204,
    lastError: null,
    failedAt: null,
  });
  assert.equal(attemptLog.length, 1);
  assert.partialDeepStrictEqual(attemptLog[0], { number: 1, statusCode: 204, error: null, responseExcerpt: null });
});

test('[WH-2] an endpoint gets the types it asked for, of its own environment, and all of them when it asked for none', async () => {
  const [all, started, ended, production] = await Promise.all([receive(), receive(), receive(), receive()]);
  const own = await service.newProject();
  await addWebhook(own, { url: all.url, events: [] });
  await addWebhook(own, { url: started.url, events: ['live_stream.started', 'live_stream.started'] });
  await addWebhook(own, { url: ended.url, events: ['live_stream.ended'], environment: 'DEVELOPMENT' });
  await emit(service, own, streamEvents(3));
  await emit(service, own, streamEvents(2, 'production_'), 'PRODUCTION');
  await emit(service, own, [
    { type: 'live_stream.ended', data: { streamId: 's', endedAt: '2026-01-01T00:00:00.000Z', durationMs: null } },
  ]);
  const typesAt = (receiver: TestReceiver) => receiver.requests.map((request) => eventIn(request).type).sort();
  assert.deepEqual(typesAt(all), ['live_stream.ended', ...Array(3).fill('live_stream.started')]);
  assert.deepEqual(typesAt(started), Array(3).fill('live_stream.started'));
  assert.deepEqual(typesAt(ended), ['live_stream.ended']);
  assert.deepEqual(typesAt(production), []);
  const environments = [all, started].flatMap(({ requests }) =>
    requests.map(({ body }) => JSON.parse(body.toString()).environment),
  );
  assert.deepEqual(new Set(environments), new Set(['DEVELOPMENT']));
});

test('[SEC-2] an endpoint that answers with what it was sent does not show the values of extra headers', async () => {
  const own = await service.newProject();
  const value = 'key "of" the gateway';
  // The second begins where the excerpt ends.
  const receiver = await receive({ status: 500, body: `${JSON.stringify({ value })}${'.'.repeat(980)}${value}` });
  const webhook = await addWebhook(own, { url: receiver.url, headers: { 'x-gateway-key': value } });
  await emit(service, own, streamEvents(1));
  const [delivery] = await readDeliveries(own, webhook.id);
  const excerpt = delivery?.attemptLog[0]?.responseExcerpt ?? '';
  assert.match(excerpt, /^\{"value":"\[redacted\]"\}\.{980}\[r/);
  assert.doesNotMatch(excerpt, /gateway|key/);
  assert.ok(excerpt.length <= 1024);
});

test('[WH-6] every answer outside 2xx, a redirect too, is a failure that is shown with its status', async () => {
  const own = await service.newProject();
  const elsewhere = await receive();
  for (const status of [301, 302, 304, 400, 404, 410, 429, 500, 503]) {
    const receiver = await receive({ status, headers: { location: elsewhere.url }, body: 'no\r\n\u0007thanks' });
    const webhook = await addWebhook(own, { url: receiver.url });
    await emit(service, own, streamEvents(1));
    const [delivery] = await readDeliveries(own, webhook.id);
    assert.partialDeepStrictEqual(delivery, {
      status: 'RETRYING',
      attempts: 1,
      lastStatusCode: status,
      lastError: `The endpoint answered ${status}.`,
    });
    const excerpt = delivery?.attemptLog[0]?.responseExcerpt;
    assert.equal(excerpt, status === 304 ? null : 'no...thanks');
    assert.equal((await readWebhook(own, webhook.id)).consecutiveFailures, 1);
    await own.owner.api.call('deleteWebhook', { projectId: own.id, webhookId: webhook.id });
  }
  assert.equal(elsewhere.requests.length, 0);
});

test('[WH-7] an answer is read to 64 KiB at most and never understood', async () => {
  const own = await service.newProject();
  const bodies = ['{"a":', '\u001f\u008b\u0008broken gzip', 'x'.repeat(10_000_000), '{"__proto__":{"x":1}}'];
  for (const body of bodies) {
    const receiver = await receive({
      status: 200,
      body,
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
    });
    const webhook = await addWebhook(own, { url: receiver.url });
    await emit(service, own, streamEvents(1));
    const [delivery] = await readDeliveries(own, webhook.id);
    assert.equal(delivery?.status, 'DELIVERED');
    await own.owner.api.call('deleteWebhook', { projectId: own.id, webhookId: webhook.id });
  }
});

test('[WH-12] during a rotation both secrets sign, before and after it one', async () => {
  const own = await service.newProject();
  const receiver = await receive();
  const webhook = await addWebhook(own, { url: receiver.url });
  const at = { projectId: own.id, webhookId: webhook.id };
  const next = await own.owner.api.call('rotateWebhookSecret', { ...at, body: {} });
  assert.match(next.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  await emit(service, own, streamEvents(1));
  const last = await own.owner.api.call('rotateWebhookSecret', { ...at, body: { gracePeriodSeconds: 0 } });
  await emit(service, own, streamEvents(1));
  const [overlap, alone] = receiver.requests;
  assert.ok(overlap && alone);
  const validFor = (request: typeof overlap) =>
    [webhook.secret, next.secret, last.secret].map((secret) => [
      hasValidSignature(request, secret, nowSeconds()),
      hasValidStandardSignature(request, secret, nowSeconds()),
    ]);
  assert.match(String(overlap.headers['svc-signature']), /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  assert.deepEqual(validFor(overlap), [
    [true, true],
    [true, true],
    [false, false],
  ]);
  assert.match(String(alone.headers['svc-signature']), /^t=\d+,v1=[0-9a-f]{64}$/);
  assert.deepEqual(validFor(alone), [
    [false, false],
    [false, false],
    [true, true],
  ]);
});
