/** Two bots, one in a worker: it answers, the other one says what it heard. Both end by themselves. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Chat } from '@parley/client/chat';
import { createChatStore } from '@parley/client/chat-store';

if ('window' in globalThis || 'document' in globalThis) throw new Error('This is a page.');
const given = workerData ?? JSON.parse(process.argv[2] ?? '');
const { url, room, tokens } = given;

async function open(token) {
  const chat = new Chat({ url, token });
  await chat.connect();
  return { chat, conversation: await chat.join(room) };
}

async function answer() {
  const { chat, conversation } = await open(tokens.bob);
  conversation.on('message', async ({ text }) => {
    if (text !== 'ping') return;
    await conversation.send('pong');
    await chat.disconnect();
  });
  parentPort?.postMessage('ready');
}

async function ask() {
  const { chat, conversation } = await open(tokens.ada);
  const store = createChatStore(chat);
  conversation.on('message', async ({ text, senderId }) => {
    if (text !== 'pong') return;
    await store.refresh();
    console.log(`${senderId}: ${text}, ${store.conversations.getSnapshot().length} in the list`);
    store.close();
    await chat.disconnect();
  });
  new Worker(new URL(import.meta.url), { workerData: given }).once('message', () => conversation.send('ping'));
}

await (isMainThread ? ask() : answer());
