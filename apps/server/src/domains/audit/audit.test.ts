import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { auditActions } from '@parley/contract';
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
