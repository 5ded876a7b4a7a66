import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { CreateAlert } from '@parley/contract';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { startReceiver } from '../../../testkit/peers/receiver.ts';
import { iso } from '../../core/clock.ts';
import { withoutDeadline } from '../../core/delete-in-batches.ts';
import { createLog } from '../../core/log.ts';
import { sql } from '../../core/sql.ts';
import { listMemberEmails } from '../projects/index.ts';
import { deleteOldChanges, type StoredAlert } from './alert-store.ts';
import { createAlertMails } from './mails.ts';
import { createReadings } from './readings.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

const minuteMs = 60_000;

/** Evaluates the alerts of a project, so many minutes from now. */
const minute = ({ id: projectId }: TestProject, minutes: number, by = service): Promise<void> =>
  by.service.alerts.evaluate(withoutDeadline, { projectId, at: by.clock.now() + minutes * minuteMs });

const used = ({ id }: TestProject, messages: number) =>
  service.adapters.db.execute(sql`
    insert into usage_meters as m (project_id, environment, day, meter, value)
    values (${id}, 'DEVELOPMENT', ${iso(service.clock.now()).slice(0, 10)}, 'messages', ${messages})
    on conflict (project_id, environment, day, meter, key_id) do update set value = excluded.value`);

/** Fires as soon as it is evaluated twice, since more was used than it allows. */
async function usageAlert(project: TestProject, more: Partial<CreateAlert> = {}) {
  await used(project, 11);
  const body = {
    name: 'Messages',
    kind: 'USAGE_ABOVE',
    bound: 10,
    meter: 'messages',
    period: 'MONTH',
    ...more,
  } as const;
  return project.api.call('createAlert', { body });
}

const eventsOf = ({ id }: TestProject) =>
  service.adapters.db.query<{ type: string; data: { name: string } }>(sql`
    select type, data::json as data from events where project_id = ${id} and type like 'alert.%' order by id`);

test('[OBS-36] alerts are kept by people and API keys that may, with the defaults of their kind, and are in the audit log', async () => {
  const project = await service.newProject();
  const { id: projectId, api, owner } = project;
  const alert = await api.call('createAlert', { body: { name: 'Joins', kind: 'JOIN_SUCCESS_BELOW' } });
  assert.deepEqual(
    [alert.bound, alert.windowMinutes, alert.state, alert.webhook, alert.emails, alert.silencedUntil],
    [95, 15, 'OK', true, [], null],
  );
  const { id: alertId } = alert;
  const changed = await owner.api.call('updateProjectAlert', {
    projectId,
    alertId,
    body: { bound: 99.5, name: 'Calls' },
  });
  assert.deepEqual([changed.bound, changed.name, changed.windowMinutes], [99.5, 'Calls', 15]);
  assert.deepEqual(await api.call('getAlert', { alertId }), changed);
  assert.deepEqual(await api.call('listAlerts'), [changed]);
  assert.deepEqual(await owner.api.call('listProjectAlerts', { projectId, query: { environment: 'PRODUCTION' } }), []);
  for (const body of [
    { name: 'x', kind: 'USAGE_ABOVE', bound: 1 },
    { name: 'x', kind: 'USAGE_ABOVE', meter: 'messages' },
    { name: 'x', kind: 'NODE_OFFLINE', bound: 1 },
    { name: 'x', kind: 'JOIN_SUCCESS_BELOW', bound: 101 },
    { name: 'x', kind: 'JOIN_SUCCESS_BELOW', target: 'wh_1' },
    { name: 'x', kind: 'NODE_OFFLINE', emails: ['stranger@example.com'] },
  ] satisfies CreateAlert[])
    await assert.rejects(api.call('createAlert', { body }), failure('SVC_VALIDATION_FAILED'), JSON.stringify(body));
  const viewer = await project.member('VIEWER');
  assert.equal((await viewer.api.call('listProjectAlerts', { projectId })).length, 1);
  await assert.rejects(viewer.api.call('deleteProjectAlert', { projectId, alertId }), failure('SVC_PERMISSION_DENIED'));
  const { key } = await owner.api.call('createApiKey', { projectId, body: { name: 'rooms', scopes: ['rooms'] } });
  await assert.rejects(service.as(key).call('listAlerts'), failure('SVC_SCOPE_MISSING'));
  const until = iso(service.clock.now() + minuteMs);
  await api.call('silenceAlert', { alertId, body: { until } });
  await api.call('deleteAlert', { alertId });
  await assert.rejects(api.call('getAlert', { alertId }), failure('SVC_ALERT_NOT_FOUND'));
  const actions = (await owner.api.call('listAuditLogs', { projectId, query: { resourceId: alertId } })).map(
    ({ action }) => action,
  );
  assert.deepEqual(actions, ['alert.deleted', 'alert.silenced', 'alert.updated', 'alert.created']);
});

test('[OBS-38] an alert is told once when it begins and once when it ends, by webhook and by mail', async (t) => {
  const project = await service.newProject();
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { id: projectId, owner } = project;
  await owner.api.call('createWebhook', {
    projectId,
    body: { environment: 'DEVELOPMENT', url: receiver.url, events: ['alert.firing', 'alert.resolved'] },
  });
  const alert = await usageAlert(project, { name: 'Too <many>', emails: [owner.email.toUpperCase()] });
  assert.deepEqual(alert.emails, [owner.email]);
  for (let at = 0; at < 4; at++) await minute(project, at);
  const firing = await project.api.call('getAlert', { alertId: alert.id });
  assert.deepEqual([firing.state, firing.value], ['FIRING', 11]);
  await used(project, 1);
  for (let at = 4; at < 12; at++) await minute(project, at);
  assert.equal((await project.api.call('getAlert', { alertId: alert.id })).state, 'OK');
  await eventually(() => assert.equal(receiver.requests.length, 2));
  const types = (await eventsOf(project)).map(({ type, data }) => [type, data.name]);
  assert.deepEqual(types, [
    ['alert.firing', 'Too <many>'],
    ['alert.resolved', 'Too <many>'],
  ]);
  await service.adapters.db.execute(sql`update alert_mails set due_at = '2026-01-01' where alert_id = ${alert.id}`);
  const mails = await eventually(async () => {
    await service.service.alerts.sendMails();
    const ours = (service.adapters.mailbox?.list() ?? []).filter(({ subject }) => subject.includes('Too <many>'));
    assert.equal(ours.length, 2);
    return ours;
  });
  assert.deepEqual(mails.map(({ to, subject }) => [to, subject]).sort(), [
    [owner.email, 'Alert: Too <many> (Test)'],
    [owner.email, 'Resolved: Too <many> (Test)'],
  ]);
  assert.ok(mails.every(({ html, text }) => !html.includes('<many>') && text.includes(`/p/${projectId}/alerts`)));
  const history = await project.api.call('listAlertHistory', { alertId: alert.id });
  assert.deepEqual(
    history.map(({ state, value, notified }) => [state, value, notified]),
    [
      ['OK', 1, true],
      ['FIRING', 11, true],
    ],
  );
});

test('[OBS-38] two processes that evaluate in one minute count as one, and a change that is not committed tells nothing', async (t) => {
  const project = await service.newProject();
  const alert = await usageAlert(project);
  await Promise.all([minute(project, 0), minute(project, 0), minute(project, 0.5)]);
  assert.equal((await project.api.call('getAlert', { alertId: alert.id })).state, 'OK');
  // The process dies after the alert has changed and before the commit.
  let dies = true;
  const dying = await startService({
    beside: service,
    wrap: (adapters) => ({
      ...adapters,
      db: {
        ...adapters.db,
        transaction: (work) =>
          adapters.db.transaction(async (tx) => {
            const result = await work(tx);
            const [row] = await tx.query(sql`select from alerts where id = ${alert.id} and state = 'FIRING'`);
            if (dies && row) throw new Error('killed');
            return result;
          }),
      },
    }),
  });
  t.after(() => dying.stop());
  await minute(project, 2, dying);
  assert.deepEqual(await eventsOf(project), []);
  dies = false;
  await Promise.all([minute(project, 3, dying), minute(project, 3)]);
  await minute(project, 4);
  assert.deepEqual(
    (await eventsOf(project)).map(({ type }) => type),
    ['alert.firing'],
  );
});

test('[OBS-37] a turn that is over goes on where it ended: nobody waits behind those of others for ever', async () => {
  const project = await service.newProject();
  const { id: projectId, api } = project;
  const [first, second] = [await usageAlert(project), await usageAlert(project)];
  /** Time for one alert. */
  const turn = async (at: number): Promise<void> => {
    let looks = 0;
    const short = { isOver: () => looks++ > 0 };
    await service.service.alerts.evaluate(short, { projectId, at: service.clock.now() + at * minuteMs });
  };
  const evaluated = () =>
    Promise.all(
      [first, second].map(async ({ id }) => (await api.call('getAlert', { alertId: id })).evaluatedAt !== null),
    );
  await turn(0);
  assert.deepEqual(await evaluated(), [true, false]);
  await turn(2);
  assert.deepEqual(await evaluated(), [true, true]);
  await minute(project, 4);
});

test('[OBS-39] a silenced alert tells nothing until its time, then what still holds', async () => {
  const project = await service.newProject();
  const { api } = project;
  const { id: alertId } = await usageAlert(project);
  const now = service.clock.now();
  // The last two have the form of a time, and are none.
  for (const until of [
    iso(now - 1),
    iso(now + 400 * 24 * 60 * minuteMs),
    `${iso(now + minuteMs)}[Europe/Paris]`,
    '2026-12-31T23:59:60Z',
  ])
    await assert.rejects(api.call('silenceAlert', { alertId, body: { until } }), failure('SVC_VALIDATION_FAILED'));
  const until = iso(now + 10 * minuteMs);
  const silenced = await api.call('silenceAlert', { alertId, body: { until } });
  assert.deepEqual([silenced.state, silenced.silencedUntil], ['SILENCED', until]);
  for (const at of [1, 2, 3, 4]) await minute(project, at);
  assert.deepEqual(await eventsOf(project), []);
  assert.deepEqual(
    (await api.call('listAlerts', { query: { state: 'SILENCED' } })).map(({ id }) => id),
    [alertId],
  );
  await minute(project, 11);
  const { state, silencedUntil } = await api.call('getAlert', { alertId });
  assert.deepEqual([state, silencedUntil], ['FIRING', null]);
  assert.deepEqual(
    (await eventsOf(project)).map(({ type }) => type),
    ['alert.firing'],
  );
  assert.equal((await api.call('silenceAlert', { alertId, body: { until } })).state, 'SILENCED');
  assert.equal((await api.call('silenceAlert', { alertId, body: { until: null } })).state, 'FIRING');
  const states = (await api.call('listAlertHistory', { alertId })).map((change) => change.state);
  assert.deepEqual(states, ['FIRING', 'SILENCED', 'FIRING', 'SILENCED']);
});

test('[OBS-40] mail goes to members who are still there, again after a failure, and is given up after a day', async () => {
  const project = await service.newProject();
  const { id: projectId, owner } = project;
  const member = await project.member('DEVELOPER');
  const { id } = await usageAlert(project, { name: 'Mailed', emails: [owner.email, member.email] });
  await owner.api.call('removeProjectMember', { projectId, userId: member.userId });
  const { db } = service.adapters;
  const waiting = async () => (await db.query(sql`select from alert_mails where alert_id = ${id}`)).length;
  await minute(project, 0);
  await minute(project, 1);
  // Due in their own time, which the timers of the service have not reached.
  assert.equal(await waiting(), 2);
  const clock = createFakeClock(service.clock.now() + 10 * minuteMs);
  const tried: string[] = [];
  const send = createAlertMails({
    ...service.adapters,
    clock,
    log: createLog('silent'),
    publicUrl: service.config.publicUrl,
    memberEmails: (id) => listMemberEmails(db, id),
    mail: {
      ...service.adapters.mail,
      async send({ to, messageId }) {
        tried.push(`${to} ${messageId}`);
        throw new Error('no mail server');
      },
    },
  });
  await send();
  assert.equal(await waiting(), 1);
  clock.jump(5 * minuteMs);
  await send();
  const [first = '', second] = tried.filter((one) => one.startsWith(owner.email) || one.startsWith(member.email));
  assert.match(first, /^owner\S+ <[\w-]+@localhost>$/);
  assert.equal(second, first);
  clock.jump(25 * 60 * minuteMs);
  await send();
  assert.deepEqual([await waiting(), tried.filter((one) => one === first).length], [0, 2]);
});

test('[OBS-40] a slow mail server holds up one mail, and no other is sent twice for it', async () => {
  const project = await service.newProject();
  const member = await project.member('DEVELOPER');
  const { id } = await usageAlert(project, { name: 'Slow', emails: [project.owner.email, member.email] });
  await minute(project, 0);
  await minute(project, 1);
  const { db } = service.adapters;
  const clock = createFakeClock(service.clock.now() + 10 * minuteMs);
  const sent: string[] = [];
  const waiting = await db.query<{ id: string }>(sql`select id from alert_mails where alert_id = ${id}`);
  const ours = new Set(waiting.map((mail) => `<${mail.id}@localhost>`));
  const worker = (onSend: () => Promise<void>) =>
    createAlertMails({
      ...service.adapters,
      clock,
      log: createLog('silent'),
      publicUrl: service.config.publicUrl,
      memberEmails: (projectId) => listMemberEmails(db, projectId),
      mail: {
        ...service.adapters.mail,
        async send({ messageId = '' }) {
          if (!ours.has(messageId)) return;
          sent.push(messageId);
          await onSend();
        },
      },
    });
  const other = worker(async () => {});
  await worker(async () => {
    if (sent.length > 1) return;
    clock.jump(5 * minuteMs);
    await other();
  })();
  // The first was given up for lost, the second was never anybody else's.
  const [slow] = sent;
  assert.deepEqual([sent.filter((one) => one !== slow).length, ours.size], [1, 2]);
});

test('[OBS-41] joins are judged by their rate in the window, from ten on', async () => {
  const project = await service.newProject();
  const { id: projectId, api } = project;
  const { id: alertId } = await api.call('createAlert', { body: { name: 'Joins', kind: 'JOIN_SUCCESS_BELOW' } });
  const joins = (metric: string, value: number, at: number) =>
    service.adapters.db.execute(sql`
      insert into connection_rollups (project_id, environment, grain, at, metric, value)
      values (${projectId}, 'DEVELOPMENT', 'minute', ${iso(Math.floor(at / minuteMs) * minuteMs)}, ${metric}, ${value})`);
  const now = service.clock.now();
  await joins('failed', 1, now);
  await joins('succeeded', 4, now);
  for (const at of [0, 1, 2]) await minute(project, at);
  assert.deepEqual((await api.call('getAlert', { alertId })).state, 'OK');
  await joins('succeeded', 10, now - minuteMs);
  // Of another time: the window is 15 minutes.
  await joins('succeeded', 1_000, now - 40 * minuteMs);
  for (const at of [3, 4]) await minute(project, at);
  const { state, value, detail } = await api.call('getAlert', { alertId });
  assert.deepEqual([state, value, detail], ['FIRING', 93.3, '1 of 15 joins failed in 15 minutes']);
});

test('[OBS-41] webhooks that fail are found, of all or of one', async () => {
  const project = await service.newProject();
  const { id: projectId, api, owner } = project;
  const newWebhook = (path: string) =>
    owner.api.call('createWebhook', {
      projectId,
      body: { environment: 'DEVELOPMENT', url: `https://example.com/${path}`, events: ['webhook.disabled'] },
    });
  const [bad, good] = [await newWebhook('bad'), await newWebhook('good')];
  const { db } = service.adapters;
  await db.execute(sql`update webhooks set consecutive_failures = 7 where id = ${bad.id}`);
  const kind = 'WEBHOOK_FAILING';
  const any = await api.call('createAlert', { body: { name: 'any', kind } });
  const one = await api.call('createAlert', { body: { name: 'one', kind, target: good.id } });
  const fraction = await api.call('createAlert', { body: { name: 'fraction', kind, bound: 6.5 } });
  for (const at of [0, 1]) await minute(project, at);
  const states = await Promise.all(
    [any, one, fraction].map(async ({ id: alertId }) => {
      const { state, value, detail } = await api.call('getAlert', { alertId });
      return [state, value, detail];
    }),
  );
  assert.deepEqual(states, [
    ['FIRING', 7, bad.id],
    ['OK', 0, null],
    ['FIRING', 7, bad.id],
  ]);
});

test('[OBS-41] offline media nodes are found, of all or of one; while it cannot be known nothing is said', async () => {
  const reading = (target: string | null, offline: string[] | null) =>
    createReadings({ offlineNodes: async () => offline } as never)({ kind: 'NODE_OFFLINE', target } as StoredAlert, 0);
  const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  assert.deepEqual(await reading(null, many), { holds: true, value: 7, detail: 'a, b, c, d, e and 2 more' });
  assert.deepEqual(await reading('b', many), { holds: true, value: 1, detail: 'b' });
  assert.deepEqual(await reading('x', many), { holds: false, value: 0, detail: null });
  assert.deepEqual(await reading(null, null), { holds: null, value: null, detail: null });
});

test('[OBS-42] history is kept for a time; an archived project is not evaluated', async () => {
  const project = await service.newProject();
  const { id: projectId, owner, api } = project;
  const { id: alertId } = await usageAlert(project);
  for (const at of [0, 1]) await minute(project, at);
  const { db } = service.adapters;
  await db.execute(sql`update alert_changes set at = '2020-01-01' where alert_id = ${alertId}`);
  assert.equal((await api.call('listAlertHistory', { alertId })).length, 1);
  await deleteOldChanges(db, '2020-01-02T00:00:00.000Z', 1_000);
  assert.deepEqual(await api.call('listAlertHistory', { alertId }), []);
  await used(project, 1);
  await owner.api.call('archiveProject', { projectId });
  for (let at = 2; at < 10; at++) await minute(project, at);
  assert.equal((await owner.api.call('getProjectAlert', { projectId, alertId })).state, 'FIRING');
});
