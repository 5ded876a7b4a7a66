import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '@parley/server';
import { everyPermission, joinRoom } from '../apps/server/testkit/clients/signal-client.ts';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { newDataDir, type ServerProcess, startProcess } from '../apps/server/testkit/kit/process.ts';
import { embeddedNode } from './node-process.ts';

// One data folder and one UDP port: each test starts the server anew.
let variables: Record<string, string>;
let server: ServerProcess;
before(async () => {
  variables = { ...(await embeddedNode()), DATA_DIR: await newDataDir() };
});
after(async () => {
  await server?.kill();
  await rm(variables['DATA_DIR'] ?? '', { recursive: true, force: true });
});

/** Joins `lobby` as somebody with every permission; tries until the media node has found its server. */
async function joinLobby(server: ServerProcess) {
  const { SVC_API_KEY: credential = '' } = await server.devEnv();
  const api = createApi({ baseUrl: server.url, credential });
  const rooms = await api.call('listRooms');
  const room =
    rooms.find(({ name }) => name === 'lobby') ?? (await api.call('createRoom', { body: { name: 'lobby' } }));
  const { token } = await api.call('mintRtcToken', {
    roomId: room.id,
    body: { participantIdentity: 'alice', permissions: everyPermission },
  });
  const alice = await eventually(() => joinRoom(server.url, token), { withinMs: 30_000, everyMs: 250 });
  return { api, room, alice };
}

/** Every process under this one. */
function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const pids = children === '' ? [] : children.split(' ').map(Number);
  return pids.flatMap((child) => [child, ...descendants(child)]);
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

const onLinux = process.platform === 'linux' ? false : 'process tables are read from /proc';

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  test(`[RUN-20] [RUN-21] npm start brings a media node along, which offers its transport and ends with it by ${signal}`, {
    skip: onLinux,
  }, async () => {
    server = await startProcess(variables);
    const { api, room, alice } = await joinLobby(server);
    const offer = await alice.take('sub.offer');
    assert.ok((offer['description'] as { ice?: object }).ice);
    const participants = await api.call('listRoomParticipants', { id: room.id });
    assert.deepEqual(
      participants.map(({ identity }) => identity),
      ['alice'],
    );
    const pids = descendants(server.child.pid ?? 0);
    assert.ok(pids.length >= 2, 'no media processes');
    assert.equal(await server.kill(signal), signal === 'SIGTERM' ? 0 : null);
    await eventually(() => !pids.some(isAlive));
  });

test('[RUN-21] a Ctrl-C that comes twice, from the terminal and from npm, stops it cleanly', async () => {
  server = await startProcess(variables);
  const ended = once(server.child, 'exit');
  server.child.kill('SIGINT');
  await sleep(20);
  server.child.kill('SIGINT');
  assert.deepEqual(await ended, [0, null]);
});
