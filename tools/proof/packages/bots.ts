import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Parley, speaker, withData } from '@parley/server';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import { sharedChromium } from '../../../e2e/browser.ts';
import { install, ownPorts, type Prepared, start } from './prepared.ts';

const bunVersion = '1.4.4';

/** The bots of e2e/bots from tarballs, in Bun and every Node, each with one in a worker; and one in a worker of a page. */
export async function proveBots(prepared: Prepared): Promise<void> {
  const { work, tarballs, nodes } = prepared;
  const bun = `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}`;
  const cwd = install(join(work, 'bots'), [...tarballs, `${bun}@${bunVersion}`]);
  for (const name of ['chat-bot.mjs', 'room-bot.mjs']) copyFileSync(join('e2e', 'bots', name), join(cwd, name));
  const node = nodes.at(-1)?.path ?? process.execPath;
  const main = join(cwd, 'node_modules', '@parley', 'cli', 'src', 'main.js');
  const service = await start([node, main, 'dev', '--json'], {
    cwd,
    env: { ...(await ownPorts()), LOG_LEVEL: 'warn' },
    until: /"mediaProblem".*\}\n/,
  });
  try {
    const { url } = JSON.parse(/^\{"version".*\}$/m.exec(service.printed)?.[0] ?? '{}') as { url: string };
    const [, apiKey = ''] = /SVC_API_KEY='(.+)'/.exec(readFileSync(join(cwd, '.parley', 'dev.env'), 'utf8')) ?? [];
    const parley = new Parley({ apiKey, baseUrl: url });
    const runtimes = [
      { name: `Bun ${bunVersion}`, command: [join(cwd, 'node_modules', bun, 'bin', 'bun')] },
      // Node 20 has its WebSocket behind a flag.
      ...nodes.map(({ path, version }) => ({
        name: version,
        command: version.startsWith('v20.') ? [path, '--experimental-websocket'] : [path],
      })),
    ];
    for (const { name, command } of runtimes) await proveRuntime(parley, { url, cwd, name, command });
    await proveWorkerOfPage(parley, url, join(cwd, 'node_modules', '@parley', 'client', 'dist'));
  } finally {
    await service.stop();
  }
}

let conversations = 0;

async function newConversation(parley: Parley): Promise<{ room: string; tokens: { ada: string; bob: string } }> {
  const members = ['ada', 'bob'].map((user) => `${user}-${++conversations}`);
  const { id: room } = await parley.chat.conversations.create({
    name: `bots-${conversations}`,
    members: members.map((userId) => ({ userId })),
  });
  const [ada = '', bob = ''] = await Promise.all(
    members.map(async (userId) => (await parley.chat.tokens.create({ userId })).token),
  );
  return { room, tokens: { ada, bob } };
}

async function proveRuntime(
  parley: Parley,
  { url, cwd, name, command }: { url: string; cwd: string; name: string; command: readonly string[] },
): Promise<void> {
  const [program = '', ...options] = command;
  const run = (file: string, given: object): string =>
    execFileSync(program, [...options, file, JSON.stringify({ url, ...given })], { cwd, encoding: 'utf8' }).trim();
  assert.match(run('chat-bot.mjs', await newConversation(parley)), /^bob-\d+: pong, 1 in the list$/);

  const { id } = await parley.rooms.create({ name: `bots-${name.replaceAll(' ', '-')}` });
  const mint = async (participantIdentity: string): Promise<string> =>
    (await parley.rooms.tokens.create(id, { participantIdentity, permissions: withData(speaker()) })).token;
  assert.equal(run('room-bot.mjs', { tokens: { ada: await mint('ada'), bob: await mint('bob') } }), 'bob\nhello, ada');
  console.log(`  ${name}: bots chat, one in a worker, and question each other in a room`);
}

/** Plain files, as a CDN has them. */
async function proveWorkerOfPage(parley: Parley, url: string, folder: string): Promise<void> {
  const { room, tokens } = await newConversation(parley);
  const bot = `
    import { Chat } from '/chat.js';
    const chat = new Chat({ url: '${url}', token: '${tokens.ada}' });
    await chat.connect();
    const conversation = await chat.join('${room}');
    conversation.on('message', ({ text }) => {
      if (text === 'ping') void conversation.send('pong without ' + typeof document);
    });
    postMessage('joined');`;
  const page = `<script type=module>
    const worker = new Worker('/bot.js', { type: 'module' });
    worker.onmessage = ({ data }) => { document.title = data; };
    worker.onerror = ({ message }) => { document.title = message; };</script>`;
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    response.setHeader('content-type', path.endsWith('.js') ? 'text/javascript' : 'text/html');
    if (path === '/' || path === '/bot.js') response.end(path === '/' ? page : bot);
    else response.end(path === '/favicon.ico' ? '' : readFileSync(join(folder, path)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const context = await (await sharedChromium()).newContext();
  try {
    const tab = await context.newPage();
    await tab.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
    await tab.waitForFunction('document.title !== ""');
    assert.equal(await tab.title(), 'joined');
    await parley.chat.messages.send(room, { text: 'ping', senderId: `bob-${conversations}` });
    await eventually(async () => {
      const texts: (string | null)[] = [];
      for await (const { text } of parley.chat.messages.list(room)) texts.push(text);
      assert.ok(texts.includes('pong without undefined'), texts.join());
    });
    console.log('  a worker of a page, from plain files: chats');
  } finally {
    await context.close();
    server.close();
  }
}
