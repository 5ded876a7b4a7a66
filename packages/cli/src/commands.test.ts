import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { allEvents, allRoutes, permissionFor, type RouteRow } from '@parley/contract';
import { Svc } from '@parley/server';
import { lockFolder } from '../../../apps/server/src/adapters/db/embedded/folder-lock.ts';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../../../apps/server/testkit/kit/people.ts';
import { ownPort } from '../../../apps/server/testkit/kit/ports.ts';
import { startService, type TestService } from '../../../apps/server/testkit/kit/service.ts';
import { startTestNode, type TestNode } from '../../../apps/sfu/testkit/node.ts';
import { parley, spawned } from '../testkit/run.ts';

let service: TestService;
let project: TestProject;
let svc: Svc;
let env: Record<string, string>;
before(async () => {
  service = await startService({ env: { OPERATOR_EMAILS: '' } });
  project = await service.newProject();
  svc = new Svc({ apiKey: project.apiKey, baseUrl: service.url });
  env = { SVC_URL: service.url, SVC_API_KEY: project.apiKey };
});
after(() => service.stop());

describe('[CLI-2] nouns and verbs', () => {
  test('every API-key route is one, and help is made from its row', async () => {
    const rows = Object.values(allRoutes as Record<string, RouteRow>);
    const { out } = await parley(['rooms']);
    for (const row of rows.filter(({ sdk }) => sdk?.startsWith('rooms.'))) assert.ok(out.includes(row.does), row.sdk);
    const help = await parley(['chat', 'messages', 'send', '--help']);
    assert.match(help.out, /^Usage: parley chat messages send <room> \[options\]/);
    assert.match(help.out, /--client-message-id/);
  });

  test('what they make is there, as a table or as JSON', async () => {
    const made = await parley(['rooms', 'create', '--name', 'from-the-shell', '--json'], env);
    assert.equal(JSON.parse(made.out).name, 'from-the-shell');
    assert.match(
      (await parley(['rooms', 'list'], env)).out,
      /^ID +NAME +STATUS +CREATED-AT\nroom_\w+ +from-the-shell +ACTIVE/,
    );
    const permissions = '{"publish":true}';
    const token = await parley(
      ['tokens', 'create', 'from-the-shell', '--participant-identity', 'ada', '--permissions', permissions, '--json'],
      env,
    );
    assert.equal(JSON.parse(token.out).permissions.publish, true);
    const data = JSON.stringify({ name: 'talk', members: ['ada'] });
    await parley(['chat', 'conversations', 'create', '--data', data], env);
    for (const text of ['one', 'two', 'three'])
      await parley(['chat', 'messages', 'send', 'talk', '--text', text, '--sender-id', 'ada'], env);
    const all = await parley(['chat', 'messages', 'list', 'talk', '--limit', '2', '--all', '--json'], env);
    assert.deepEqual(
      JSON.parse(all.out).map(({ text }: { text: string }) => text),
      ['three', 'two', 'one'],
    );
    assert.match(
      (await parley(['streams', 'create', '--title', 'Live', '--host-identity', 'ada'], env)).out,
      /"title": "Live"/,
    );
  });

  test('what is refused says why, and a bad command line prints help', async () => {
    const refused = await parley(['rooms', 'get', 'missing'], env);
    assert.equal(refused.code, 1);
    assert.match(refused.error, /^SVC_ROOM_NOT_FOUND: .* \(req_\w+\)/);
    for (const args of [
      ['rooms', 'get'],
      ['rooms', 'get', 'a', 'b'],
      ['rooms', 'create', '--nonsense'],
      ['rooms', 'sing'],
      ['rooms', 'create', '--metadata', '{x'],
    ])
      assert.equal((await parley(args, env)).code, 2, args.join(' '));
  });
});

test('[CLI-3] trigger makes every event that one call can make', async () => {
  const stop = new AbortController();
  const seen = new Set<string>();
  const reading = (async () => {
    for await (const { type } of svc.events.stream({}, { signal: stop.signal })) seen.add(type);
  })().catch(() => {});
  const { error } = await parley(['trigger', 'nothing'], env);
  const known = (/One of: (.*)\./.exec(error)?.[1] ?? '').split(', ');
  const missing = Object.keys(allEvents).filter((type) => !known.includes(type));
  // What follows from a complaint, from fifty failures, from minutes of something or from a mistake is not triggered.
  const others = /^(report\.\w+|alert\.\w+|webhook\.disabled|scheduled\.failed|data_job\.failed)$/;
  assert.deepEqual(
    missing.filter((type) => !others.test(type)),
    [],
  );
  const streamed = known.filter((type) => permissionFor(type) === undefined);
  const work = async (types: readonly string[]) => {
    for (const type of types) assert.equal((await parley(['trigger', type], env)).code, 0, type);
  };
  // The stream may open a moment after the first ones: those are triggered again. One round may take long.
  await eventually(
    async () => {
      const unseen = streamed.filter((type) => !seen.has(type));
      await work(unseen);
      assert.deepEqual(unseen, []);
    },
    { withinMs: 60_000 },
  );
  stop.abort();
  await reading;
  // What is on request is in no stream: its cause is looked for.
  await work(known.filter((type) => !streamed.includes(type)));
  const { owner, id: projectId } = project;
  const revoked = await owner.api.call('listAuditLogs', { projectId, query: { action: 'user.revoked' } });
  assert.equal(revoked.length, 1);
});

test('[DATA-10] import brings a file in, and says which line is wrong', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-cli-'));
  const path = join(folder, 'history.ndjson');
  const line = { kind: 'conversation', externalId: 'C1', name: 'imported', createdAt: '2024-01-01T00:00:00Z' };
  await writeFile(path, JSON.stringify(line));
  const { code, out, error } = await parley(['import', path], env);
  assert.deepEqual([code, out.trim()], [0, '1 lines are imported.'], error);
  assert.equal((await svc.chat.conversations.get('imported')).createdAt, '2024-01-01T00:00:00.000Z');
  await writeFile(path, `${JSON.stringify(line)}\n{`);
  const wrong = await parley(['import', path], env);
  assert.equal(wrong.code, 1);
  assert.match(wrong.error, /^Line 2: /);
  await rm(folder, { recursive: true });
});

describe('[CLI-4] status and reset', () => {
  test('status reports whether it answers, the health of its parts, and what npm start left', async () => {
    const { code, out } = await parley(['status'], env);
    assert.equal(code, 0);
    assert.match(out, /is ready\n +database +OK/);
    assert.equal((await parley(['status', '--url', 'http://127.0.0.1:9'])).code, 1);
    const folder = await mkdtemp(join(tmpdir(), 'parley-cli-'));
    await writeFile(join(folder, 'dev.env'), `export SVC_URL='${service.url}'\n`);
    assert.equal(
      (await parley(['status', '-o', 'env'], { DATA_DIR: folder })).out,
      `export SVC_URL='${service.url}'\n`,
    );
    const inUse = await parley(['reset', '--yes'], { DATA_DIR: folder });
    assert.match(inUse.error, /stop that first/);
    assert.equal((await parley(['reset'], { DATA_DIR: folder })).code, 2, 'not without --yes');
    await writeFile(join(folder, 'dev.env'), '');
    assert.match((await parley(['reset', '--yes'], { DATA_DIR: folder })).out, /^Deleted/);
    assert.match((await parley(['status', '-o', 'env'], { DATA_DIR: folder })).error, /start the service once/);
  });
});

describe('[CLI-5] doctor', () => {
  let folder: string;
  let base: Record<string, string>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-doctor-'));
    const own = async (): Promise<string> => String(await ownPort());
    const media = { SFU_UDP_PORT: await own(), SFU_INTERNAL_PORT: await own(), SFU_TURN_PORT: await own() };
    base = { PORT: await own(), ...media, DATA_DIR: folder };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const examine = async (more: Record<string, string>) => {
    const { code, out } = await parley(['doctor', '--json'], { ...base, ...more });
    const findings = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>);
    return { code, failed: findings.filter(({ status }) => status === 'fail'), findings };
  };

  test('finds nothing where nothing is wrong', async () => {
    const { code, failed, findings } = await examine({});
    assert.deepEqual([code, failed], [0, []]);
    assert.deepEqual(
      findings.map(({ check }) => check),
      ['settings', 'runtime', 'port', 'folder', 'database', 'storage', 'udp', 'relay', 'control', 'address', 'clock'],
    );
    assert.match((await parley(['doctor'], base)).out, /Nothing is in the way\./);
    assert.deepEqual(await readdir(folder), [], 'it writes nothing');
    const { code: absent } = await examine({ DATA_DIR: join(folder, 'not', 'yet') });
    assert.deepEqual([absent, await readdir(folder)], [0, []], 'a folder to come is not made');
  });

  test('finds what the media node refuses, and ports of it that are taken', async () => {
    const { code, failed } = await examine({ SFU_PUBLIC_IP: 'here' });
    assert.deepEqual([code, failed[0]?.['check']], [1, 'settings']);
    assert.match(failed[0]?.['message'] ?? '', /media node refuses.*SFU_PUBLIC_IP must be auto/);
    const taken = createTcpServer().listen(0);
    await eventually(() => assert.ok(taken.listening));
    const port = String((taken.address() as AddressInfo).port);
    const ports = {
      SFU_TURN_PORT: port,
      SFU_INTERNAL_PORT: port,
      SFU_TURN_TLS_CERT: 'none.pem',
      SFU_TURN_TLS_KEY: 'k',
    };
    const found = await examine({ ...ports, SFU_TURN_TLS_PORT: port });
    taken.close();
    assert.deepEqual(
      found.failed.map(({ check }) => check),
      ['relay', 'relay', 'control', 'relay'],
    );
    assert.match(found.failed[0]?.['message'] ?? '', new RegExp(`UDP and TCP port ${port} is in use`));
    assert.match(found.failed[0]?.['fix'] ?? '', /SFU_TURN_PORT/);
    assert.match(found.failed.at(-1)?.['message'] ?? '', /none\.pem cannot be read/);
  });

  test('says what clients are told, and warns where no other network reaches it', async () => {
    const { findings } = await examine({ SFU_PUBLIC_IP: '198.51.100.7' });
    assert.match(findings.find(({ check }) => check === 'address')?.['message'] ?? '', /told 198\.51\.100\.7/);
    const off = await examine({ SFU_TURN_PORT: 'off' });
    assert.equal(off.findings.find(({ check }) => check === 'relay')?.['status'], 'warn');
  });

  test('finds a port that is taken', async () => {
    const taken = createTcpServer().listen(0, '127.0.0.1');
    await eventually(() => assert.ok(taken.listening));
    const { port } = taken.address() as AddressInfo;
    const { code, failed } = await examine({ PORT: String(port) });
    taken.close();
    assert.deepEqual([code, failed[0]?.['check']], [1, 'port']);
    assert.match(failed[0]?.['message'] ?? '', /in use by another process/);
    assert.match(failed[0]?.['fix'] ?? '', new RegExp(`PORT=${port + 1}`));
  });

  test('finds a data folder that another process has locked', async () => {
    const lock = lockFolder(join(folder, 'db'));
    const { failed } = await examine({});
    lock.release();
    assert.deepEqual(
      failed.map(({ check }) => check),
      ['folder'],
    );
    assert.match(failed[0]?.['message'] ?? '', /locked by another Parley process/);
  });

  test('finds a database that is down, and a Redis', async () => {
    const { failed } = await examine({
      DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
      REDIS_URL: 'redis://127.0.0.1:9',
    });
    assert.deepEqual(
      failed.map(({ check }) => check),
      ['database', 'redis'],
    );
  });

  test('finds an announced address that does not lead here, and warns of loopback', async () => {
    const { failed } = await examine({ SFU_ANNOUNCED_HOST: '198.51.100.7' });
    assert.deepEqual(
      failed.map(({ check }) => check),
      ['address'],
    );
    assert.match(failed[0]?.['message'] ?? '', /198\.51\.100\.7.*no media/);
    const { findings } = await examine({ SFU_ANNOUNCED_HOST: '127.0.0.1' });
    assert.equal(findings.find(({ check }) => check === 'address')?.['status'], 'warn');
  });

  test('finds a clock that differs from the others', async () => {
    const elsewhere = createServer((_request, response) => {
      response.setHeader('date', new Date(Date.now() + 300_000).toUTCString()).end('{}');
    }).listen(0, '127.0.0.1');
    await eventually(() => assert.ok(elsewhere.listening));
    const { port } = elsewhere.address() as AddressInfo;
    const { failed } = await examine({ PUBLIC_URL: `http://127.0.0.1:${port}` });
    elsewhere.close();
    assert.deepEqual(
      failed.map(({ check }) => check),
      ['clock'],
    );
    assert.match(failed[0]?.['message'] ?? '', /(299|300|301) s behind/);
  });

  test('warns where anybody can make an account in production', async () => {
    const secret = () => randomBytes(36).toString('base64');
    const production = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'http://127.0.0.1:9',
      SECRET_KEY: secret(),
      SFU_REGISTRATION_SECRET: secret(),
    };
    const accounts = async (more: object) =>
      (await examine({ ...production, ...more })).findings.find(({ check }) => check === 'accounts');
    const open = await accounts({});
    assert.equal(open?.['status'], 'warn');
    assert.match(open?.['fix'] ?? '', /REGISTRATION=invite/);
    assert.equal((await accounts({ REGISTRATION: 'invite' }))?.['status'], 'ok');
    assert.equal((await accounts({ REGISTRATION_DOMAINS: 'example.com' }))?.['status'], 'ok');
  });

  test('advises on what is open, or on its way out, in production', async () => {
    const production = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://rtc.test',
      SECRET_KEY: 'Qd81kVz0pLw3Yt6RbNs2XuHj5Fm9Ga7c',
      SFU_REGISTRATION_SECRET: 'mP4xT8vB1nK6wZ3qL0rJ7yD5sC2hG9fE',
      SMTP_URL: 'smtps://mail.test',
    };
    const advised = async (more: Record<string, string>) => {
      const { findings } = await examine({ ...production, ...more });
      return findings.flatMap(({ check, status }) =>
        status === 'warn' && ['metrics', 'mail', 'secrets', 'folder'].includes(check ?? '') ? [check] : [],
      );
    };
    assert.deepEqual(await advised({}), ['metrics']);
    assert.deepEqual(await advised({ METRICS_TOKEN: 'scraper' }), []);
    const mail = { SMTP_URL: 'smtp://mail.test', SMTP_ALLOW_PLAINTEXT: 'true', METRICS_PORT: '9464' };
    assert.deepEqual(await advised(mail), ['mail']);
    const rotating = { SECRET_KEY_PREVIOUS: 'eH7tY2uI9oP4aS6dF1gJ3kL8zX5cV0bN', METRICS_PORT: '9464' };
    assert.deepEqual(await advised(rotating), ['secrets']);
    assert.deepEqual(await advised({ SMTP_URL: '', METRICS_PORT: '9464' }), ['mail'], 'nobody could register');
    await chmod(folder, 0o750);
    assert.deepEqual(await advised({ METRICS_PORT: '9464' }), ['folder'], 'others read it');
    await chmod(folder, 0o700);
  });

  test('finds settings that cannot be, and says which', async () => {
    const { failed } = await examine({ CHAT_MAX_TEXT_LENGHT: '5', PORT: 'http' });
    assert.deepEqual(
      failed.map(({ check }) => check),
      ['settings', 'settings'],
    );
  });
});

describe('[CLI-7] commands that are processes', () => {
  test('migrate brings a database up to date; serve and sfu refuse to start without what they need', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-cli-'));
    const migrated = await spawned(['migrate'], { DATA_DIR: folder });
    assert.equal(migrated.code, 0, migrated.error);
    assert.match(migrated.out, /is up to date\./);
    const refused = await spawned(['serve'], { DATA_DIR: folder });
    assert.equal(refused.code, 1);
    assert.match(refused.error, /^PUBLIC_URL must be set in production\.$/m);
    const node = await spawned(['sfu'], {});
    assert.equal(node.code, 1);
    assert.match(node.error, /SFU_REGISTRATION_SECRET must be set/);
    await rm(folder, { recursive: true, force: true });
  });
});

describe('[CLI-6] with a media node', () => {
  let node: TestNode;
  before(async () => {
    const [secret = ''] = service.config.sfuSecrets;
    node = await startTestNode(
      {
        CONTROL_URL: service.url,
        SFU_REGISTRATION_SECRET: secret,
        SFU_ANNOUNCED_HOST: '127.0.0.1',
        SFU_NAME: 'load-node',
      },
      true,
    );
    await eventually(async () => assert.equal((await project.owner.api.call('listServers')).length, 1));
  });
  after(() => node.stop());

  test('loadtest gives a table with latency and loss', async (context) => {
    const args = [
      'loadtest',
      '--seconds',
      '2',
      '--subscribers',
      '2',
      '--chat-senders',
      '2',
      '--packets-per-second',
      '50',
      '--message-every-ms',
      '500',
    ];
    const { code, out, error } = await spawned(args, env);
    assert.equal(code, 0, `${out}${error}`);
    for (const line of out.trim().split('\n')) context.diagnostic(line);
    assert.match(out, /^WHAT +COUNT +P50 +P95 +P99 +LOSS\n/);
    for (const what of ['join', 'video packet', 'message stored', 'message received'])
      assert.match(out, new RegExp(`^${what} +[1-9]\\d* +[\\d.]+ ms +[\\d.]+ ms +[\\d.]+ ms +[\\d.]+ %$`, 'm'));
    assert.match(error, /Entering\nMeasuring/, 'progress is printed');
    const rooms = await svc.rooms.list();
    assert.ok(!rooms.some(({ name }) => name.startsWith('loadtest')), 'it cleans up behind itself');
  });

  test('nodes drain --wait ends when the node has no rooms left, and undrain puts it back', async () => {
    const operator = { ...env, SVC_DEV_EMAIL: project.owner.email, SVC_DEV_PASSWORD: project.owner.password };
    const listed = await parley(['nodes', 'list'], operator);
    assert.match(listed.out, /load-node +default +ACTIVE/);
    const drained = await parley(['nodes', 'drain', 'load-node', '--wait'], operator);
    assert.equal(drained.code, 0, drained.error);
    assert.match(drained.out, /It can be stopped now\./);
    assert.match((await parley(['nodes', 'undrain', 'load-node'], operator)).out, /ACTIVE/);
  });
});
