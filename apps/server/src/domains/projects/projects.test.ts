import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { sql } from '../../core/sql.ts';

let service: TestService;
let second: TestService;
before(async () => {
  service = await sharedService();
  second = await startService({ beside: service });
});
after(async () => {
  await second.stop();
});

test('[PRJ-1] a key is shown once, kept as a hash and reads its own project', async () => {
  const project = await service.newProject();
  const own = await project.api.call('getOwnProject');
  assert.deepEqual(
    [own.id, own.environment, own.allowedOrigins, own.allowLocalhostOrigins],
    [project.id, 'DEVELOPMENT', [], true],
  );
  assert.match(project.apiKey, /^svk_dev_[A-Za-z0-9]{16}\.[A-Za-z0-9]{43}$/);
  const [listed] = await project.owner.api.call('listApiKeys', { projectId: project.id });
  assert.equal(listed?.prefix, project.apiKey.split('.')[0]);
  const [, secret = ''] = project.apiKey.split('.');
  assert.ok(!JSON.stringify(listed).includes(secret));
  const rows = await service.adapters.db.query<{ text: string }>(sql`select k::text as text from api_keys k`);
  assert.ok(rows.length > 0 && rows.every(({ text }) => !text.includes(secret)));
  const production = await project.newKey('PRODUCTION');
  assert.match(production, /^svk_prod_/);
  assert.equal((await service.as(production).call('getOwnProject')).environment, 'PRODUCTION');
});

test('[PRJ-9] a key ends with a checksum; one made before there was any still opens its project', async () => {
  const project = await service.newProject();
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const numberOf = (text: string): number => [...text].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
  for (const key of [project.apiKey, await project.newKey('PRODUCTION')])
    assert.equal(numberOf(key.slice(-6)), crc32(key.slice(0, -6)), key.slice(0, 9));

  const [head = ''] = project.apiKey.split('.');
  const secret = 'A'.repeat(43);
  const hash = createHash('sha256').update(secret).digest();
  const publicId = head.slice('svk_dev_'.length);
  await service.adapters.db.execute(sql`update api_keys set secret_hash = ${hash} where public_id = ${publicId}`);
  await service.as(`${head}.${secret}`).call('getOwnProject');
});

test('[PRJ-1] a revoked key stops on every process', async () => {
  const project = await service.newProject();
  const [publicId = ''] = project.apiKey.slice('svk_dev_'.length).split('.');
  const elsewhere = second.as(project.apiKey);
  await elsewhere.call('getOwnProject');
  const revoked = await project.owner.api.call('revokeApiKey', { projectId: project.id, publicId });
  assert.equal(revoked.status, 'REVOKED');
  await assert.rejects(project.api.call('getOwnProject'), failure('SVC_API_KEY_REVOKED'));
  await eventually(() => assert.rejects(elsewhere.call('getOwnProject'), failure('SVC_API_KEY_REVOKED')));
  const again = await project.owner.api.call('revokeApiKey', { projectId: project.id, publicId });
  assert.equal(again.revokedAt, revoked.revokedAt);
  await assert.rejects(
    project.owner.api.call('revokeApiKey', { projectId: project.id, publicId: 'none' }),
    failure('SVC_API_KEY_NOT_FOUND'),
  );
});

test('[PRJ-1] keys die with their project and with the membership of their maker', async () => {
  const project = await service.newProject();
  const admin = await project.member('ADMIN');
  const { key } = await admin.api.call('createApiKey', { projectId: project.id, body: { name: 'by admin' } });
  await service.as(key).call('getOwnProject');
  await project.owner.api.call('removeProjectMember', { projectId: project.id, userId: admin.userId });
  await assert.rejects(service.as(key).call('getOwnProject'), failure('SVC_INVALID_API_KEY'));
  await assert.rejects(admin.api.call('getProject', { projectId: project.id }), failure('SVC_PROJECT_NOT_FOUND'));

  const archived = await project.owner.api.call('archiveProject', { projectId: project.id });
  assert.equal(archived.status, 'ARCHIVED');
  await assert.rejects(project.api.call('getOwnProject'), failure('SVC_INVALID_API_KEY'));
  await assert.rejects(
    project.owner.api.call('updateProject', { projectId: project.id, body: { name: 'late' } }),
    failure('SVC_PROJECT_ARCHIVED'),
  );
  assert.equal(
    (await project.owner.api.call('archiveProject', { projectId: project.id })).archivedAt,
    archived.archivedAt,
  );
});

test('[PRJ-2] two owners who remove or demote each other at once leave one', async () => {
  for (let round = 0; round < 8; round++) {
    const { owner, id, member } = await service.newProject();
    const other = await member('ADMIN');
    await owner.api.call('changeProjectMember', { projectId: id, userId: other.userId, body: { role: 'OWNER' } });
    const outcomes = await Promise.allSettled([
      owner.api.call('removeProjectMember', { projectId: id, userId: other.userId }),
      second
        .as(other.accessToken)
        .call('changeProjectMember', { projectId: id, userId: owner.userId, body: { role: 'VIEWER' } }),
    ]);
    const survivors = await service.adapters.db.query(
      sql`select 1 from project_members where project_id = ${id} and role = 'OWNER'`,
    );
    assert.ok(survivors.length >= 1, `round ${round}: ${outcomes.map(({ status }) => status)}`);
  }
});

test('[PRJ-2] the last owner stays, and only owners deal with owners', async () => {
  const { owner, id, member } = await service.newProject();
  const admin = await member('ADMIN');
  const refused = (call: Promise<unknown>, code: string) => assert.rejects(call, failure(code));
  await refused(owner.api.call('removeProjectMember', { projectId: id, userId: owner.userId }), 'SVC_LAST_OWNER');
  await refused(
    owner.api.call('changeProjectMember', { projectId: id, userId: owner.userId, body: { role: 'ADMIN' } }),
    'SVC_LAST_OWNER',
  );
  await refused(
    admin.api.call('removeProjectMember', { projectId: id, userId: owner.userId }),
    'SVC_PERMISSION_DENIED',
  );
  await refused(
    admin.api.call('changeProjectMember', { projectId: id, userId: admin.userId, body: { role: 'OWNER' } }),
    'SVC_PERMISSION_DENIED',
  );
  await refused(
    admin.api.call('addProjectMember', { projectId: id, body: { email: 'boss@example.com', role: 'OWNER' } }),
    'SVC_PERMISSION_DENIED',
  );
  await refused(admin.api.call('archiveProject', { projectId: id }), 'SVC_PERMISSION_DENIED');
  await refused(
    owner.api.call('changeProjectMember', { projectId: id, userId: 'nobody', body: { role: 'ADMIN' } }),
    'SVC_MEMBER_NOT_FOUND',
  );
});

test('[PRJ-3] an address without an account is invited and joins when it registers', async () => {
  const { owner, id } = await service.newProject();
  const email = `invited-${id}@example.com`;
  const invited = await owner.api.request('addProjectMember', { projectId: id, body: { email, role: 'VIEWER' } });
  assert.deepEqual([invited.status, invited.body.status, invited.body.userId], [201, 'INVITED', null]);
  const again = await owner.api.request('addProjectMember', {
    projectId: id,
    body: { email: email.toUpperCase(), role: 'ADMIN' },
  });
  assert.deepEqual([again.status, again.body.role], [200, 'VIEWER']);
  await eventually(() => assert.ok(service.adapters.mailbox?.list().some((letter) => letter.to === email)));
  await service.as().call('register', { body: { email, password: 'correct horse' } });
  const { accessToken } = await service.as().call('login', { body: { email, password: 'correct horse' } });
  assert.equal((await service.as(accessToken).call('getProject', { projectId: id })).role, 'VIEWER');
});

test('[PRJ-4] a developer makes keys for development only', async () => {
  const { id, member } = await service.newProject();
  const developer = await member('DEVELOPER');
  const create = (environment: 'DEVELOPMENT' | 'PRODUCTION') =>
    developer.api.call('createApiKey', { projectId: id, body: { name: 'k', environment } });
  assert.match((await create('DEVELOPMENT')).key, /^svk_dev_/);
  await assert.rejects(create('PRODUCTION'), failure('SVC_PERMISSION_DENIED'));
  await assert.rejects(
    developer.api.call('revokeApiKey', { projectId: id, publicId: 'x' }),
    failure('SVC_PERMISSION_DENIED'),
  );
  const viewer = await member('VIEWER');
  await assert.rejects(viewer.api.call('listApiKeys', { projectId: id }), failure('SVC_PERMISSION_DENIED'));
});

test('[PRJ-5] lists are paged by cursor without a gap', async () => {
  const person = await service.newPerson();
  for (let index = 0; index < 7; index++) await person.api.call('createProject', { body: { name: `P${index}` } });
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await person.api.request('listProjects', {
      query: { limit: 3, ...(cursor === undefined ? {} : { cursor }) },
    });
    assert.ok(page.body.length <= 3);
    seen.push(...page.body.map(({ name }) => name));
    cursor = page.headers.get('x-next-cursor');
  }
  assert.deepEqual(seen, ['P6', 'P5', 'P4', 'P3', 'P2', 'P1', 'P0']);
  const { headers } = await person.api.request('listProjects', { query: { limit: 1 } });
  const stranger = await service.newPerson();
  const foreign = headers.get('x-next-cursor') ?? '';
  for (const cursor of [foreign, 'garbage', `${foreign}A`])
    await assert.rejects(stranger.api.call('listProjects', { query: { cursor } }), failure('SVC_INVALID_CURSOR'));
  for (const limit of [0, 201, 1.5])
    await assert.rejects(person.api.call('listProjects', { query: { limit } }), failure('SVC_VALIDATION_FAILED'));
});

test('[REQ-4] fields that are not in the schema change nothing', async () => {
  const person = await service.newPerson();
  const smuggled = {
    name: 'Mine',
    id: '01a1dd14-de65-7b05-8710-0999672eaccc',
    status: 'ARCHIVED',
    role: 'VIEWER',
    ownerId: 'x',
    createdAt: '2000-01-01T00:00:00.000Z',
  };
  const project = await person.api.call('createProject', { body: smuggled });
  assert.deepEqual(
    [project.status, project.role, project.id === smuggled.id, project.createdAt.startsWith('2000')],
    ['ACTIVE', 'OWNER', false, false],
  );
});
