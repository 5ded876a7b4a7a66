import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createApi } from '@parley/server';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { freePort } from '../apps/server/testkit/kit/ports.ts';
import { newDataDir, type ServerProcess, spawnServer, startProcess } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';

const running: ServerProcess[] = [];
after(async () => {
  for (const server of running) {
    await server.kill();
    await rm(server.dataDir, { recursive: true, force: true });
  }
});

async function start(variables: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startProcess(variables);
  running.push(server);
  return server;
}

/** What a start that cannot work prints, and its exit code. */
async function failedStart(variables: Record<string, string>): Promise<{ code: number | null; text: string }> {
  const { child, output } = spawnServer(variables);
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, text: output().trim() };
}

test('[RUN-1] the first start writes dev.env with a key that works, and later starts keep it valid', async () => {
  const first = await start();
  const env = await first.devEnv();
  assert.deepEqual(Object.keys(env).sort(), [
    'SFU_REGISTRATION_SECRET',
    'SVC_API_KEY',
    'SVC_DEV_EMAIL',
    'SVC_DEV_PASSWORD',
    'SVC_PROJECT_ID',
    'SVC_URL',
    'SVC_WEBHOOK_SECRET',
  ]);
  assert.equal((await stat(join(first.dataDir, 'dev.env'))).mode & 0o777, 0o600);
  assert.ok(first.output().includes(env['SVC_API_KEY'] ?? 'no key'));
  assert.equal(await first.kill('SIGTERM'), 0);

  const second = await start({ DATA_DIR: first.dataDir });
  assert.equal((await second.devEnv())['SVC_API_KEY'], env['SVC_API_KEY']);
  assert.ok(!second.output().includes(env['SVC_API_KEY'] ?? ''), 'the key is masked after the first start');
  const project = await createApi({ baseUrl: second.url, credential: env['SVC_API_KEY'] ?? '' }).call('getOwnProject');
  assert.equal(project.id, env['SVC_PROJECT_ID']);
  const { accessToken } = await createApi({ baseUrl: second.url }).call('login', {
    body: { email: env['SVC_DEV_EMAIL'] ?? '', password: env['SVC_DEV_PASSWORD'] ?? '' },
  });
  assert.equal((await createApi({ baseUrl: second.url, credential: accessToken }).call('listProjects')).length, 1);
  await second.kill();
});

test('[RUN-1] dev.env is complete when /readyz first says yes, and making it spent no budget', async () => {
  const [dataDir, port] = [await newDataDir(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const { child } = spawnServer({ PORT: String(port), DATA_DIR: dataDir });
  try {
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 200, { withinMs: 30_000, everyMs: 5 });
    const text = await readFile(join(dataDir, 'dev.env'), 'utf8');
    const devValue = (name: string) => new RegExp(`^export ${name}='(.*)'$`, 'm').exec(text)?.[1] ?? '';
    const { body, headers } = await createApi({ baseUrl: url }).request('login', {
      body: { email: devValue('SVC_DEV_EMAIL'), password: devValue('SVC_DEV_PASSWORD') },
    });
    assert.equal(body.user.emailVerified, true);
    assert.equal(headers.get('x-ratelimit-remaining'), '9');
  } finally {
    const ended = child.exitCode === null ? once(child, 'exit') : null;
    child.kill('SIGKILL');
    await ended;
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('[RUN-1] a dev.env that was lost is made anew', async () => {
  const first = await start();
  const before = await first.devEnv();
  await first.kill('SIGTERM');
  await rm(join(first.dataDir, 'dev.env'));
  const second = await start({ DATA_DIR: first.dataDir });
  const renewed = await second.devEnv();
  assert.notEqual(renewed['SVC_API_KEY'], before['SVC_API_KEY']);
  assert.equal((await (await signedIn(second)).call('listProjects')).length, 2);
  await second.kill();
});

test('[RUN-2] what stops a start is one sentence that says what to do', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  const dataDir = await newDataDir();
  try {
    const cases: [Record<string, string>, RegExp][] = [
      [
        { PORT: String(port), DATA_DIR: dataDir },
        new RegExp(`^Port ${port} is in use by another process\\. Use PORT=${port + 1} npm start\\.$`),
      ],
      [{ PORT: 'http', DATA_DIR: dataDir }, /^PORT must be a port from 1 to 65535, not "http"\.$/],
      [
        { CHAT_MAX_TEXT_LENGHT: '5', DATA_DIR: dataDir },
        /^CHAT_MAX_TEXT_LENGHT is not a setting\. Did you mean CHAT_MAX_TEXT_LENGTH\?$/,
      ],
      [
        { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATA_DIR: dataDir },
        /^The database in DATABASE_URL does not answer\./,
      ],
      [{ NODE_ENV: 'production', DATA_DIR: dataDir }, /^SECRET_KEY must be set in production\./m],
    ];
    for (const [variables, expected] of cases) {
      const { code, text } = await failedStart(variables);
      assert.equal(code, 1, text);
      assert.match(text, expected);
      assert.ok(!/\n\s+at /.test(text), `a stack is not a sentence: ${text}`);
    }
  } finally {
    taken.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('[STO-2] a second process on the same data folder refuses to start and harms nothing', async () => {
  const first = await start();
  const { SVC_API_KEY: key = '' } = await first.devEnv();
  const { code, text } = await failedStart({ PORT: '4999', DATA_DIR: first.dataDir });
  assert.equal(code, 1);
  assert.match(text, /is in use by|locked|another process/i);
  assert.ok(!/\n\s+at /.test(text), text);
  assert.equal((await createApi({ baseUrl: first.url, credential: key }).call('getOwnProject')).name, 'Demo');
  await first.kill();
  const next = await start({ DATA_DIR: first.dataDir });
  assert.equal((await createApi({ baseUrl: next.url, credential: key }).call('getOwnProject')).name, 'Demo');
  await next.kill();
});

test('[STO-1] kill -9 in the middle of writes, 20 times: nothing acknowledged is lost', {
  timeout: 600_000,
}, async () => {
  const database = process.env['PARLEY_TEST_DATABASE_URL'] === undefined ? null : await openTestDatabase();
  const variables: Record<string, string> = {
    DATA_DIR: await newDataDir(),
    ...(database?.url ? { DATABASE_URL: database.url } : {}),
  };
  const acknowledged = new Set<string>();
  try {
    for (let round = 0; round < 20; round++) {
      const server = await start(variables);
      await writeUntilKilled(server, acknowledged, round);
    }
    const server = await start(variables);
    const stored = await projectIds(server);
    const lost = [...acknowledged].filter((id) => !stored.has(id));
    assert.ok(acknowledged.size >= 200, `only ${acknowledged.size} writes were acknowledged: the test proves little`);
    assert.deepEqual(lost, []);
    await server.kill();
  } finally {
    await database?.close();
  }
});

async function signedIn(server: ServerProcess) {
  const env = await server.devEnv();
  const { accessToken } = await createApi({ baseUrl: server.url }).call('login', {
    body: { email: env['SVC_DEV_EMAIL'] ?? '', password: env['SVC_DEV_PASSWORD'] ?? '' },
  });
  return createApi({ baseUrl: server.url, credential: accessToken });
}

/** Eight writers at once; the kill comes at a moment that differs from round to round. */
async function writeUntilKilled(server: ServerProcess, acknowledged: Set<string>, round: number): Promise<void> {
  const api = await signedIn(server);
  const killAfter = 10 + ((round * 7) % 40);
  let made = 0;
  const writer = async () => {
    for (;;) {
      const { id } = await api.call('createProject', { body: { name: `Round ${round}` } });
      acknowledged.add(id);
      if (++made === killAfter) void server.kill();
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, writer));
  await server.kill();
}

async function projectIds(server: ServerProcess): Promise<Set<string>> {
  const api = await signedIn(server);
  const found = new Set<string>();
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await api.request('listProjects', {
      query: { limit: 200, ...(cursor === undefined ? {} : { cursor }) },
    });
    for (const { id } of page.body) found.add(id);
    cursor = page.headers.get('x-next-cursor');
  }
  return found;
}

test('[RUN-3] the embedded database is said not to be power-safe', async () => {
  const server = await start();
  assert.match(server.output(), /survives a crash of the process, not a power cut/);
  assert.ok(!(await readFile(join(server.dataDir, 'dev.env'), 'utf8')).includes('undefined'));
  await server.kill();
});
