import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type AuditEntry, auditActions } from '@parley/contract';
import { failure } from '../../../testkit/kit/failure.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { sql } from '../../core/sql.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

test('[AUD-1] the actions on a project are recorded with who, what, when and from where, and no values', async () => {
  const { owner, id, member } = await service.newProject();
  const headers = { 'user-agent': 'audit-test/1', 'x-forwarded-for': '203.0.113.7' };
  const admin = await member('ADMIN');
  await owner.api.call(
    'updateProject',
    { projectId: id, body: { name: 'Very secret name' } },
    { requestId: 'rename-1', headers },
  );
  await owner.api.call('updateAllowedOrigins', { projectId: id, body: { allowedOrigins: ['https://secret.example'] } });
  await owner.api.call('changeProjectMember', { projectId: id, userId: admin.userId, body: { role: 'VIEWER' } });
  await owner.api.call('removeProjectMember', { projectId: id, userId: admin.userId });
  const { publicId, key } = await owner.api.call('createApiKey', {
    projectId: id,
    body: { name: 'k', environment: 'PRODUCTION' },
  });
  await owner.api.call('revokeApiKey', { projectId: id, publicId });
  await owner.api.call('revokeApiKey', { projectId: id, publicId });
  await owner.api.call('archiveProject', { projectId: id });

  const entries = await owner.api.call('listAuditLogs', { projectId: id });
  assert.deepEqual(
    entries.map(({ action }) => action),
    [
      'project.archived',
      'api_key.revoked',
      'api_key.created',
      'member.removed',
      'member.role_changed',
      'project.updated',
      'project.updated',
      'member.added',
      'api_key.created',
      'project.created',
    ],
  );
  const rename = entries.find(({ requestId }) => requestId === 'rename-1');
  assert.deepEqual(
    [
      rename?.actorEmail,
      rename?.actorId,
      rename?.resourceType,
      rename?.resourceId,
      rename?.metadata,
      rename?.ipAddress,
      rename?.userAgent,
      rename?.environment,
    ],
    [owner.email, owner.userId, 'project', id, { fields: ['name'] }, '203.0.113.7', 'audit-test/1', null],
  );
  const created = entries.find(({ resourceId }) => resourceId === publicId && auditActions);
  assert.deepEqual(
    [created?.environment, created?.publicId === created?.id, created?.id.startsWith('aud_')],
    ['PRODUCTION', true, true],
  );
  const text = JSON.stringify(entries);
  for (const secret of ['Very secret name', 'secret.example', key.split('.')[1] ?? ''])
    assert.ok(!text.includes(secret), secret);
});

test('[AUD-2] no statement changes or removes an entry', async () => {
  await service.newProject();
  const { db } = service.adapters;
  for (const statement of [
    sql`update audit_entries set actor_email = 'x'`,
    sql`delete from audit_entries`,
    sql`truncate audit_entries`,
  ]) {
    await assert.rejects(db.execute(statement), /cannot be changed or removed/);
  }
});

test('[AUD-3] a failing audit write fails no request; the entry is written later, once', async () => {
  const { owner, id } = await service.newProject();
  const { db } = service.adapters;
  await db.script('alter table audit_entries rename to audit_entries_away');
  await owner.api.call('updateProject', { projectId: id, body: { name: 'Kept' } }, { requestId: 'while-away' });
  await db.script('alter table audit_entries_away rename to audit_entries');
  await service.service.audit.retryKept();
  await service.service.audit.retryKept();
  const entries = await owner.api.call('listAuditLogs', { projectId: id, query: { action: 'project.updated' } });
  assert.deepEqual(
    entries.map(({ requestId }) => requestId),
    ['while-away'],
  );
});

test('[AUD-4] listing is for owners and admins, filtered, and pages back in time', async () => {
  const { owner, id, member } = await service.newProject();
  const [admin, developer, viewer] = [await member('ADMIN'), await member('DEVELOPER'), await member('VIEWER')];
  assert.equal((await admin.api.call('listAuditLogs', { projectId: id })).length, 5);
  for (const person of [developer, viewer])
    await assert.rejects(person.api.call('listAuditLogs', { projectId: id }), failure('SVC_PERMISSION_DENIED'));
  const list = (query: { action?: string; actorId?: string; resourceId?: string; limit?: number; before?: string }) =>
    owner.api.call('listAuditLogs', { projectId: id, query });
  assert.equal((await list({ action: 'member.added' })).length, 3);
  assert.equal((await list({ resourceId: viewer.userId })).length, 1);
  assert.equal((await list({ actorId: owner.userId })).length, 5);
  assert.equal((await list({ actorId: "x' or 1=1" })).length, 0);
  for (const action of ['member.add', 'constructor', '__proto__'])
    await assert.rejects(list({ action }), failure('SVC_INVALID_ACTION_FILTER'));
  for (const limit of [0, 201]) await assert.rejects(list({ limit }), failure('SVC_VALIDATION_FAILED'));
  const [first, ...rest] = await list({});
  assert.deepEqual(await list({ before: first?.id ?? '' }), rest);
  await assert.rejects(list({ before: 'aud_nothing' }), failure('SVC_INVALID_CURSOR'));
});

const rowsMany = 1_200;

test('[AUD-9] the audit log of a range is exported as NDJSON, filtered, whole and newest first', async () => {
  const { owner, id, member } = await service.newProject();
  const developer = await member('DEVELOPER');
  const exported = (query = '', accessToken = owner.accessToken) =>
    service.fetch(`/v1/projects/${id}/audit-logs/export${query}`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
  const linesOf = async (response: Response): Promise<AuditEntry[]> =>
    (await response.text())
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));

  const recent = await exported();
  assert.deepEqual([recent.status, recent.headers.get('content-type')], [200, 'application/x-ndjson']);
  assert.deepEqual(await linesOf(recent), await owner.api.call('listAuditLogs', { projectId: id }));
  assert.equal((await linesOf(await exported('?action=member.added'))).length, 1);
  assert.equal((await linesOf(await exported(`?actorId=${developer.userId}`))).length, 0);

  // More than any page holds, many in the same millisecond.
  await service.adapters.db.execute(sql`
    insert into audit_entries (id, project_id, actor_id, actor_email, action, resource_type, resource_id, request_id,
                               ip_address, created_at)
    select 'aud_' || ${id} || n, ${id}, ${owner.userId}, 'x', 'project.updated', 'project', ${id}, 'r', '::1',
           '2025-03-01T00:00:00Z'::timestamptz + (n / 700) * interval '1 day'
    from generate_series(1, ${rowsMany}::int) n`);
  const spring = await linesOf(await exported('?from=2025-03-01T00:00:00Z&to=2025-04-01T00:00:00Z'));
  assert.deepEqual([spring.length, new Set(spring.map((entry) => entry.id)).size], [rowsMany, rowsMany]);
  const firstDay = await linesOf(await exported('?from=2025-03-01T00:00:00Z&to=2025-03-02T00:00:00Z'));
  assert.equal(firstDay.length, 699, 'from is inclusive, to exclusive');

  const codeOf = async (response: Promise<Response>): Promise<unknown> => (await (await response).json()).code;
  assert.equal(await codeOf(exported('?from=2020-01-01T00:00:00Z')), 'SVC_VALIDATION_FAILED');
  assert.equal(await codeOf(exported('?from=2025-04-01T00:00:00Z&to=2025-03-01T00:00:00Z')), 'SVC_VALIDATION_FAILED');
  assert.equal(await codeOf(exported('?action=nothing')), 'SVC_INVALID_ACTION_FILTER');
  assert.equal(await codeOf(exported('', developer.accessToken)), 'SVC_PERMISSION_DENIED');
});
