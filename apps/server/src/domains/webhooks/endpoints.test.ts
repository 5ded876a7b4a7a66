import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { allEvents, eventTypes } from '@parley/contract';
import { ApiError } from '@parley/server';
import { Compile } from 'typebox/schema';
import {
  addWebhook,
  emit,
  readDeliveries,
  readWebhook,
  settle,
  streamEvents,
} from '../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { eventIn, startReceiver, type TestReceiver } from '../../../testkit/peers/receiver.ts';
import { sql } from '../../core/sql.ts';
import { sampleData } from './sample-event.ts';

let service: TestService;
const receivers: TestReceiver[] = [];

before(async () => {
  service = await sharedService();
});
after(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

const receive = async (answer: TestReceiver['answer'] = 204): Promise<TestReceiver> => {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  return receiver;
};

const publicUrl = 'https://hooks.example.com/parley';

async function refusal(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => assert.fail('was not refused'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof ApiError, String(error));
  return `${error.status} ${error.code}`;
}

const raw = (project: TestProject, body: unknown) =>
  project.owner.api.call('createWebhook', { projectId: project.id, body: body as { url: string } });

test('[WH-3] the secret is shown at creation only, kept sealed, and creation refuses unknown fields', async () => {
  const project = await service.newProject();
  const at = { projectId: project.id };
  const created = await addWebhook(project, { url: publicUrl, environment: 'PRODUCTION', description: 'Orders' });
  assert.match(created.id, /^wh_[0-9a-z]{24}$/);
  assert.match(created.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(created.secretHint, created.secret.slice(-4));
  assert.partialDeepStrictEqual(created, {
    projectId: project.id,
    environment: 'PRODUCTION',
    url: publicUrl,
    events: [],
    status: 'ENABLED',
    consecutiveFailures: 0,
    lastDeliveryAt: null,
    lastError: null,
    description: 'Orders',
    disabledAt: null,
  });
  const { secret, ...shown } = created;
  assert.deepEqual(await readWebhook(project, created.id), shown);
  assert.deepEqual(await project.owner.api.call('listWebhooks', at), [shown]);
  const patched = await project.owner.api.call('updateWebhook', { ...at, webhookId: created.id, body: {} });
  assert.ok(!('secret' in patched));
  const rows = await service.adapters.db.query(sql`select * from webhooks where id = ${created.id}`);
  assert.ok(!JSON.stringify(rows).includes(secret.slice(6)), 'the secret is not in the row');

  assert.equal(await refusal(raw(project, { url: publicUrl, colour: 'red' })), '400 SVC_UNKNOWN_FIELD');
  assert.equal(await refusal(raw(project, { url: publicUrl, secret: 'mine' })), '400 SVC_UNKNOWN_FIELD');
  assert.equal(await refusal(raw(project, {})), '400 SVC_VALIDATION_FAILED');
  assert.equal(await refusal(raw(project, { url: publicUrl, environment: 'STAGING' })), '400 SVC_VALIDATION_FAILED');
  assert.equal(
    await refusal(raw(project, { url: publicUrl, events: ['message.exploded'] })),
    '400 SVC_INVALID_EVENT_TYPE',
  );
  assert.equal(await refusal(raw(project, { url: 'https://10.0.0.1/' })), '400 SVC_INVALID_WEBHOOK_URL');
  assert.equal(
    await refusal(raw(project, { url: 'http://example.com/', environment: 'PRODUCTION' })),
    '400 SVC_INVALID_WEBHOOK_URL',
  );
  assert.equal((await addWebhook(project, { url: publicUrl })).environment, 'DEVELOPMENT');
});

test('[WH-3] a retried creation gives the same endpoint and secret', async () => {
  const project = await service.newProject();
  const input = { projectId: project.id, body: { url: publicUrl } };
  const first = await project.owner.api.request('createWebhook', input, { idempotencyKey: 'once' });
  const again = await project.owner.api.request('createWebhook', input, { idempotencyKey: 'once' });
  assert.deepEqual([first.status, again.status, again.headers.get('idempotent-replayed')], [201, 201, 'true']);
  assert.deepEqual(again.body, first.body);
  assert.equal((await project.owner.api.call('listWebhooks', { projectId: project.id })).length, 1);
});

test('[WH-3] endpoints are listed newest first, page by page, and by environment', async () => {
  const project = await service.newProject();
  const at = { projectId: project.id };
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    const environment = index % 2 === 0 ? 'DEVELOPMENT' : 'PRODUCTION';
    ids.unshift((await addWebhook(project, { url: publicUrl, environment })).id);
  }
  const first = await project.owner.api.request('listWebhooks', { ...at, query: { limit: 3 } });
  const cursor = first.headers.get('x-next-cursor') ?? '';
  const rest = await project.owner.api.request('listWebhooks', { ...at, query: { limit: 3, cursor } });
  assert.deepEqual(
    [...first.body, ...rest.body].map(({ id }) => id),
    ids,
  );
  assert.equal(rest.headers.get('x-next-cursor'), null);
  const production = await project.owner.api.call('listWebhooks', { ...at, query: { environment: 'PRODUCTION' } });
  assert.equal(production.length, 2);
  const mixed = { ...at, query: { environment: 'PRODUCTION', cursor } };
  assert.equal(await refusal(project.owner.api.call('listWebhooks', mixed)), '400 SVC_INVALID_CURSOR');
});

test('[WH-13] extra headers cannot break a line, replace ours or touch connection and body; values are never shown', async () => {
  const project = await service.newProject();
  for (const headers of [
    { 'x-a': 'one\r\nx-b: two' },
    { 'x-a': 'one\ntwo' },
    { 'x-a': 'ümlaut' },
    { 'x-a': 'x'.repeat(1025) },
    { 'x a': '1' },
    { 'x\r\na': '1' },
    { '': '1' },
    { 'x:a': '1' },
    { 'Svc-Signature': 't=1,v1=00' },
    { 'svc-anything': '1' },
    { 'webhook-id': '1' },
    { 'Content-Type': 'text/plain' },
    { 'content-length': '3' },
    { Host: 'internal' },
    { Connection: 'close' },
    { 'Transfer-Encoding': 'chunked' },
    { Upgrade: 'websocket' },
    { 'Proxy-Authorization': 'x' },
    { Expect: '100-continue' },
    { 'X-Forwarded-For': '127.0.0.1' },
    { 'x-a': '1', 'X-A': '2' },
    Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, '1'])),
  ])
    assert.equal(
      await refusal(raw(project, { url: publicUrl, headers })),
      '400 SVC_VALIDATION_FAILED',
      JSON.stringify(headers),
    );
  assert.equal(await refusal(raw(project, { url: publicUrl, headers: { 'x-a': 1 } })), '400 SVC_VALIDATION_FAILED');

  const receiver = await receive();
  const headers = { Authorization: 'Bearer receiver-token', 'X-Env': 'test' };
  const webhook = await addWebhook(project, { url: receiver.url, headers });
  assert.deepEqual(webhook.headerNames, ['authorization', 'x-env']);
  assert.ok(!JSON.stringify(webhook).includes('receiver-token'));
  const rows = await service.adapters.db.query(sql`select * from webhooks where id = ${webhook.id}`);
  assert.ok(!JSON.stringify(rows).includes('receiver-token'));
  await emit(service, project, streamEvents(1));
  assert.equal(receiver.requests[0]?.headers.authorization, 'Bearer receiver-token');
  const at = { projectId: project.id, webhookId: webhook.id };
  await project.owner.api.call('updateWebhook', { ...at, body: { headers: {} } });
  await emit(service, project, streamEvents(1));
  assert.equal(receiver.requests[1]?.headers.authorization, undefined);
});

test('[WH-14] a delivery can be sent again, with the same event id and bytes', async () => {
  const project = await service.newProject();
  const receiver = await receive();
  const webhook = await addWebhook(project, { url: receiver.url });
  await emit(service, project, streamEvents(1));
  const [first] = await readDeliveries(project, webhook.id);
  assert.ok(first);
  const at = { projectId: project.id, webhookId: webhook.id };
  const again = await project.owner.api.call('resendDelivery', { ...at, deliveryId: first.id });
  assert.partialDeepStrictEqual(again, { eventId: first.eventId, eventType: first.eventType });
  assert.notEqual(again.id, first.id);
  await settle(service);
  assert.equal(receiver.requests.length, 2);
  assert.deepEqual(receiver.requests[0]?.body, receiver.requests[1]?.body);
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers['svc-delivery-id']),
    [first.id, again.id],
  );
  assert.equal((await project.owner.api.call('getDelivery', { ...at, deliveryId: again.id })).status, 'DELIVERED');
  const missing = { ...at, deliveryId: 'whd_000000000000000000000000' };
  assert.equal(await refusal(project.owner.api.call('resendDelivery', missing)), '404 SVC_DELIVERY_NOT_FOUND');
  assert.equal(await refusal(project.owner.api.call('getDelivery', missing)), '404 SVC_DELIVERY_NOT_FOUND');
});

test('[WH-14] a time range is recovered: what was missed or failed, not what was delivered or is under way', async () => {
  const project = await service.newProject();
  const receiver = await receive();
  const webhook = await addWebhook(project, { url: receiver.url, events: ['live_stream.started'] });
  const at = { projectId: project.id, webhookId: webhook.id };
  const since = new Date(Date.now() - 60_000).toISOString();
  await emit(service, project, streamEvents(2, 'delivered_'));
  await project.owner.api.call('disableWebhook', at);
  await emit(service, project, streamEvents(3, 'missed_'));
  await emit(service, project, streamEvents(1, 'elsewhere_'), 'PRODUCTION');
  await emit(service, project, [
    { type: 'live_stream.host_left', data: { streamId: 's', identity: 'a', at: '2026-01-01T00:00:00.000Z' } },
  ]);
  assert.equal(
    await refusal(project.owner.api.call('recoverWebhook', { ...at, body: { since } })),
    '409 SVC_WEBHOOK_DISABLED',
  );
  await project.owner.api.call('enableWebhook', at);
  assert.deepEqual(await project.owner.api.call('recoverWebhook', { ...at, body: { since } }), {
    queued: 3,
    complete: true,
  });
  await settle(service);
  assert.deepEqual(await project.owner.api.call('recoverWebhook', { ...at, body: { since } }), {
    queued: 0,
    complete: true,
  });
  const streams = receiver.requests.map((request) => eventIn(request).data['streamId']).sort();
  assert.deepEqual(streams, ['delivered_0', 'delivered_1', 'missed_0', 'missed_1', 'missed_2']);
  const backwards = { since: '2026-02-01T00:00:00Z', until: '2026-01-01T00:00:00Z' };
  assert.equal(
    await refusal(project.owner.api.call('recoverWebhook', { ...at, body: backwards })),
    '400 SVC_VALIDATION_FAILED',
  );
  const nonsense = { since: 'yesterday' };
  assert.equal(
    await refusal(project.owner.api.call('recoverWebhook', { ...at, body: nonsense })),
    '400 SVC_VALIDATION_FAILED',
  );
});

test('[WH-14] a test event goes through the queue to this endpoint alone, in the form of its type', async () => {
  const project = await service.newProject();
  const [receiver, other] = [await receive(), await receive()];
  const webhook = await addWebhook(project, { url: receiver.url, events: ['live_stream.ended'] });
  await addWebhook(project, { url: other.url });
  const at = { projectId: project.id, webhookId: webhook.id };
  const delivery = await project.owner.api.call('testWebhook', { ...at, body: { eventType: 'live_stream.ended' } });
  await settle(service);
  assert.equal(other.requests.length, 0);
  const [request] = receiver.requests;
  assert.ok(request);
  assert.partialDeepStrictEqual(JSON.parse(request.body.toString()), {
    id: delivery.eventId,
    type: 'live_stream.ended',
    environment: 'DEVELOPMENT',
    data: { test: true },
  });
  await project.owner.api.call('testWebhook', at);
  const nonsense = { ...at, body: { eventType: 'x' } };
  assert.equal(await refusal(project.owner.api.call('testWebhook', nonsense)), '400 SVC_INVALID_EVENT_TYPE');
  for (const type of eventTypes) {
    const sample = sampleData(type, '2026-01-01T00:00:00.000Z');
    assert.ok(Compile(allEvents[type].data).Check(sample), `${type}: ${JSON.stringify(sample)}`);
  }
});

test('[WH-15] a developer manages development endpoints only, a viewer none; changes are audited without values', async () => {
  const project = await service.newProject();
  const [developer, viewer] = [await project.member('DEVELOPER'), await project.member('VIEWER')];
  const at = { projectId: project.id };
  const production = await addWebhook(project, { url: publicUrl, environment: 'PRODUCTION' });
  const own = await developer.api.call('createWebhook', { ...at, body: { url: publicUrl } });
  const denied = '403 SVC_PERMISSION_DENIED';
  const elsewhere = { ...at, webhookId: production.id };
  assert.equal(
    await refusal(developer.api.call('createWebhook', { ...at, body: { url: publicUrl, environment: 'PRODUCTION' } })),
    denied,
  );
  assert.equal(await refusal(developer.api.call('updateWebhook', { ...elsewhere, body: { url: publicUrl } })), denied);
  for (const name of [
    'deleteWebhook',
    'enableWebhook',
    'disableWebhook',
    'rotateWebhookSecret',
    'testWebhook',
  ] as const)
    assert.equal(await refusal(developer.api.call(name, elsewhere)), denied, name);
  assert.equal((await developer.api.call('getWebhook', elsewhere)).id, production.id);
  assert.equal(await refusal(viewer.api.call('deleteWebhook', { ...at, webhookId: own.id })), denied);
  assert.equal((await viewer.api.call('listWebhooks', at)).length, 2);

  const mine = { ...at, webhookId: own.id };
  const url = 'https://other.example.com/secret-path';
  await developer.api.call('updateWebhook', { ...mine, body: { url, events: ['live_stream.ended'] } });
  await developer.api.call('disableWebhook', mine);
  await developer.api.call('disableWebhook', mine);
  await developer.api.call('rotateWebhookSecret', mine);
  assert.equal((await developer.api.request('deleteWebhook', mine)).status, 204);
  const entries = await project.owner.api.call('listAuditLogs', { ...at, query: { resourceId: own.id } });
  assert.deepEqual(
    entries.map(({ action, environment, metadata }) => [action, environment, metadata['changed'] ?? null]),
    [
      ['webhook.deleted', 'DEVELOPMENT', null],
      ['webhook.updated', 'DEVELOPMENT', ['secret']],
      ['webhook.updated', 'DEVELOPMENT', ['status']],
      ['webhook.updated', 'DEVELOPMENT', ['url', 'events']],
      ['webhook.created', 'DEVELOPMENT', null],
    ],
  );
  assert.ok(!/secret-path|whsec_/.test(JSON.stringify(entries)));
});

test('[WH-15] an endpoint of another project does not exist', async () => {
  const [mine, theirs] = [await service.newProject(), await service.newProject()];
  const { id: webhookId } = await addWebhook(theirs, { url: publicUrl });
  const at = { projectId: mine.id, webhookId };
  for (const name of [
    'getWebhook',
    'deleteWebhook',
    'enableWebhook',
    'rotateWebhookSecret',
    'testWebhook',
    'listDeliveries',
  ] as const)
    assert.equal(await refusal(mine.owner.api.call(name, at)), '404 SVC_WEBHOOK_NOT_FOUND', name);
});

test('[WH-16] deleting cancels what was queued; disabling holds it back and takes nothing new', async () => {
  const project = await service.newProject();
  const receiver = await receive(500);
  const webhook = await addWebhook(project, { url: receiver.url });
  const at = { projectId: project.id, webhookId: webhook.id };
  await emit(service, project, streamEvents(2));
  assert.equal(receiver.requests.length, 2);
  const disabled = await project.owner.api.call('updateWebhook', { ...at, body: { enabled: false } });
  assert.equal(disabled.status, 'DISABLED');
  await emit(service, project, streamEvents(1, 'unseen_'));
  const waiting = await readDeliveries(project, webhook.id);
  assert.deepEqual(
    waiting.map(({ status, nextAttemptAt }) => [status, nextAttemptAt]),
    [
      ['RETRYING', null],
      ['RETRYING', null],
    ],
  );
  await project.owner.api.call('deleteWebhook', at);
  assert.equal(await refusal(project.owner.api.call('listDeliveries', at)), '404 SVC_WEBHOOK_NOT_FOUND');
  const rows = await service.adapters.db.query(sql`select status from deliveries where webhook_id = ${webhook.id}`);
  assert.deepEqual(rows, [{ status: 'CANCELLED' }, { status: 'CANCELLED' }]);
});

test('[WH-14] deliveries are listed newest first, page by page, and by status and event', async () => {
  const project = await service.newProject();
  const receiver = await receive((request) => (eventIn(request).data['streamId'] === 'stream_1' ? 500 : 200));
  const webhook = await addWebhook(project, { url: receiver.url });
  const at = { projectId: project.id, webhookId: webhook.id };
  for (let index = 0; index < 5; index++) await emit(service, project, streamEvents(5).slice(index, index + 1));
  const all = await readDeliveries(project, webhook.id);
  assert.equal(all.length, 5);
  const pages: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { limit: 2, ...(cursor === '' ? {} : { cursor }) };
    const page: Awaited<ReturnType<typeof project.owner.api.request<'listDeliveries'>>> =
      await project.owner.api.request('listDeliveries', { ...at, query });
    pages.push(...page.body.map(({ id }) => id));
    cursor = page.headers.get('x-next-cursor');
  }
  assert.deepEqual(
    pages,
    all.map(({ id }) => id),
  );
  const retrying = await project.owner.api.call('listDeliveries', { ...at, query: { status: 'RETRYING' } });
  assert.equal(retrying.length, 1);
  const ofEvent = await project.owner.api.call('listDeliveries', {
    ...at,
    query: { eventId: retrying[0]?.eventId ?? '' },
  });
  assert.deepEqual(ofEvent, retrying);
});

test('[WH-2] the catalogue lists every type, those of the specification first, to keys and sessions', async () => {
  const project = await service.newProject();
  const types = await project.api.call('listWebhookEventTypes');
  assert.deepEqual(await project.owner.api.call('listWebhookEventTypes'), types);
  assert.deepEqual(types.map(({ type }) => type).sort(), [...eventTypes].sort());
  assert.deepEqual(
    types.filter(({ onRequest }) => onRequest !== null).map(({ type, onRequest }) => [type, onRequest]),
    [['audit.recorded', 'audit:read']],
  );
  const cores = types.map(({ core }) => core);
  assert.equal(cores.lastIndexOf(true), cores.filter(Boolean).length - 1);
  assert.ok(types.every(({ since, description }) => /^\d+\.\d+\.\d+$/.test(since) && description.endsWith('.')));
  assert.equal(
    await refusal(project.api.call('listWebhooks', { projectId: project.id })),
    '403 SVC_WRONG_CREDENTIAL_TYPE',
  );
});

test('[WH-19] what is older than the retention is removed, event and delivery', async () => {
  const project = await service.newProject();
  const webhook = await addWebhook(project, { url: (await receive()).url });
  await emit(service, project, streamEvents(3));
  const { db } = service.adapters;
  await db.execute(sql`update deliveries set created_at = now() - interval '31 days' where webhook_id = ${webhook.id}`);
  // The id begins with the time too: the sweep looks at the oldest alone, and others before may have left thousands.
  await db.execute(sql`
    update events set created_at = now() - interval '31 days', id = overlay(id placing '000' from length('evt_') + 1)
    where project_id = ${project.id}`);
  await emit(service, project, streamEvents(1));
  // What an attempt changes at the same moment is left to the next sweep.
  await eventually(async () => {
    await service.service.webhooks.sweep();
    assert.equal((await readDeliveries(project, webhook.id)).length, 1);
  });
  const events = await db.query(sql`select id from events where project_id = ${project.id}`);
  assert.equal(events.length, 1);
});
