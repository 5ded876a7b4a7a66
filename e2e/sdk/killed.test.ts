import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Room } from '@parley/contract';
import { createApi } from '@parley/server';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { type ServerProcess, startProcess } from '../../apps/server/testkit/kit/process.ts';
import { skipWithoutBrowser } from '../browser.ts';
import { embeddedNode } from '../node-process.ts';
import { type CallPage, openPages, type Pages, plainSound } from './kit.ts';

const skip = skipWithoutBrowser();
let server: ServerProcess;
let pages: Pages;
let room: Room;
let variables: Record<string, string>;

before(async () => {
  if (skip) return;
  variables = { ...(await embeddedNode()), SFU_ANNOUNCED_HOST: '127.0.0.1' };
  server = await startProcess(variables);
  const { SVC_API_KEY: credential = '' } = await server.devEnv();
  const api = createApi({ baseUrl: server.url, credential });
  pages = await openPages(server.url, api);
  room = await pages.newRoom();
});
after(async () => {
  if (skip) return;
  await pages.close();
  await server.kill();
  await rm(server.dataDir, { recursive: true, force: true });
  assert.deepEqual(pages.problems, [], 'no page had an uncaught error or rejection');
});

const soon = (check: () => Promise<void>): Promise<void> => eventually(check, { withinMs: 90_000 });

/** Connected, with one tile for each of the other's tracks and a picture that moves. */
async function sees(who: CallPage, tiles: readonly [string, ...string[]]): Promise<void> {
  const log = async () => (await who.log()).join('\n');
  await soon(async () => assert.equal(await who.state(), 'connected', await log()));
  await soon(async () => assert.deepEqual(await who.tiles(), tiles, await log()));
  await who.watches(tiles[0].split(' ')[0] ?? '');
}

test('[SDK-32] server and media node are killed and started again: the call goes on, without a ghost', {
  skip,
  timeout: 240_000,
}, async () => {
  const [ada, bob] = [await pages.caller(room, 'ada'), await pages.caller(room, 'bob')];
  for (const one of [ada, bob]) {
    // The media node of a server that has just started may not have found it yet.
    await eventually(() => one.join(), { withinMs: 30_000, everyMs: 250 });
    await one.setCamera(true);
  }
  await ada.setMicrophone(true, plainSound);
  await sees(ada, ['bob CAMERA']);
  await sees(bob, ['ada CAMERA', 'ada MICROPHONE']);

  await server.kill('SIGKILL');
  for (const one of [ada, bob]) await soon(async () => assert.equal(await one.state(), 'reconnecting'));
  server = await startProcess({ ...variables, PORT: String(server.port), DATA_DIR: server.dataDir });
  await sees(ada, ['bob CAMERA']);
  await sees(bob, ['ada CAMERA', 'ada MICROPHONE']);
  for (const one of [ada, bob]) {
    const states = (await one.log()).filter((line) => line.includes(' → '));
    assert.equal(states.at(-1), 'reconnecting → connected', states.join('\n'));
  }
});
