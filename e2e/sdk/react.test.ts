import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { skipWithoutBrowser } from '../browser.ts';
import { openSdk, type SdkKit } from './kit.ts';

type App = typeof import('./react-page.tsx');

const skip = skipWithoutBrowser();
let kit: SdkKit;
let page: Page;

before(async () => {
  if (skip) return;
  kit = await openSdk({ script: 'react-page.tsx' });
  page = await kit.page();
});
after(async () => {
  if (skip) return;
  await kit.close();
  assert.deepEqual(kit.problems, [], 'no page had an uncaught error');
});

const soon = (check: () => Promise<void>): Promise<void> => eventually(check, { withinMs: 30_000 });
const textOf = (selector: string): Promise<string | null> => page.textContent(selector);

test('[SDK-40] the React hooks hold one call and one chat under StrictMode, and release both with the last component', {
  skip,
}, async () => {
  const room = await kit.newRoom();
  const conversation = await kit.api.call('createConversation', {
    body: { name: 'talk', members: [{ userId: 'ada' }] },
  });
  const mint = (identity: string) =>
    kit.api.call('mintRtcToken', {
      roomId: room.id,
      body: { participantIdentity: identity, permissions: { publish: true, publishData: true } },
    });
  const chat = await kit.api.call('mintChatToken', { body: { userId: 'ada' } });
  const propsOf = async (identity: string) => ({
    url: kit.url,
    rtcToken: (await mint(identity)).token,
    chatToken: chat.token,
    conversation: conversation.id,
  });
  await page.evaluate((given) => (window.sdk as unknown as App).mount(given), await propsOf('ada'));
  await soon(async () => assert.deepEqual([await textOf('#connection'), await textOf('#self')], ['connected', 'ada']));
  await soon(async () => assert.equal(await textOf('#chat'), 'connected'));
  const present = async () =>
    (await kit.api.call('listRoomParticipants', { id: room.id })).map(({ identity }) => identity);
  assert.deepEqual(await present(), ['ada']);
  const counts = () => page.evaluate(() => (window.sdk as unknown as App).counts);
  assert.deepEqual(await counts(), { connects: 1, leaves: 0 }, 'mounted twice, joined once');

  const other = await kit.page();
  await other.evaluate((given) => (window.sdk as unknown as App).mount(given), await propsOf('bob'));
  await eventually(async () => (await other.textContent('#connection')) === 'connected', { withinMs: 30_000 });
  await other.evaluate(() => (window.sdk as unknown as App).publishCard());
  const frames = () =>
    page.evaluate(
      () =>
        document.querySelector<HTMLVideoElement>('[data-tile=bob]')?.getVideoPlaybackQuality().totalVideoFrames ?? 0,
    );
  await soon(async () => assert.ok((await frames()) > 5, 'no picture'));
  await other.evaluate(() => (window.sdk as unknown as App).unmount());
  await soon(async () => assert.equal(await page.locator('[data-tile]').count(), 0, 'no ghost tile'));

  assert.deepEqual(await page.locator('.header').allTextContents(), ['connected', 'connected']);
  await page.evaluate(() => (window.sdk as unknown as App).show({ header: false }));
  await soon(async () => assert.equal(await page.locator('.header').count(), 0));
  // Leaving would be told within a moment.
  await page.waitForTimeout(200);
  assert.deepEqual([await textOf('#connection'), await textOf('#chat')], ['connected', 'connected']);
  assert.deepEqual(await counts(), { connects: 1, leaves: 0 }, 'another component still has them');

  await page.click('text=send');
  await soon(async () => assert.equal(await textOf('li'), 'from react'));
  // It is shown while it is sent; another one would be stored before it.
  const stored = async () => (await kit.api.call('listMessages', { room: conversation.id })).messages.length;
  await soon(async () => assert.equal(await stored(), 1));
  await kit.api.call('sendMessage', { room: conversation.id, body: { text: 'from the backend', senderId: 'ada' } });
  await soon(async () =>
    assert.deepEqual(await page.locator('li').allTextContents(), ['from react', 'from the backend']),
  );

  await page.evaluate(() => (window.sdk as unknown as App).unmount());
  await soon(async () => assert.deepEqual(await present(), []));
  assert.deepEqual(await counts(), { connects: 1, leaves: 1 });
});

test('[SDK-40] a conversation is held while a component shows it, and left when none does', { skip }, async () => {
  const create = (name: string) =>
    kit.api.call('createConversation', { body: { name, members: [{ userId: 'cleo' }] } });
  const [one, two] = [await create('one'), await create('two')];
  const room = await kit.newRoom();
  const rtc = await kit.api.call('mintRtcToken', { roomId: room.id, body: { participantIdentity: 'cleo' } });
  const chat = await kit.api.call('mintChatToken', { body: { userId: 'cleo' } });
  const props = {
    url: kit.url,
    rtcToken: rtc.token,
    chatToken: chat.token,
    conversation: one.id,
  };
  const shown = await kit.page();
  await shown.evaluate((given) => (window.sdk as unknown as App).mount(given), props);
  const isIn = async ({ id }: { id: string }) =>
    (await kit.api.call('listPresence', { room: id })).some(({ userId }) => userId === 'cleo');
  const shows = () => shown.textContent('#conversation');
  await soon(async () => assert.equal(await shows(), one.id));
  await soon(async () => assert.deepEqual([await isIn(one), await isIn(two)], [true, false]));

  const sequence = await shown.evaluate(
    (ref) =>
      new Promise<(string | null)[]>((resolve) => {
        const element = document.querySelector('#conversation') ?? document.body;
        const texts: (string | null)[] = [];
        new MutationObserver(() => {
          texts.push(element.textContent);
          if (element.textContent === ref) resolve(texts);
        }).observe(element, { childList: true, characterData: true, subtree: true });
        (window.sdk as unknown as App).turnTo(ref);
      }),
    two.id,
  );
  assert.deepEqual(sequence, ['none', two.id], 'the old conversation is not shown under the new name');
  await soon(async () => assert.deepEqual([await isIn(one), await isIn(two)], [false, true]));

  // A chat store joins them all, and lets go of those that no component shows.
  const list = (isShown: boolean) =>
    shown.evaluate((given) => (window.sdk as unknown as App).show({ list: given }), isShown);
  await list(true);
  await soon(async () => assert.equal(await shown.textContent('#list'), 'one,two'));
  assert.equal(await shown.evaluate(() => (window.sdk as unknown as App).stores.size), 1, 'mounted twice, made once');
  await soon(async () => assert.deepEqual([await isIn(one), await isIn(two)], [true, true]));
  await list(false);
  await soon(async () => assert.deepEqual([await isIn(one), await isIn(two)], [false, true]));

  // The same one after a lost connection.
  kit.tcp.cut();
  kit.tcp.restore();
  const body = { text: 'after the loss', senderId: 'cleo', clientMessageId: 'after' };
  await soon(async () => void (await kit.api.call('sendMessage', { room: two.id, body })));
  await soon(async () => assert.equal(await shown.textContent('li'), 'after the loss'));
  await shown.evaluate(() => (window.sdk as unknown as App).unmount());
  await soon(async () => assert.deepEqual([await isIn(one), await isIn(two)], [false, false]));
});
