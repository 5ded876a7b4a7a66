import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiError } from '@parley/server';
import { failure } from '../../testkit/kit/failure.ts';
import { createFakeClock } from '../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../testkit/kit/service.ts';
import { sharedService } from '../../testkit/kit/shared-service.ts';
import type { Adapters } from '../core/ports.ts';
import { sql } from '../core/sql.ts';

let service: TestService;
/** Stands beside the first on the same database and shared state, as a second process would. */
let second: TestService;
before(async () => {
  service = await sharedService();
  second = await startService({ beside: service });
});
after(async () => {
  await second.stop();
});

test('[REQ-6] a budget is exact over processes, and says when it opens again', async () => {
  // A separate user: the budget is by user, and this spends all of it.
  const person = await service.newPerson();
  const { id } = await person.api.call('createProject', { body: { name: 'Budget' } });
  const apis = [person.api, second.as(person.accessToken)];
  const calls = Array.from({ length: 60 }, (_, index) =>
    apis[index % 2]
      ?.request('createApiKey', { projectId: id, body: { name: `key ${index}` } })
      .catch((error: unknown) => error),
  );
  const answers = await Promise.all(calls);
  const refused = answers.filter((answer): answer is ApiError => answer instanceof ApiError);
  assert.deepEqual([answers.length - refused.length, refused.length], [20, 40]);
  assert.equal((await person.api.call('listApiKeys', { projectId: id })).length, 20);
  for (const error of refused) {
    const { retryAfterSeconds } = error.body;
    assert.equal(error.status, 429);
    assert.ok(Number.isInteger(retryAfterSeconds) && (retryAfterSeconds ?? 0) >= 1 && (retryAfterSeconds ?? 0) <= 60);
    assert.equal(error.headers.get('retry-after'), String(retryAfterSeconds));
  }
});

test('[REQ-6] budgets without an identity go by address, whatever X-Forwarded-For a stranger sends', async () => {
  const strict = await startService({ env: { TRUST_PROXY: '' } });
  try {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      const response = await strict.fetch('/v1/auth/verify-email/resend', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.0.0.${attempt}` },
        body: '{"email":"a@example.com"}',
      });
      statuses.push(response.status);
      if (attempt === 0) assert.equal(response.headers.get('x-ratelimit-remaining'), '2');
    }
    assert.deepEqual(statuses, [202, 202, 202, 429, 429]);
  } finally {
    await strict.stop();
  }
});

test('[REQ-7] fifty parallel retries over two processes have one effect and equal answers', async () => {
  const person = await service.newPerson();
  const apis = [person.api, second.as(person.accessToken)];
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      apis[index % 2]?.request('createProject', { body: { name: 'Once' } }, { idempotencyKey: 'the key' }),
    ),
  );
  const ids = new Set(answers.map((answer) => answer?.body.id));
  assert.equal(ids.size, 1);
  assert.deepEqual(new Set(answers.map((answer) => answer?.status)), new Set([201]));
  assert.equal(answers.filter((answer) => answer?.headers.get('idempotent-replayed') === 'true').length, 49);
  assert.equal((await person.api.call('listProjects')).length, 1);
});

test('[REQ-7] another body is a mismatch, another caller another key, and a bad key is refused', async () => {
  const [ada, bob] = [await service.newPerson(), await service.newPerson()];
  const key = { idempotencyKey: 'k1' };
  const first = await ada.api.call('createProject', { body: { name: 'A' } }, key);
  await assert.rejects(
    ada.api.call('createProject', { body: { name: 'B' } }, key),
    failure('SVC_IDEMPOTENCY_MISMATCH'),
  );
  const other = await bob.api.call('createProject', { body: { name: 'A' } }, key);
  assert.notEqual(other.id, first.id);
  for (const bad of ['', 'a'.repeat(256)]) {
    await assert.rejects(
      ada.api.call('createProject', { body: { name: 'A' } }, { idempotencyKey: bad }),
      failure('SVC_INVALID_IDEMPOTENCY_KEY'),
    );
  }
});

test('[REQ-7] a replayed credential is not stored in clear, and its window is five minutes', async () => {
  const { owner, id } = await service.newProject();
  const body = { name: 'Sealed' };
  const first = await owner.api.call('createApiKey', { projectId: id, body }, { idempotencyKey: 'secret-key' });
  const again = await owner.api.call('createApiKey', { projectId: id, body }, { idempotencyKey: 'secret-key' });
  assert.equal(again.key, first.key);
  const rows = await service.adapters.db.query<{ text: string; seconds: number }>(sql`
    select k::text as text, extract(epoch from expires_at - locked_until) as seconds from idempotency_keys k`);
  const [secret = ''] = first.key.split('.').slice(1);
  assert.ok(rows.length > 0 && rows.every(({ text }) => !text.includes(secret)));
  // The lease is 30 s: the two ends are 5 min and 24 h after the same moment.
  assert.deepEqual(
    [...new Set(rows.map(({ seconds }) => Math.round(Number(seconds) + 30)))].sort((a, b) => a - b),
    [300, 86_400],
  );
});

test('[REQ-7] a refusal is replayed too; the effect of a failed request is not', async () => {
  const { owner, id } = await service.newProject();
  const call = () =>
    owner.api.call('changeProjectMember', { projectId: id, userId: owner.userId, body: { role: 'ADMIN' } });
  await assert.rejects(call(), failure('SVC_LAST_OWNER'));
  const add = (idempotencyKey: string) =>
    owner.api.call(
      'addProjectMember',
      { projectId: id, body: { email: 'x@example.com', role: 'VIEWER' } },
      { idempotencyKey },
    );
  assert.equal((await add('m1')).email, 'x@example.com');
  await owner.api.call('archiveProject', { projectId: id });
  for (const replayed of [null, 'true', 'true']) {
    const late = owner.api.call('createApiKey', { projectId: id, body: { name: 'late' } }, { idempotencyKey: 'late' });
    await assert.rejects(late, (error: ApiError) => {
      const header = error.headers.get('idempotent-replayed');
      assert.deepEqual([error.code, header], ['SVC_PROJECT_ARCHIVED', replayed]);
      return true;
    });
  }
  assert.equal((await add('m1')).email, 'x@example.com', 'what was done before is replayed');
  await assert.rejects(add('m2'), failure('SVC_PROJECT_ARCHIVED'));
});

/** Answers to Idempotency-Keys are not stored while it is on, nor is anything else about them, as after kill -9. */
function failingKeyStore() {
  let isOn = false;
  const wrap = (adapters: Adapters): Adapters => {
    const { db } = adapters;
    const execute: typeof db.execute = async (statement) => {
      if (isOn && statement.text.includes('idempotency_keys')) throw new Error('the process died here');
      return db.execute(statement);
    };
    return { ...adapters, db: { ...db, execute } };
  };
  return {
    wrap,
    set(on: boolean) {
      isOn = on;
    },
  };
}

test('[REQ-7] a message that was stored before its answer could be kept is not sent twice', async () => {
  const clock = createFakeClock();
  const death = failingKeyStore();
  const own = await startService({ clock, wrap: death.wrap });
  const { api } = await own.newProject();
  const { id: room } = await api.call('createConversation', { body: { name: 'once', members: ['alice'] } });
  const file = { filename: 'a.txt', mimeType: 'text/plain', size: 1, uploaderId: 'alice' };
  const { attachment, uploadUrl, headers } = await api.call('requestAttachment', { room, body: file });
  const { pathname, search } = new URL(uploadUrl);
  assert.equal((await own.fetch(pathname + search, { method: 'PUT', headers, body: 'x' })).status, 204);
  await api.call('completeAttachment', { attachmentId: attachment.id });
  const body = { text: 'once', senderId: 'alice', attachmentId: attachment.id };
  const send = () => api.call('sendMessage', { room, body }, { idempotencyKey: 'k' });
  const sent = async () => (await api.call('listMessages', { room })).messages;

  death.set(true);
  await assert.rejects(send());
  death.set(false);
  const [stored, ...others] = await sent();
  assert.deepEqual([stored?.clientMessageId, others], [null, []]);
  // Its lease has expired: another process takes its place.
  clock.jump(31_000);
  assert.deepEqual([(await send()).id, (await sent()).length], [stored?.id, 1]);
  assert.equal((await send()).id, stored?.id);
  // A day later the key is free for another message.
  clock.jump(24 * 3_600_000);
  const later = await api.call('sendMessage', { room, body: { text: 'once' } }, { idempotencyKey: 'k' });
  assert.deepEqual([later.id === stored?.id, (await sent()).length], [false, 2]);
  await own.stop();
});
