/**
 * A call of Chromium pages over two media processes of a node, or over two nodes: how long a join takes until the first
 * picture of somebody in the other one, and how long until a viewer sees again after its process, or node, was killed:
 * `node tools/proof/piped-room.ts [joins] [nodes]`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createApi } from '@parley/server';
import { startService } from '../../apps/server/testkit/kit/service.ts';
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import type { NodeMessage } from '../../apps/sfu/src/node-message.ts';
import { startTestNode } from '../../apps/sfu/testkit/node.ts';
import { openPages } from '../../e2e/sdk/kit.ts';

const JOINS = Number(process.argv[2] ?? 10);
const isOverNodes = process.argv[3] === 'nodes';
const FIRST_PICTURE_MS_MAX = 350;
const BACK_MS_MAX = 5000;

const service = await startService({ env: { SIGNALING_MAX_CONNECTIONS_PER_WINDOW: '1000' } });
const [secret = ''] = service.config.sfuSecrets;
const node = await startTestNode(
  {
    CONTROL_URL: service.url,
    SFU_REGISTRATION_SECRET: secret,
    SFU_ANNOUNCED_HOST: '127.0.0.1',
    SFU_PROCESSES: isOverNodes ? '1' : '2',
    // Those who join take turns: the host is in the first process, a viewer in the second.
    SFU_ROOM_SPREAD_PERCENT: '0',
    SFU_PIPE_PORT: isOverNodes ? '0' : 'off',
  },
  true,
);
const { apiKey } = await service.newProject();
const pages = await openPages(service.url, createApi({ baseUrl: service.url, credential: apiKey }), {});
const room = await pages.newRoom();
const host = await pages.caller(room, 'host');
await host.join();
await host.setMicrophone(true);
await host.setCamera(true);
// The host's node counts as busy, so viewers go to this one.
const further = isOverNodes ? await startFurtherNode() : undefined;

const shown: number[] = [];
for (let index = 0; index < JOINS; index += 1) {
  const viewer = await pages.caller(room, `viewer-${index}`);
  await viewer.join();
  await viewer.watches('host');
  const { join = Number.NaN, firstFrame = Number.NaN } = await viewer.page.evaluate(() => window.caller.times);
  shown.push(firstFrame - join);
  await viewer.page.evaluate(() => window.caller.room.leave());
  await viewer.page.close();
}

const viewer = await pages.caller(room, 'viewer');
await viewer.join();
await viewer.watches('host');
const killedAt = performance.now();
process.kill(further?.pid ?? node.node.pids()[1] ?? 0, 'SIGKILL');
await viewer.page.waitForFunction(() => window.caller.room.state.getSnapshot().connection !== 'connected');
await viewer.watches('host');
const backMs = performance.now() - killedAt;
const isHostThere = (await host.state()) === 'connected';

await pages.close();
await node.stop();
await service.stop();
await stopShared();

const median = [...shown].sort((a, b) => a - b)[Math.floor((shown.length - 1) / 2)] ?? Number.NaN;
console.log(
  `${JOINS} joins, first picture across a pipe: p50 ${Math.round(median)} ms, wanted ${FIRST_PICTURE_MS_MAX}`,
);
console.log(
  `${isOverNodes ? 'node' : 'process'} killed: its viewer sees again after ${Math.round(backMs)} ms, wanted ${BACK_MS_MAX}`,
);
console.log(`the host, in the other one, ${isHostThere ? 'stayed' : 'did not stay'} connected`);
/** A node in a process of its own, which can be killed as a machine can. */
async function startFurtherNode(): Promise<ChildProcess> {
  const settings = { CONTROL_URL: service.url, SFU_REGISTRATION_SECRET: secret, SFU_ANNOUNCED_HOST: '127.0.0.1' };
  const ports = { SFU_NAME: 'further', SFU_INTERNAL_PORT: '0', SFU_TURN_PORT: 'off', SFU_PIPE_PORT: '0' };
  const child = fork(new URL('../../apps/sfu/src/main.ts', import.meta.url), {
    env: { PATH: process.env['PATH'], ...settings, ...ports },
  });
  for (;;) {
    const [message] = (await once(child, 'message')) as [NodeMessage];
    if (message.kind === 'failed') throw new Error(message.problem ?? 'the further node did not start');
    if (message.kind === 'registration' && message.problem === null) return child;
  }
}

process.exit(median <= FIRST_PICTURE_MS_MAX && backMs <= BACK_MS_MAX && isHostThere ? 0 : 1);
