import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, pageMs } from '../../apps/server/testkit/kit/eventually.ts';
import { skipWithoutBrowser } from '../browser.ts';
import { openSdk, type SdkKit } from './kit.ts';

const skip = skipWithoutBrowser();
let kit: SdkKit;

before(async () => {
  if (!skip) kit = await openSdk();
});
after(async () => {
  if (skip) return;
  await kit.close();
  assert.deepEqual(kit.problems, [], 'no page had an uncaught error');
});

type Chat = import('@parley/client/chat').Chat;
type Conversation = import('@parley/client/chat').Conversation;

declare global {
  interface Window {
    talk: { chat: Chat; conversation?: Conversation };
    mintChatToken(): Promise<string>;
  }
}

/** The page's own chat, as its application makes it each time it is loaded. */
async function openChat(page: Page, url: string): Promise<void> {
  await page.evaluate(async (service) => {
    const name = 'sdk';
    window.sdk = await import(name);
    const { Chat } = window.sdk.chat;
    window.talk = { chat: new Chat({ url: service, token: () => window.mintChatToken(), queue: 'indexeddb' }) };
    await window.talk.chat.connect();
  }, url);
}

/** What waits in the browser's database, of every tab. */
const stored = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    // Opening it before the SDK does would create it, without its stores.
    const all = await indexedDB.databases();
    if (!all.some(({ name }) => name === 'parley-chat')) return [];
    const database = await done(indexedDB.open('parley-chat'));
    const rows = await done(database.transaction('operations').objectStore('operations').getAll());
    database.close();
    return rows.map(({ operation }) => operation.draft.text);
  });

test('[SDK-14] messages written offline survive a reload of the page and go out once, in their order', {
  skip,
}, async () => {
  const { id } = await kit.api.call('createConversation', { body: { name: 'queue', members: ['ada'] } });
  const url = kit.url;
  const page = await kit.page();
  await page.exposeFunction('mintChatToken', async () => {
    const { token } = await kit.api.call('mintChatToken', { body: { userId: 'ada' } });
    return token;
  });
  await openChat(page, url);
  await page.evaluate(async (ref) => {
    window.talk.conversation = await window.talk.chat.join(ref);
    await window.talk.conversation.send('before');
  }, id);

  kit.tcp.cut();
  await eventually(
    async () =>
      assert.equal(await page.evaluate(() => window.talk.chat.state.getSnapshot().connection), 'reconnecting'),
    { withinMs: pageMs },
  );
  // In the same tick: their times are the same, and only the queue knows their order.
  const texts = Array.from({ length: 12 }, (_, at) => `offline ${at}`);
  const outcomes = await page.evaluate(
    (all) => Promise.all(all.map(async (text) => (await window.talk.conversation?.send(text))?.delivery)),
    texts,
  );
  assert.deepEqual(new Set(outcomes), new Set(['queued']));
  await eventually(async () => assert.equal((await stored(page)).length, texts.length), { withinMs: pageMs });

  await page.reload();
  assert.deepEqual((await stored(page)).sort(), [...texts].sort(), 'a reload loses nothing');
  kit.tcp.restore();
  await openChat(page, url);
  await eventually(
    async () => {
      const { messages } = await kit.api.call('listMessages', { room: id, query: { limit: 50 } });
      assert.deepEqual(messages.map(({ text }) => text).reverse(), ['before', ...texts]);
      assert.deepEqual(await stored(page), [], 'what was sent waits no more');
    },
    { withinMs: 30_000 },
  );
});
