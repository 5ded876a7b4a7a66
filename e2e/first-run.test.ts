import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { Svc } from '@parley/server';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { freePort } from '../apps/server/testkit/kit/ports.ts';
import { type ServerProcess, startProcess } from '../apps/server/testkit/kit/process.ts';

let server: ServerProcess;
let svc: Svc;

const clientOf = async (running: ServerProcess): Promise<Svc> =>
  new Svc({ apiKey: (await running.devEnv())['SVC_API_KEY'] ?? '', baseUrl: running.url });

before(async () => {
  server = await startProcess();
  svc = await clientOf(server);
});
after(async () => {
  await server.kill();
  await rm(server.dataDir, { recursive: true, force: true });
});

const printedLink = (running: ServerProcess): URL => {
  const link = new URL(/https?:\S+\/dev\/login\?code=\S+/.exec(running.output())?.[0] ?? 'about:blank');
  return new URL(link.pathname + link.search, running.url);
};
const follow = (link: URL): Promise<Response> => fetch(link, { redirect: 'manual' });

test('[RUN-4] the printed link signs in once and leads to the playground; wrong codes are few', async () => {
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

test('[RUN-6] events arrive at the built-in receiver, and a newcomer who writes gets a reaction', async () => {
  await svc.chat.members.add('demo', { userId: 'newcomer' });
  const { id } = await svc.chat.messages.send('demo', { text: 'hello', senderId: 'newcomer' });
  await eventually(async () => {
    const { reactions } = await svc.chat.messages.get(id);
    assert.deepEqual(reactions[0]?.userIds, ['mira']);
  });
  const events = (await (await fetch(`${server.url}/dev/events.json`)).json()) as { type: string }[];
  assert.ok(events.some(({ type }) => type === 'message.created'));
  const page = await (await fetch(`${server.url}/dev/events`)).text();
  assert.match(page, /reaction\.added|message\.created/);
  const forged = await fetch(`${server.url}/dev/events`, { method: 'POST', body: '{}' });
  assert.equal(forged.status, 400, 'what is not signed is refused');
});

test('[RUN-5] a later start on another port seeds nothing twice, moves its receiver and prints a new link', async () => {
  const before = printedLink(server).search;
  await server.kill('SIGTERM');
  server = await startProcess({ DATA_DIR: server.dataDir, PORT: String(await freePort()) });
  svc = await clientOf(server);
  assert.notEqual(printedLink(server).search, before);
  assert.equal((await svc.rooms.list()).length, 2, 'the demo room and the room of the stream');
  assert.equal((await svc.liveStreams.list()).length, 1);
  const { id } = await svc.chat.messages.send('demo', { text: 'still there?', senderId: 'newcomer' });
  await eventually(async () => assert.equal((await svc.chat.messages.get(id)).reactions.length, 1));
});

test('[RUN-4] ten wrong guesses make the link void', async () => {
  const link = printedLink(server);
  for (let guess = 0; guess < 10; guess++)
    assert.equal((await follow(new URL(`/dev/login?code=0000-0000-0000-00${guess}0`, server.url))).status, 403);
  assert.equal((await follow(link)).status, 403);
});
