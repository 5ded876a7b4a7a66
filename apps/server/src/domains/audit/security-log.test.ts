import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SecurityEntry } from '@parley/contract';
import { createVisitor, mailTo, newEmail, type Visitor } from '../../../testkit/clients/visitor.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { iso } from '../../core/clock.ts';
import { sql } from '../../core/sql.ts';

const password = 'correct horse battery';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const dayMs = 24 * 60 * 60_000;
const failuresMax = 3;

const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` });

describe('the security log', () => {
  let service: TestService;
  before(async () => {
    service = await startService({
      env: { AUDIT_RETENTION_DAYS: '30', AUDIT_MAX_FAILURES_PER_HOUR: String(failuresMax) },
    });
  });
  after(() => service.stop());

  const login = (visitor: Visitor, email: string, secret = password) =>
    visitor.post('/v1/auth/login', { email, password: secret }, { 'user-agent': firefox });

  /** An account, its browser and its access token. */
  async function signedUp() {
    const [email, visitor] = [newEmail(), createVisitor(service)];
    await visitor.post('/v1/auth/register', { email, password });
    const { body } = await login(visitor, email);
    return { email, visitor, accessToken: String(body.accessToken), userId: String(body.user.id) };
  }

  const logOf = async (accessToken: string, query = ''): Promise<SecurityEntry[]> => {
    const { status, body } = await createVisitor(service).get(`/v1/auth/security-log${query}`, bearer(accessToken));
    assert.equal(status, 200);
    return body;
  };
  const shows = (accessToken: string, actions: readonly string[]) =>
    eventually(async () =>
      assert.deepEqual(
        (await logOf(accessToken)).map(({ action }) => action),
        actions,
      ),
    );

  test('[AUD-5] sign-ins, failures, password changes, resets and ended sessions are in the log of the account', async () => {
    const { email, visitor, userId, accessToken } = await signedUp();
    await login(visitor, email, 'a wrong guess');
    const { body: second } = await login(createVisitor(service), email);
    await visitor.post(
      '/v1/auth/password',
      { currentPassword: password, password: 'another horse' },
      bearer(accessToken),
    );
    await visitor.post('/v1/auth/password-reset', { email });
    const token = await eventually(() => {
      const letter = mailTo(service, email).find(({ subject }) => subject === 'Set a new password');
      return /token=([\w-]+)/.exec(letter?.text ?? '')?.[1] ?? assert.fail('no link');
    });
    const reset = await visitor.post('/v1/auth/password-reset/confirm', { token, password: 'a third horse' });
    const { body: third } = await login(visitor, email, 'a third horse');
    const api = service.as(third.accessToken);
    const sessions = await api.call('listSessions');
    const other = sessions.find(({ current }) => !current);
    await api.call('endSession', { sessionId: other?.id ?? '' });
    await visitor.post('/v1/auth/logout');
    const { body: last } = await login(visitor, email, 'a third horse');
    await service.as(last.accessToken).call('endAllSessions');
    const { body: now } = await login(visitor, email, 'a third horse');

    assert.deepEqual([reset.status, second.user.id], [200, userId]);
    await shows(now.accessToken, [
      'account.signed_in',
      'account.sessions_ended',
      'account.signed_in',
      'account.signed_out',
      'account.session_ended',
      'account.signed_in',
      'account.signed_in',
      'account.password_reset',
      'account.password_reset_requested',
      'account.password_changed',
      'account.signed_in',
      'account.sign_in_failed',
      'account.signed_in',
    ]);
    const entries = await logOf(now.accessToken);
    const first = entries.at(-1);
    assert.deepEqual([first?.userId, first?.userEmail, first?.device], [userId, email, 'Firefox on Linux']);
    assert.match(first?.place ?? '', /^Private network 10\.\d+\.\d+\.0\/24$/);
    assert.deepEqual(
      entries.filter(({ action }) => action === 'account.signed_in').map(({ metadata }) => metadata['method']),
      ['PASSWORD', 'PASSWORD', 'PASSWORD', 'RESET_LINK', 'PASSWORD', 'PASSWORD'],
    );
    const ended = entries.find(({ action }) => action === 'account.session_ended');
    assert.equal(ended?.metadata['sessionId'], other?.id);
    assert.ok(!/horse|guess|Mozilla/.test(JSON.stringify(entries)), 'no secret and no whole user agent');
  });

  test('[AUD-5] a refresh token that was used twice is in the log', async () => {
    const { email, visitor } = await signedUp();
    const stolen = visitor.cookies.get('parley_refresh') ?? '';
    assert.equal((await visitor.post('/v1/auth/refresh')).status, 200);
    visitor.cookies.set('parley_refresh', stolen);
    assert.equal((await visitor.post('/v1/auth/refresh')).status, 401);
    const { body } = await login(visitor, email);
    await shows(body.accessToken, ['account.signed_in', 'account.refresh_token_reused', 'account.signed_in']);
  });

  test('[AUD-6] failures of one account are recorded up to a number an hour, then one entry says that there are more', async () => {
    const { email, accessToken } = await signedUp();
    for (let n = 0; n < failuresMax + 3; n++) await login(createVisitor(service), email, 'a wrong guess');
    const failed = Array.from({ length: failuresMax }, () => 'account.sign_in_failed');
    await shows(accessToken, ['account.failures_muted', ...failed, 'account.signed_in']);
    await login(createVisitor(service), newEmail('unknown'), 'a wrong guess');
    const entries = await service.adapters.db.query(
      sql`select 1 as one from security_entries where user_email like 'unknown-%'`,
    );
    assert.equal(entries.length, 0, 'unknown addresses are not recorded');
  });

  test('[AUD-7] a person reads the log of their own account, filtered and paged; an operator that of all', async () => {
    const [ada, bob] = [await signedUp(), await signedUp()];
    await login(ada.visitor, ada.email, 'a wrong guess');
    await shows(ada.accessToken, ['account.sign_in_failed', 'account.signed_in']);
    await shows(bob.accessToken, ['account.signed_in']);
    const [newest, oldest] = await logOf(ada.accessToken);
    assert.deepEqual(await logOf(ada.accessToken, '?action=account.signed_in'), [oldest]);
    assert.deepEqual(await logOf(ada.accessToken, `?before=${newest?.id}&limit=1`), [oldest]);
    const api = service.as(bob.accessToken);
    await assert.rejects(
      api.call('listSecurityLog', { query: { before: newest?.id ?? '' } }),
      failure('SVC_INVALID_CURSOR'),
    );
    await assert.rejects(
      api.call('listSecurityLog', { query: { action: 'project.created' } }),
      failure('SVC_INVALID_ACTION_FILTER'),
    );
    // Outside production everybody operates the instance.
    const seen = await api.call('listInstanceSecurityLog', { query: { userId: ada.userId } });
    assert.deepEqual(seen, [newest, oldest]);
    const both = await api.call('listInstanceSecurityLog', { query: { limit: 200 } });
    assert.ok([ada, bob].every(({ email }) => both.some(({ userEmail }) => userEmail === email)));
    assert.deepEqual(await api.call('listInstanceSecurityLog', { query: { userId: 'nobody' } }), []);
  });

  test('[AUD-8] entries are kept for AUDIT_RETENTION_DAYS; younger ones cannot be removed meanwhile', async () => {
    const { owner, id } = await service.newProject();
    const { db } = service.adapters;
    const at = (days: number) => iso(Date.now() - days * dayMs);
    for (const days of [29, 31]) {
      await db.execute(sql`
        insert into audit_entries (id, project_id, actor_id, actor_email, action, resource_type, resource_id, request_id,
                                   ip_address, created_at)
        values (${`aud_${days}`}, ${id}, ${owner.userId}, 'x', 'project.updated', 'project', ${id}, 'r', '::1', ${at(days)})`);
      await db.execute(sql`
        insert into security_entries (id, user_id, user_email, action, request_id, created_at)
        values (${`aud_${days}`}, ${owner.userId}, 'x', 'account.signed_in', 'r', ${at(days)})`);
    }
    await service.service.audit.deleteExpired();
    const idsOf = (rows: readonly { id: string }[]) =>
      rows.map((row) => row.id).filter((one) => /^aud_\d\d$/.test(one));
    assert.deepEqual(idsOf(await owner.api.call('listAuditLogs', { projectId: id })), ['aud_29']);
    assert.deepEqual(idsOf(await owner.api.call('listSecurityLog')), ['aud_29']);
    for (const table of ['audit_entries', 'security_entries'])
      await assert.rejects(db.script(`delete from ${table}`), /cannot be changed or removed/);
  });
});
