import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '@parley/server';
import { examine } from '../apps/server/src/doctor/index.ts';
import { everyPermission, joinRoom } from '../apps/server/testkit/clients/signal-client.ts';
import { eventually, processWorkMs } from '../apps/server/testkit/kit/eventually.ts';
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

let starts = 0;
/** Another name each time: the row of a node that was killed is taken over only after its heartbeat timeout. */
const start = (more: Record<string, string> = {}): Promise<ServerProcess> =>
  startProcess({ ...variables, SFU_NAME: `node-${++starts}`, ...more });

/** Joins a new room, at the first attempt. */
async function joinNewRoom({ url, devEnv }: ServerProcess) {
  const { SVC_API_KEY: credential = '' } = await devEnv();
  const api = createApi({ baseUrl: url, credential });
  const room = await api.call('createRoom', { body: { name: `room-${starts}` } });
  const body = { participantIdentity: 'alice', permissions: everyPermission };
  const { token } = await api.call('mintRtcToken', { roomId: room.id, body });
  return { api, room, alice: await joinRoom(url, token) };
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

/** From the terminal, and once more from npm. */
async function pressCtrlC({ child }: ServerProcess): Promise<number | null> {
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await sleep(20);
  child.kill('SIGINT');
  const [code] = (await ended) as [number | null];
  return code;
}

const ends = {
  'a Ctrl-C that comes twice': { end: pressCtrlC, code: 0 },
  SIGKILL: { end: (running: ServerProcess) => running.kill('SIGKILL'), code: null },
};

// First: a node that is killed is believed to be there for the time of its heartbeats.
test('[RUN-21] [RUN-22] [RUN-27] a media node that cannot start keeps the server neither from being ready, which says so, nor from stopping cleanly', async () => {
  // No address of this machine (RFC 5737).
  server = await start({ SFU_BIND_ADDRESS: '192.0.2.1' });
  await assert.rejects(joinNewRoom(server), /NO_MEDIA_SERVER|MEDIA_UNAVAILABLE/);
  const { media } = (await (await fetch(`${server.url}/readyz`)).json()) as { media: Record<string, string> };
  assert.equal(media['status'], 'DOWN');
  assert.match(media['message'] ?? '', /^The media node does not run: .*UDP port \d+ cannot be opened/);
  assert.match(server.output(), /Media +NO CALLS: the node beside the server does not run: .*UDP port/);
  const statuses: string[] = [];
  for await (const { check, status } of examine({ ...variables, PORT: String(server.port) }))
    if (check === 'media') statuses.push(status);
  assert.deepEqual(statuses, ['fail']);
  assert.equal(await server.kill('SIGTERM'), 0);
});

for (const [name, { end, code }] of Object.entries(ends))
  test(`[RUN-20] [RUN-21] [RUN-22] npm start brings a media node along, which takes the first join and ends with it by ${name}`, {
    skip: onLinux,
  }, async () => {
    server = await start();
    const { api, room, alice } = await joinNewRoom(server);
    const offer = await alice.take('sub.offer');
    assert.ok((offer['description'] as { ice?: object }).ice);
    const participants = await api.call('listRoomParticipants', { id: room.id });
    assert.deepEqual(
      participants.map(({ identity }) => identity),
      ['alice'],
    );
    const pids = descendants(server.child.pid ?? 0);
    assert.ok(pids.length >= 2, 'no media processes');
    assert.equal(await end(server), code);
    await eventually(() => !pids.some(isAlive), { withinMs: processWorkMs });
  });
