import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { raw, sql } from '../apps/server/src/core/sql.ts';
import { startProcess } from '../apps/server/testkit/process.ts';
import { startService } from '../apps/server/testkit/service.ts';

const password = 'canary-password-8c1f';

/** Uses every kind of secret once, rightly and wrongly, and gives them back. */
async function leaveTraces(url: string): Promise<string[]> {
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const email = 'canary@example.com';
  await send('POST', '/v1/auth/register', { email, password });
  await send('POST', '/v1/auth/login', { email, password: `${password}-wrong` });
  const login = await send('POST', '/v1/auth/login', { email, password });
  const refresh = /=([^;]+);/.exec(login.headers.get('set-cookie') ?? '')?.[1] ?? 'no cookie';
  const { accessToken } = (await login.json()) as { accessToken: string };
  const session = { authorization: `Bearer ${accessToken}` };
  const project = (await (await send('POST', '/v1/projects', { name: 'Canary' }, session)).json()) as { id: string };
  const created = await send(
    'POST',
    `/v1/projects/${project.id}/api-keys`,
    { name: 'canary' },
    { ...session, 'idempotency-key': 'canary' },
  );
  const { key } = (await created.json()) as { key: string };
  await send('GET', '/v1/project', undefined, { authorization: `Bearer ${key}` });
  await send('GET', `/v1/project?token=${key}`);
  await send('GET', '/v1/project', undefined, { authorization: `Bearer ${key.slice(0, -1)}` });
  await send('POST', '/v1/auth/refresh', undefined, {
    cookie: `x=1; ${login.headers.get('set-cookie')?.split(';')[0]}`,
  });
  await send('POST', '/v1/auth/password-reset', { email });
  const secret = key.split('.')[1] ?? 'no secret';
  return [password, accessToken.split('.')[2] ?? 'no signature', refresh, secret.slice(0, -1)];
}

test('[SEC-2] secrets appear in no log line', async () => {
  const server = await startProcess({ LOG_LEVEL: 'debug' });
  try {
    const firstKey = (await server.devEnv())['SVC_API_KEY']?.split('.')[1] ?? 'no key';
    const canaries = await leaveTraces(server.url);
    await server.kill('SIGTERM');
    const log = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .join('\n');
    assert.ok(log.includes('"route":"/v1/auth/login"'), 'the log must have something to find');
    for (const canary of [...canaries, firstKey]) assert.ok(!log.includes(canary), `a log line has ${canary}`);
  } finally {
    await server.kill();
    await rm(server.dataDir, { recursive: true, force: true });
  }
});

test('[SEC-2] secrets appear in no row of the database', async () => {
  const service = await startService();
  try {
    const canaries = await leaveTraces(service.url);
    const { db } = service.adapters;
    const tables = await db.query<{ name: string }>(
      sql`select tablename as name from pg_tables where schemaname = 'public'`,
    );
    let rows = 0;
    for (const { name } of tables) {
      for (const { text } of await db.query<{ text: string }>(sql`select t::text as text from ${raw(name)} t`)) {
        rows++;
        for (const canary of canaries) assert.ok(!text.includes(canary), `${name} holds ${canary}`);
      }
    }
    assert.ok(tables.length > 5 && rows > 5);
  } finally {
    await service.stop();
  }
});
