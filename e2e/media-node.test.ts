import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '@parley/server';
import { everyPermission, joinRoom } from '../apps/server/testkit/clients/signal-client.ts';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { type ServerProcess, startProcess } from '../apps/server/testkit/kit/process.ts';

const running: ServerProcess[] = [];
after(async () => {
  for (const server of running) {
    await server.kill();
    await rm(server.dataDir, { recursive: true, force: true });
  }
});

async function start(variables: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startProcess({ SFU_EMBEDDED: 'true', ...variables });
  running.push(server);
  return server;
}

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

test('[RUN-20] npm start brings a media node along, and a participant is offered its transport', async () => {
  const server = await start();
  const { api, room, alice } = await joinLobby(server);
  const offer = await alice.take('sub.offer');
  assert.ok((offer['description'] as { ice?: object }).ice);
  const participants = await api.call('listRoomParticipants', { id: room.id });
  assert.deepEqual(
    participants.map(({ identity }) => identity),
    ['alice'],
  );
  assert.equal(await server.kill('SIGTERM'), 0);

  const again = await start({ DATA_DIR: server.dataDir });
  await (await joinLobby(again)).alice.take('sub.offer');
});

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

test('[RUN-21] a Ctrl-C that comes twice, from the terminal and from npm, stops it cleanly', async () => {
  const server = await start();
  const ended = once(server.child, 'exit');
  server.child.kill('SIGINT');
  await sleep(20);
  server.child.kill('SIGINT');
  assert.deepEqual(await ended, [0, null]);
});

const onLinux = process.platform === 'linux' ? false : 'process tables are read from /proc';

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  test(`[RUN-21] after ${signal} no process of npm start is left`, { skip: onLinux }, async () => {
    const server = await start();
    const pids = await eventually(() => {
      const found = descendants(server.child.pid ?? 0);
      return found.length >= 2 ? found : Promise.reject(new Error('no media processes'));
    });
    await server.kill(signal);
    await eventually(() => !pids.some(isAlive));
  });
