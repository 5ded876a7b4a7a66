import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createApi, newWebhookSecret, Svc, signWebhook, speaker } from '@parley/server';
import { eventually, processWorkMs } from '../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';
import type { ServerProcess } from '../apps/server/testkit/kit/process.ts';
import { sharedDevServer } from './playground-kit.ts';
import { type PythonProgram, runPython, skipWithoutPython } from './python.ts';

describe('[EX] the Python clients run as they are written', { skip: skipWithoutPython(), timeout: 240_000 }, () => {
  let server: ServerProcess;
  let svc: Svc;
  let backend: Server;
  let env: Record<string, string>;
  const programs: PythonProgram[] = [];

  before(async () => {
    server = await sharedDevServer();
    env = await server.devEnv();
    svc = new Svc({ apiKey: env['SVC_API_KEY'] ?? '', baseUrl: server.url });
    // The application's own backend: it knows its users, and holds the key.
    backend = createServer(async ({ url = '/' }, response) => {
      const [, kind, user = ''] = url.split('/');
      const token = await (kind === 'chat' ? chatToken(user) : rtcToken(user));
      response.end(token);
    });
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    for (const program of programs) await program.end();
    backend?.close();
  });

  const chatToken = async (userId: string): Promise<string> => (await svc.chat.tokens.create({ userId })).token;
  const rtcToken = async (participantIdentity: string): Promise<string> =>
    (await svc.rooms.tokens.create('python-call', { participantIdentity, permissions: speaker() })).token;
  const tokenUrl = (path: string): string => `http://127.0.0.1:${(backend.address() as AddressInfo).port}/${path}`;

  function start(file: string, args: readonly string[], variables: Record<string, string>): PythonProgram {
    const program = runPython(file, args, variables);
    programs.push(program);
    return program;
  }

  async function prints(program: PythonProgram, expected: RegExp | string): Promise<void> {
    const isOver = (): boolean => program.child.exitCode !== null;
    await eventually(() => isOver() || program.output().match(expected) !== null, { withinMs: 60_000 }).catch(() => {});
    assert.ok(!isOver() && program.output().match(expected), `${expected}: ${program.output()}`);
  }

  test('[EX-6] webhook_receiver.py takes what is signed, also while the secret is rotated, and nothing else', async () => {
    const port = await ownPort();
    const url = `http://127.0.0.1:${port}/hooks`;
    const { accessToken } = await createApi({ baseUrl: server.url }).call('login', {
      body: { email: env['SVC_DEV_EMAIL'] ?? '', password: env['SVC_DEV_PASSWORD'] ?? '' },
    });
    const api = createApi({ baseUrl: server.url, credential: accessToken });
    const projectId = env['SVC_PROJECT_ID'] ?? '';
    const body = { url, environment: 'DEVELOPMENT' as const, events: ['message.created'] };
    const { id: webhookId, secret } = await api.call('createWebhook', { projectId, body });
    const receiver = start('webhook_receiver.py', [], { HOOK_SECRET: secret, PORT: String(port) });
    await prints(receiver, `listening on port ${port}`);

    await svc.chat.messages.send('demo', { text: 'Before the rotation', senderId: 'mira' });
    await prints(receiver, /^message\.created Before the rotation$/m);
    await api.call('rotateWebhookSecret', { projectId, webhookId, body: {} });
    await svc.chat.messages.send('demo', { text: 'During the rotation', senderId: 'mira' });
    await prints(receiver, /^message\.created During the rotation$/m);

    const event = JSON.stringify({ id: 'evt_forged', type: 'message.created', data: { message: { text: 'Forged' } } });
    const post = async (headers: Record<string, string>) =>
      (await fetch(url, { method: 'POST', body: event, headers })).status;
    assert.equal(await post(signWebhook(event, newWebhookSecret())), 400);
    assert.equal(await post(signWebhook(event, secret, { now: () => Date.now() - 301_000 })), 400);
    assert.equal(await post({}), 400);
    assert.equal(await post(signWebhook(event, secret)), 204);
    await api.call('deleteWebhook', { projectId, webhookId });
  });

  test('[EX-7] chat_client.py shows every change once and in order, across a lost connection, and sends', async () => {
    await svc.chat.conversations.create({ name: 'python-chat', members: ['ada', 'bob'] });
    const say = (text: string) => svc.chat.messages.send('python-chat', { text, senderId: 'bob' });
    await say('one');
    const proxy = await openProxy(server.port);
    const client = start('chat_client.py', ['python-chat'], {
      SVC_URL: proxy.url,
      CHAT_TOKEN_URL: tokenUrl('chat/ada'),
    });
    await prints(client, /^subscribed$/m);
    await say('two');
    await prints(client, /^2 bob: two$/m);
    proxy.cut();
    await say('three');
    client.child.stdin?.write('four\n');
    await prints(client, /^4 ada: four$/m);
    const shown = client.output().match(/^\d .*$/gm);
    assert.deepEqual(shown, ['1 bob: one', '2 bob: two', '3 bob: three', '4 ada: four']);
    await client.end();
    proxy.close();
  });

  test('[EX-8] call_client.py publishes a picture and decodes that of another, across a lost connection', async () => {
    await svc.rooms.create({ name: 'python-call' });
    const proxy = await openProxy(server.port);
    const ada = start('call_client.py', [], {
      SVC_URL: proxy.url,
      RTC_TOKEN_URL: tokenUrl('rtc/ada'),
      BRIGHTNESS: '60',
    });
    await prints(ada, /^published trk_/m);
    const bob = start('call_client.py', [], {
      SVC_URL: server.url,
      RTC_TOKEN_URL: tokenUrl('rtc/bob'),
      BRIGHTNESS: '120',
    });
    // What a codec leaves of one brightness.
    await prints(bob, /^picture of ada: 320x240, brightness (5[5-9]|6[0-5])$/m);
    await prints(ada, /^picture of bob: 320x240, brightness 1(1[5-9]|2[0-5])$/m);
    proxy.cut();
    await prints(ada, /^resumed$/m);
    const pictures = bob.output().length;
    await eventually(() => assert.ok(bob.output().length > pictures), { withinMs: 60_000 });
    for (const one of [ada, bob]) await one.end();
    proxy.close();
    await eventually(async () => assert.equal((await svc.rooms.participants('python-call')).length, 0), {
      withinMs: processWorkMs,
    });
  });

  /** A room that one publishes in by WHIP and another watches by WHEP, with a picture. */
  async function plainCall(name: string): Promise<{ sender: PythonProgram; watcher: PythonProgram }> {
    const { id } = await svc.rooms.create({ name });
    const join = async (way: 'whip' | 'whep', participantIdentity: string): Promise<PythonProgram> => {
      const { token } = await svc.rooms.tokens.create(name, { participantIdentity, permissions: speaker() });
      return start('../../e2e/plain_webrtc.py', [`${server.url}/v1/rooms/${id}/${way}`, token], {});
    };
    const sender = await join('whip', 'sends');
    await prints(sender, /^connected$/m);
    const watcher = await join('whep', 'watches');
    await prints(watcher, /^frames 30$/m);
    return { sender, watcher };
  }
  const areThere = async (name: string, identities: readonly string[]): Promise<void> =>
    assert.deepEqual((await svc.rooms.participants(name)).map(({ identity }) => identity).sort(), identities);

  test('[RTC-94] aiortc publishes by WHIP and watches by WHEP, and is gone within 15 s of its close', async () => {
    const name = 'python-plain';
    const { sender, watcher } = await plainCall(name);
    for (const { child } of [sender, watcher]) child.stdin?.end();
    await eventually(() => areThere(name, []), { withinMs: 15_000 });
  });

  test('[RTC-94] aiortc that is killed while media flows is gone within 15 s, who watches and who publishes', async () => {
    const name = 'python-killed';
    const { sender, watcher } = await plainCall(name);
    // What the look itself may take is not the node's.
    const soon = { withinMs: 16_000, everyMs: 250 };
    watcher.child.kill('SIGKILL');
    await eventually(() => areThere(name, ['sends']), soon);
    sender.child.kill('SIGKILL');
    await eventually(() => areThere(name, []), soon);
  });
});

/** A line to the service that can be cut. */
async function openProxy(target: number): Promise<{ url: string; cut(): void; close(): void }> {
  const sockets = new Set<Socket>();
  const proxy = createTcpServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut,
    close() {
      cut();
      proxy.close();
    },
  };
}
