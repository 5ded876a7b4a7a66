import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AuditEntry, Environment } from '@parley/contract';
import { addWebhook, emit, settle, streamEvents } from '../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { startReceiver, type TestReceiver } from '../../../testkit/peers/receiver.ts';
import { sql } from '../../core/sql.ts';

let service: TestService;
const receivers: TestReceiver[] = [];
before(async () => {
  service = await sharedService();
});
after(() => Promise.all(receivers.map((receiver) => receiver.close())));

const type = 'audit.recorded';
const publicUrl = 'https://hooks.example.com/parley';

interface Envelope {
  id: string;
  type: string;
  environment: Environment;
  data: { entry: AuditEntry };
}

/** An endpoint of the project and what arrived there. */
async function endpoint(project: TestProject, events: string[]) {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const { id } = await addWebhook(project, { url: receiver.url, events });
  const arrived = (): Envelope[] => receiver.requests.map(({ body }) => JSON.parse(body.toString()));
  return { id, at: { projectId: project.id, webhookId: id }, arrived };
}

const storedIn = (project: TestProject): Promise<Envelope[]> =>
  service.adapters.db.query(sql`
    select id, type, environment, data::json as data from events
    where project_id = ${project.id} and type = ${type} order by data::json->'entry'->>'id', environment`);

const rename = (project: TestProject, name: string): Promise<unknown> =>
  project.owner.api.call('updateProject', { projectId: project.id, body: { name } });

const entriesOf = (project: TestProject, action: string): Promise<AuditEntry[]> =>
  project.owner.api.call('listAuditLogs', { projectId: project.id, query: { action } });

test('[AUD-11] an endpoint that names audit.recorded gets every entry as the audit log shows it; one without a filter does not', async () => {
  const project = await service.newProject();
  const everything = await endpoint(project, []);
  const asking = await endpoint(project, [type]);
  await rename(project, 'Very secret name');
  await emit(service, project, streamEvents(1));
  const [created] = await entriesOf(project, 'webhook.created');
  const [updated] = await entriesOf(project, 'project.updated');
  await eventually(() =>
    assert.deepEqual(
      asking.arrived().map(({ data }) => data.entry),
      [created, updated],
    ),
  );
  assert.ok(!JSON.stringify(asking.arrived()).includes('Very secret name'));
  await eventually(() =>
    assert.deepEqual(
      everything.arrived().map((event) => event.type),
      ['live_stream.started'],
    ),
  );

  // Recovery asks the same question: nothing of it is for an endpoint without a filter.
  const range = { since: '2020-01-01T00:00:00.000Z' };
  const recovered = await project.owner.api.call('recoverWebhook', { ...everything.at, body: range });
  assert.deepEqual(recovered, { queued: 0, complete: true });
});

test('[AUD-11] an entry of one environment stays in it; one of the whole project is an event in each', async () => {
  const project = await service.newProject();
  await endpoint(project, [type]);
  await addWebhook(project, { url: publicUrl, events: [type], environment: 'PRODUCTION' });
  await rename(project, 'Other');
  await project.owner.api.call('createApiKey', {
    projectId: project.id,
    body: { name: 'k', environment: 'PRODUCTION' },
  });
  assert.deepEqual(
    (await storedIn(project)).map(({ environment, data }) => [environment, data.entry.action, data.entry.environment]),
    [
      ['DEVELOPMENT', 'webhook.created', 'DEVELOPMENT'],
      ['PRODUCTION', 'webhook.created', 'PRODUCTION'],
      ['DEVELOPMENT', 'project.updated', null],
      ['PRODUCTION', 'project.updated', null],
      ['PRODUCTION', 'api_key.created', 'PRODUCTION'],
    ],
  );
});

test('[AUD-11] an entry that was kept on disk is an event when it is written, once', async () => {
  const project = await service.newProject();
  const asking = await endpoint(project, [type]);
  const { db } = service.adapters;
  await db.script('alter table audit_entries rename to audit_entries_away');
  await rename(project, 'Kept');
  await db.script('alter table audit_entries_away rename to audit_entries');
  await service.service.audit.retryKept();
  await service.service.audit.retryKept();
  await settle(service);
  await eventually(() =>
    assert.deepEqual(
      asking.arrived().map(({ data }) => data.entry.action),
      ['webhook.created', 'project.updated'],
    ),
  );
});

test('[AUD-11] the first network of a key is an event as well', async () => {
  const project = await service.newProject();
  const asking = await endpoint(project, [type]);
  const headers = { authorization: `Bearer ${project.apiKey}`, 'x-forwarded-for': '203.0.113.7' };
  for (const path of ['/v1/rooms', '/v1/users']) assert.equal((await service.fetch(path, { headers })).status, 200);
  await eventually(async () => {
    await settle(service);
    const last = asking.arrived().at(-1)?.data.entry;
    assert.deepEqual([last?.action, last?.metadata], ['api_key.used_from_new_network', { network: '203.0.113.0/24' }]);
  });
});

test('[AUD-12] who may not read the audit log neither asks for its events nor changes an endpoint that does', async () => {
  const project = await service.newProject();
  const developer = await project.member('DEVELOPER');
  const asking = await endpoint(project, [type]);
  const { api } = developer;
  const denied = failure('SVC_PERMISSION_DENIED');
  const at = { projectId: project.id };
  await assert.rejects(api.call('createWebhook', { ...at, body: { url: publicUrl, events: [type] } }), denied);
  const own = await api.call('createWebhook', { ...at, body: { url: publicUrl } });
  const ownAt = { ...at, webhookId: own.id };
  await assert.rejects(api.call('updateWebhook', { ...ownAt, body: { events: [type] } }), denied);
  await assert.rejects(api.call('updateWebhook', { ...asking.at, body: { url: publicUrl } }), denied);
  await assert.rejects(api.call('updateWebhook', { ...asking.at, body: { events: [] } }), denied);
  await assert.rejects(api.call('rotateWebhookSecret', asking.at), denied);
  await assert.rejects(api.call('deleteWebhook', asking.at), denied);

  // Nor what is left of them once the endpoint asks for something else.
  await settle(service);
  await project.owner.api.call('disableWebhook', asking.at);
  await project.owner.api.call('enableWebhook', asking.at);
  await project.owner.api.call('updateWebhook', { ...asking.at, body: { events: [] } });
  const [delivery] = await project.owner.api.call('listDeliveries', { ...asking.at, query: { eventType: type } });
  await assert.rejects(api.call('resendDelivery', { ...asking.at, deliveryId: delivery?.id ?? '' }), denied);
  const recovered = await api.call('recoverWebhook', { ...asking.at, body: { since: '2020-01-01T00:00:00.000Z' } });
  assert.equal(recovered.queued, 0);
});

test('[AUD-12] an endpoint that no longer asks gets nothing that was queued', async () => {
  const project = await service.newProject();
  const receiver = await startReceiver(500);
  receivers.push(receiver);
  const { id: webhookId } = await addWebhook(project, { url: receiver.url, events: [type] });
  const at = { projectId: project.id, webhookId };
  await settle(service);
  await project.owner.api.call('updateWebhook', { ...at, body: { events: ['message.created'] } });
  const deliveries = await project.owner.api.call('listDeliveries', at);
  assert.deepEqual(
    deliveries.map(({ eventType, status }) => [eventType, status]),
    [[type, 'CANCELLED']],
  );
});

test('[AUD-12] the stream of events carries none of them: an API key does not read the audit log', async () => {
  const project = await service.newProject();
  await endpoint(project, [type]);
  const headers = { authorization: `Bearer ${project.apiKey}` };
  const named = await service.fetch(`/v1/events?types=message.created,${type}`, { headers });
  assert.deepEqual([named.status, (await named.json()).permission], [403, 'audit:read']);

  const leaving = new AbortController();
  const stream = await service.fetch('/v1/events', { headers, signal: leaving.signal });
  assert.equal(stream.status, 200);
  await rename(project, 'Renamed');
  await emit(service, project, streamEvents(1));
  let text = '';
  for await (const chunk of stream.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('live_stream.started')) break;
  }
  leaving.abort();
  assert.ok(!text.includes(type));
});

test('[AUD-13] no event is stored where no endpoint asks for it, and delivering one records nothing', async () => {
  const project = await service.newProject();
  await endpoint(project, []);
  await rename(project, 'Unheard');
  assert.deepEqual(await storedIn(project), []);

  const asking = await endpoint(project, [type]);
  await rename(project, 'Heard');
  await settle(service);
  await eventually(() => assert.equal(asking.arrived().length, 2));
  await settle(service);
  assert.equal((await storedIn(project)).length, 2, 'its own creation, and the name');
  await project.owner.api.call('disableWebhook', asking.at);
  assert.equal((await storedIn(project)).length, 2, 'a disabled endpoint asks for nothing');
});
