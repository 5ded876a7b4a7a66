import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, pageMs } from '../apps/server/testkit/kit/eventually.ts';
import { assertAccessibleInBothThemes } from './accessibility.ts';
import { skipWithoutBrowser } from './browser.ts';
import { assertFits } from './dashboard-kit.ts';
import { framesOf, openPlayground, type Playground } from './playground-kit.ts';

describe('[PLAY] the playground', { skip: skipWithoutBrowser(), timeout: 300_000 }, () => {
  let playground: Playground;
  before(async () => {
    playground = await openPlayground();
  });
  after(() => playground?.close());

  const open = async (path: string): Promise<Page> => {
    const page = await playground.newPage();
    await page.goto(`${playground.url}/playground${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  };

  /** Both themes by axe, then 320 pixels. Where a test has opened a page it is looked at there: to load it again costs as much. */
  async function inEveryLook(page: Page, what: string): Promise<void> {
    await assertAccessibleInBothThemes(page, what);
    await page.setViewportSize({ width: 320, height: 720 });
    await assertFits(page, what);
    await page.setViewportSize({ width: 1280, height: 800 });
  }

  test('[PLAY-1] [PLAY-2] by keyboard alone: join, mute, write, walk over messages, react, edit and delete', async () => {
    const page = await open('/room/keys');
    await page.getByLabel('Test card and tone').focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.locator('.parley-call[data-connection="connected"]').waitFor();
    const microphone = page.getByRole('button', { name: 'Microphone', exact: true });
    const pressed = (isOn: boolean) => microphone.and(page.locator(`[aria-pressed="${isOn}"]`));
    await pressed(true).waitFor();
    await page.keyboard.press('m');
    await pressed(false).waitFor();
    assert.equal(await microphone.getAttribute('aria-pressed'), 'false');
    await page.locator('.parley-tile video').waitFor();
    await page.keyboard.press('v');
    await page.locator('.parley-tile', { hasText: 'sends no picture' }).waitFor();
    assert.equal(await page.locator('.parley-tile video').count(), 0);

    const field = page.getByRole('textbox', { name: 'Message' });
    await eventually(async () => assert.ok(await field.isEnabled()), { withinMs: pageMs });
    await field.focus();
    await page.keyboard.type('first m');
    await page.keyboard.press('Enter');
    await page.keyboard.type('second');
    await page.keyboard.press('Enter');
    assert.equal(await microphone.getAttribute('aria-pressed'), 'false', 'typing an m mutes nobody');
    const row = (text: string) => page.locator('.parley-row', { hasText: text });
    await row('second').waitFor();
    await row('second').getByText('sending').waitFor({ state: 'detached' });
    await row('second').focus();
    await page.keyboard.press('ArrowUp');
    assert.match((await page.locator('.parley-row:focus').textContent()) ?? '', /first m/);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await row('first m').locator('.parley-reaction').waitFor();
    // Its buttons show while a message has the focus.
    await row('first m').getByRole('button', { name: 'Edit' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type(' changed');
    await page.keyboard.press('Enter');
    await row('changed').getByText('edited').waitFor();
    await row('second').focus();
    await row('second').getByRole('button', { name: 'Reply' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('an answer');
    await page.keyboard.press('Enter');
    await row('an answer').locator('.parley-quote', { hasText: 'second' }).waitFor();
    await row('an answer').getByText('sending').waitFor({ state: 'detached' });
    await row('an answer').focus();
    await row('an answer').getByRole('button', { name: 'Delete' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('This message was deleted.').waitFor();
    await playground.leave(page);
  });

  describe('two in a room', () => {
    let ada: Page;
    let bob: Page;
    const join = async (): Promise<Page> => {
      const page = await open('/room/two');
      await page.getByLabel('Nothing').check();
      await page.getByRole('button', { name: 'Join' }).click();
      await page.locator('.parley-call[data-connection="connected"]').waitFor();
      return page;
    };
    before(async () => {
      [ada, bob] = [await join(), await join()];
    });

    test('[PLAY-2] [SDK-52] [KIT-39] a file goes up and comes down again; typing and presence are shown', async () => {
      for (const page of [ada, bob])
        await eventually(async () => assert.ok(await page.getByRole('textbox', { name: 'Message' }).isEnabled()), {
          withinMs: pageMs,
        });
      await ada.getByText('Here: guest').waitFor();
      // Who comes second hears of nobody entering.
      await bob.getByText('Here: guest').waitFor();
      assert.equal(
        await bob.locator('.parley-messages').count(),
        1,
        'the list of before there was a conversation is gone',
      );
      await ada.locator('input[type=file]').setInputFiles({
        name: 'note.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('the content'),
      });
      const file = bob.getByRole('button', { name: /note\.txt/ });
      await file.waitFor();
      const [download] = await Promise.all([bob.waitForEvent('download'), file.click()]);
      assert.equal(download.suggestedFilename(), 'note.txt');
      await bob.getByRole('textbox', { name: 'Message' }).pressSequentially('hm');
      await ada.getByText('guest is typing').waitFor();
    });

    test('[KIT-10] a raised hand and a reaction reach everybody, a hand also who comes later; it goes down with its owner', async () => {
      const raised = (page: Page) => page.locator('.parley-tile', { hasText: 'Hand raised' });
      await ada.locator('.parley-tile').nth(1).waitFor();
      await ada.keyboard.press('h');
      await raised(bob).waitFor();
      await raised(ada).waitFor();
      const late = await join();
      await raised(late).waitFor();
      await bob.getByRole('toolbar').getByRole('button', { name: 'React' }).click();
      await bob.getByRole('menuitem', { name: 'React with 👏' }).click();
      await ada.locator('.parley-tile-reaction', { hasText: '👏' }).waitFor();
      await ada.getByRole('button', { name: 'Leave call' }).click();
      await raised(late).waitFor({ state: 'detached' });
      for (const page of [ada, bob, late]) await playground.leave(page);
    });
  });

  test('[PLAY-5] [PLAY-7] by keyboard in two pages: a mention, the badge of the inbox, and a search that marks what it found', async () => {
    const [ada, bob] = [await open(''), await open('')];
    await inEveryLook(ada, 'the start');
    for (const [page, name] of [
      [ada, 'Ada'],
      [bob, 'Bob'],
    ] as const) {
      await page.getByLabel('Your name').fill(name);
      await page.getByRole('link', { name: 'Open the chat' }).press('Enter');
      await page.getByRole('button', { name: /^Lounge/ }).waitFor();
    }
    const entry = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) });
    const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
    await entry(bob, 'Harbour crew').press('Enter');
    await eventually(async () => assert.ok(await field(bob).isEnabled()), { withinMs: pageMs });
    await entry(ada, 'Lounge').press('Enter');
    await eventually(async () => assert.ok(await field(ada).isEnabled()), { withinMs: pageMs });

    await field(ada).focus();
    await ada.keyboard.type('The lighthouse is lit, @bo');
    await ada.getByRole('option', { name: /bob/ }).first().waitFor();
    await ada.keyboard.press('Enter');
    await ada.keyboard.press('Enter');
    await ada.locator('.parley-row mark', { hasText: '@bob' }).waitFor();
    await entry(bob, 'Lounge').getByText('1 unread, you are mentioned').waitFor();
    await bob.getByRole('status').getByText('1 unread message').waitFor();

    const search = bob.getByRole('searchbox', { name: 'Search messages' });
    await search.focus();
    await bob.keyboard.type('light');
    const found = bob.getByRole('list', { name: 'Found messages' });
    await eventually(async () => assert.deepEqual(await found.locator('mark').allTextContents(), ['light']), {
      withinMs: 30_000,
    });
    await inEveryLook(bob, 'found messages');
    // On a phone an open conversation hides the list, and takes the focus from it.
    await search.focus();
    await bob.keyboard.press('Tab');
    await bob.keyboard.press('Enter');
    await bob.locator('.parley-row mark[data-mine]', { hasText: '@bob' }).waitFor();
    await search.press('Escape');
    // It was looked at, so it is read.
    await bob.getByRole('status').getByText('Nothing unread').waitFor();
    await entry(bob, 'Lounge').waitFor();
    await entry(bob, 'Lounge').locator('.inbox-badge').waitFor({ state: 'detached' });
    await inEveryLook(bob, 'an open conversation');
    await playground.leave(ada);
    await playground.leave(bob);
  });

  test('[PLAY-3] [PLAY-5] [KIT-29] a host goes live, a viewer watches and writes and has nothing to publish with; the end is told', async () => {
    const host = await open('/host');
    await inEveryLook(host, 'a host');
    await host.getByLabel('Test card and tone').check();
    await host.getByRole('button', { name: 'Open the studio' }).click();
    await host.getByRole('button', { name: 'Go live' }).click();
    await host.locator('.on-air', { hasText: 'Live' }).waitFor();
    const watch = await host.getByRole('link', { name: /playground\/watch/ }).getAttribute('href');
    const viewer = await open(watch?.replace('/playground', '') ?? '');
    await eventually(async () => assert.ok((await framesOf(viewer, 'guest-')) > 5), { withinMs: 30_000 });
    assert.equal(await viewer.getByRole('button', { name: /Camera|Microphone|Share/ }).count(), 0);
    await host.getByText('1 viewer').waitFor();
    await viewer.getByRole('textbox', { name: 'Message' }).fill('hi from a viewer');
    await viewer.keyboard.press('Enter');
    const chat = host.getByRole('button', { name: 'Chat', exact: true });
    await chat.getByText('1', { exact: true }).waitFor();
    await chat.click();
    await host.getByRole('log').getByText('hi from a viewer').waitFor();
    await host.getByRole('button', { name: 'End the stream' }).click();
    await viewer.getByText('The stream has ended.').waitFor();
    await playground.leave(viewer);
    await playground.leave(host);
  });

  test('[PLAY-4] [PLAY-5] the inspector drops the sockets, and the call and the chat come back', async () => {
    const page = await open('/room/demo');
    await inEveryLook(page, 'before a call');
    await page.getByLabel('Test card and tone').check();
    await page.getByRole('button', { name: 'Join' }).click();
    await page.locator('.parley-call[data-connection="connected"]').waitFor();
    await page.getByRole('log').getByText('Say hello, and somebody will react.').waitFor();
    await page.getByRole('button', { name: 'Inspector' }).click();
    await inEveryLook(page, 'a call');
    await page.getByRole('button', { name: 'Drop the sockets' }).click();
    await page
      .getByRole('cell', { name: /closed/ })
      .first()
      .waitFor();
    await page
      .getByRole('cell', { name: /connected, reconnecting/ })
      .first()
      .waitFor();
    await page.locator('.parley-call[data-connection="connected"]').waitFor();
    await page.getByRole('button', { name: 'Chat', exact: true }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('still here');
    await page.keyboard.press('Enter');
    await page.locator('.parley-row', { hasText: 'still here' }).waitFor();
    await playground.leave(page);
  });

  test('[PLAY-5] the other pages too are accessible in both themes and fit 320 pixels', async () => {
    const page = await open('/chat');
    await inEveryLook(page, 'the chat');
    await page.goto(`${playground.url}/playground/check`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await inEveryLook(page, 'the check');
    await playground.leave(page);
  });

  test('[PLAY-6] its backend answers its own pages only', async () => {
    const ask = (headers: Record<string, string>, identity = 'somebody') =>
      fetch(`${playground.server.url}/playground/api/rooms/demo/rtc-token`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ identity }),
      });
    assert.equal((await ask({ origin: playground.url })).status, 200);
    assert.equal((await ask({ origin: 'https://elsewhere.example' })).status, 403);
    assert.equal((await ask({}, 'x'.repeat(100_000))).status, 413);
    const missing = await fetch(`${playground.server.url}/playground/api/nothing`);
    assert.equal(missing.status, 404);
  });

  test('[PLAY-5] no console error, no unhandled rejection, no request to another origin', () => {
    assert.deepEqual(playground.problems, []);
  });
});
