import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createApi, Svc } from '@parley/server';
import { eventually, processWorkMs } from '../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';
import { newDataDir, type ServerProcess, spawnServer, startProcess } from '../apps/server/testkit/kit/process.ts';
import { failedStart, signIn } from './starts.ts';

/** What the tests ask of a process that runs. */
type Running = Pick<ServerProcess, 'url' | 'output' | 'child'>;

// One data folder from its first start on: each test goes on where the one before it stopped.
let dataDir: string;
let server: Running;
let svc: Svc;
let env: Record<string, string>;
before(async () => {
  dataDir = await newDataDir();
});
after(async () => {
  await end('SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
});

/** Ends the present process; gives its exit code. */
async function end(signal: NodeJS.Signals): Promise<number | null> {
  const { child } = server;
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, 'exit');
  child.kill(signal);
  const [code] = (await ended) as [number | null];
  return code;
}

async function startAgain(): Promise<ServerProcess> {
  const started = await startProcess({ DATA_DIR: dataDir });
  server = started;
  svc = new Svc({ apiKey: env['SVC_API_KEY'] ?? '', baseUrl: started.url });
  return started;
}

const printedLink = ({ output, url }: Running): URL => {
  const link = new URL(/https?:\S+\/dev\/login\?code=\S+/.exec(output())?.[0] ?? 'about:blank');
  return new URL(link.pathname + link.search, url);
};
const follow = (link: URL): Promise<Response> => fetch(link, { redirect: 'manual' });

test('[RUN-1] [RUN-3] the first start has written dev.env when /readyz first says yes, and spent no budget', async () => {
  const port = await ownPort();
  const url = `http://127.0.0.1:${port}`;
  server = { url, ...spawnServer({ PORT: String(port), DATA_DIR: dataDir }) };
  await eventually(async () => (await fetch(`${url}/readyz`)).status === 200, { withinMs: 60_000, everyMs: 5 });
  const text = await readFile(join(dataDir, 'dev.env'), 'utf8');
  env = Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]));
  assert.deepEqual(Object.keys(env).sort(), [
    'SFU_REGISTRATION_SECRET',
    'SVC_API_KEY',
    'SVC_DEV_EMAIL',
    'SVC_DEV_PASSWORD',
    'SVC_PROJECT_ID',
    'SVC_URL',
    'SVC_WEBHOOK_SECRET',
  ]);
  assert.ok(!text.includes('undefined'));
  assert.equal((await stat(join(dataDir, 'dev.env'))).mode & 0o777, 0o600);
  const { SVC_DEV_EMAIL: email = '', SVC_DEV_PASSWORD: password = '' } = env;
  const { body, headers } = await createApi({ baseUrl: url }).request('login', { body: { email, password } });
  assert.equal(body.user.emailVerified, true);
  assert.equal(headers.get('x-ratelimit-remaining'), '9');
  await eventually(() => assert.match(server.output(), /ready in/), { withinMs: processWorkMs });
  assert.ok(server.output().includes(env['SVC_API_KEY'] ?? 'no key'));
  assert.match(server.output(), /survives a crash of the process, not a power cut/);
  svc = new Svc({ apiKey: env['SVC_API_KEY'] ?? '', baseUrl: url });
});

test('[RUN-4] the printed link signs in once and leads to the playground', async () => {
  const link = printedLink(server);
  const first = await follow(link);
  assert.deepEqual([first.status, first.headers.get('location')], [303, '/playground/room/demo']);
  const [cookie = ''] = first.headers.getSetCookie();
  assert.match(cookie, /^parley_refresh=.*HttpOnly; SameSite=Strict/);
  const headers = { cookie: cookie.split(';')[0] ?? '', origin: server.url };
  const session = await fetch(`${server.url}/v1/auth/refresh`, { method: 'POST', headers });
  const { user } = (await session.json()) as { user: { email: string } };
  assert.equal(user.email, 'dev@localhost');

  const again = await follow(link);
  assert.equal(again.status, 403);
  assert.deepEqual(again.headers.getSetCookie(), []);
  assert.match(await again.text(), /works once/);
});

test('[RUN-5] the demo room has a conversation with everything a conversation can hold, and a stream waits', async () => {
  const room = await svc.rooms.get('demo');
  const conversation = await svc.chat.conversations.get('demo');
  assert.equal(conversation.roomId, room.id);
  // The last thing that is made.
  await eventually(async () => assert.equal((await svc.liveStreams.list()).length, 1), { withinMs: processWorkMs });
  const { messages } = await svc.chat.messages.list('demo', { includeDeleted: true });
  assert.equal(messages.length, 10);
  assert.ok(messages.some(({ edited }) => edited) && messages.some(({ deleted }) => deleted));
  assert.ok(messages.some(({ replyTo }) => replyTo !== null) && messages.some(({ reactions }) => reactions.length > 0));
  assert.deepEqual([...new Set(messages.map(({ senderId }) => senderId))].sort(), ['mira', 'tomas', 'yuki']);
  const streams = await svc.liveStreams.list();
  assert.deepEqual(
    streams.map(({ status }) => status),
    ['CREATED'],
  );
  assert.deepEqual(await svc.connections.list(), Object.assign([], { nextCursor: null }), 'nothing is invented there');
});

test('[RUN-6] the events of the demo itself are delivered at the first attempt', async () => {
  const { SVC_DEV_EMAIL: email = '', SVC_DEV_PASSWORD: password = '', SVC_PROJECT_ID: projectId = '' } = env;
  const { accessToken } = await createApi({ baseUrl: server.url }).call('login', { body: { email, password } });
  const api = createApi({ baseUrl: server.url, credential: accessToken });
  const [endpoint] = await api.call('listWebhooks', { projectId });
  await eventually(
    async () => {
      const deliveries = await api.call('listDeliveries', { projectId, webhookId: endpoint?.id ?? '' });
      assert.ok(deliveries.length >= 10);
      for (const { status, attempts, lastError } of deliveries)
        assert.deepEqual([status, attempts, lastError], ['DELIVERED', 1, null]);
    },
    { withinMs: processWorkMs },
  );
});

test('[RUN-6] events arrive at the built-in receiver, and a newcomer who writes gets a reaction', async () => {
  await svc.chat.members.add('demo', { userId: 'newcomer' });
  const { id } = await svc.chat.messages.send('demo', { text: 'hello', senderId: 'newcomer' });
  await eventually(
    async () => {
      const { reactions } = await svc.chat.messages.get(id);
      assert.deepEqual(reactions[0]?.userIds, ['mira']);
    },
    { withinMs: processWorkMs },
  );
  const events = (await (await fetch(`${server.url}/dev/events.json`)).json()) as { type: string }[];
  assert.ok(events.some(({ type }) => type === 'message.created'));
  const page = await (await fetch(`${server.url}/dev/events`)).text();
  assert.match(page, /reaction\.added|message\.created/);
  const forged = await fetch(`${server.url}/dev/events`, { method: 'POST', body: '{}' });
  assert.equal(forged.status, 400, 'what is not signed is refused');
});

test('[RUN-1] [RUN-5] a later start keeps key and account valid, seeds nothing twice and moves its receiver', async () => {
  const before = printedLink(server).search;
  assert.equal(await end('SIGTERM'), 0);
  const second = await startAgain();
  assert.equal((await second.devEnv())['SVC_API_KEY'], env['SVC_API_KEY']);
  assert.ok(!second.output().includes(env['SVC_API_KEY'] ?? ''), 'the key is masked after the first start');
  assert.equal((await svc.project.get()).id, env['SVC_PROJECT_ID']);
  assert.equal((await (await signIn(second)).call('listProjects')).length, 1);

  assert.notEqual(printedLink(second).search, before);
  assert.equal((await svc.rooms.list()).length, 2, 'the demo room and the room of the stream');
  assert.equal((await svc.liveStreams.list()).length, 1);
  const { id } = await svc.chat.messages.send('demo', { text: 'still there?', senderId: 'newcomer' });
  await eventually(async () => assert.equal((await svc.chat.messages.get(id)).reactions.length, 1), {
    withinMs: processWorkMs,
  });
});

test('[RUN-4] ten wrong guesses make the link void', async () => {
  const link = printedLink(server);
  for (let guess = 0; guess < 10; guess++)
    assert.equal((await follow(new URL(`/dev/login?code=0000-0000-0000-00${guess}0`, server.url))).status, 403);
  assert.equal((await follow(link)).status, 403);
});

test('[STO-2] a second process on the same folder refuses to start and harms nothing', async () => {
  const { code, text } = await failedStart({ PORT: String(await ownPort()), DATA_DIR: dataDir });
  assert.equal(code, 1);
  assert.match(text, /is in use by|locked|another process/i);
  assert.ok(!/\n\s+at /.test(text), text);
  assert.equal((await svc.project.get()).name, 'Demo');
});

test('[STO-2] [RUN-1] after a kill the folder is free and holds what it held; a dev.env that was lost is made anew', async () => {
  await end('SIGKILL');
  await rm(join(dataDir, 'dev.env'));
  const last = await startAgain();
  assert.equal((await svc.project.get()).name, 'Demo');
  assert.notEqual((await last.devEnv())['SVC_API_KEY'], env['SVC_API_KEY']);
  assert.equal((await (await signIn(last)).call('listProjects')).length, 2);
});
