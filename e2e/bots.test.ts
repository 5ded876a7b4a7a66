/** The SDK where there is no page: programs of plain Node, run until they end by themselves. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createChatKit } from '../apps/server/testkit/chat/chat.ts';
import { mint, newRoom, sharedRooms } from '../apps/server/testkit/clients/rooms.ts';

async function runNode(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, args)).stdout.trim();
}

test('[SDK-86] bots chat from plain Node and from a worker, without a DOM, and leave nothing open', async () => {
  const service = await sharedRooms();
  const kit = await createChatKit(service);
  const { id: room } = await kit.conversation(['ada', 'bob']);
  const tokens = { ada: (await kit.user('ada')).token, bob: (await kit.user('bob')).token };
  const given = JSON.stringify({ url: service.url, room, tokens });
  assert.equal(await runNode('e2e/bots/chat-bot.mjs', given), 'bob: pong, 1 in the list');
});

test('[SDK-86] bots are in a room without WebRTC: they see who is there, ask and answer', async () => {
  const service = await sharedRooms();
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const tokens = { ada: (await mint(api, room, 'ada')).token, bob: (await mint(api, room, 'bob')).token };
  const given = JSON.stringify({ url: service.url, tokens });
  assert.equal(await runNode('e2e/bots/room-bot.mjs', given), 'bob\nhello, ada');
});

test('[SDK-86] a runtime without a WebSocket says at once what to do', async () => {
  const code = `
    delete globalThis.WebSocket;
    const { Chat } = await import('@parley/client/chat');
    const { code, message } = await new Chat({ url: 'http://localhost:1', token: 'x' }).connect().catch((error) => error);
    console.log(code, message.includes('"ws"'));`;
  assert.equal(await runNode('--input-type=module', '--eval', code), 'no_websocket true');
});
