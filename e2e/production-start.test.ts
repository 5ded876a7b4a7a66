import assert from 'node:assert/strict';
import { chmod, rm } from 'node:fs/promises';
import { test } from 'node:test';
import { createApi, isSvcError } from '@parley/server';
import { eventually, processWorkMs } from '../apps/server/testkit/kit/eventually.ts';
import { newDataDir, type ServerProcess, startProcess } from '../apps/server/testkit/kit/process.ts';

interface Line {
  about?: string;
  link?: string;
  msg: string;
}

/** What the process logged, until it said that it is ready. */
const logged = (server: ServerProcess): Promise<Line[]> =>
  eventually(
    () => {
      const lines = [...server.output().matchAll(/^\{.*\}$/gm)].map(([line]) => JSON.parse(line) as Line);
      assert.ok(lines.some(({ msg }) => msg === 'ready'));
      return lines;
    },
    { withinMs: processWorkMs },
  );

test('[RUN-25] [AUTH-37] production starts with PUBLIC_URL alone, says what it stands on, and prints the link of its first account', async () => {
  const DATA_DIR = await newDataDir();
  await chmod(DATA_DIR, 0o755);
  const start = () => startProcess({ NODE_ENV: 'production', PUBLIC_URL: 'https://calls.example.com', DATA_DIR });
  const killed = await start();
  const before = await logged(killed);
  assert.deepEqual(
    before.flatMap(({ about }) => about ?? []),
    ['database', 'redis', 'files', 'secrets', 'tls', 'mail', 'folder'],
  );
  await killed.kill('SIGKILL');

  const server = await start();
  try {
    const [old, token] = [before, await logged(server)].map((lines) => {
      const [link = '', ...more] = lines.flatMap((line) => line.link ?? []);
      assert.deepEqual(more, []);
      assert.ok(link.startsWith('https://calls.example.com/first-account?token='));
      return new URL(link).searchParams.get('token') ?? '';
    });
    const api = createApi({ baseUrl: server.url });
    const make = (given = '') =>
      api.call('createFirstAccount', {
        body: { token: given, email: 'owner@example.com', password: 'correct horse battery' },
      });
    await assert.rejects(make(old), (error) => isSvcError(error) && error.code === 'SVC_INVALID_TOKEN_LINK');
    assert.equal((await make(token)).user.isOperator, true);
    assert.equal(await server.kill('SIGTERM'), 0);
  } finally {
    await server.kill();
    await rm(DATA_DIR, { recursive: true, force: true });
  }
});
