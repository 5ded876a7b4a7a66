import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import type { SampleConversation } from '../packages/react/gallery/sample-conversation.ts';
import { assertAccessibleInBothThemes } from './accessibility.ts';
import { skipWithoutBrowser } from './browser.ts';
import { assertStacked, firstNumber, lastNumber, list, row, scrollTo, seen } from './chat-rows.ts';
import { assertFits } from './dashboard-kit.ts';
import { type Gallery, openGallery } from './gallery-kit.ts';

declare global {
  interface Window {
    sampleConversation: SampleConversation;
  }
}

/** A loaded machine takes its time. */
const soon = (check: () => Promise<void>): Promise<void> => eventually(check, { withinMs: 60_000 });

describe('[KIT] chat and streams in React', { skip: skipWithoutBrowser(), timeout: 300_000 }, () => {
  let gallery: Gallery;
  before(async () => {
    gallery = await openGallery();
  });
  after(() => gallery?.close());

  const open = (exhibit: string, width = 480): Promise<Page> =>
    gallery.open({ exhibit, viewport: { width, height: 720 } });

  test('[KIT-23] of 100,000 messages fewer than 200 rows are in the page, and both ends are reached', async () => {
    const page = await open('chat-100000');
    const rowsMax = async (): Promise<void> => assert.ok((await page.locator('.parley-row').count()) < 200);
    await soon(async () => assert.equal(await lastNumber(page), 100_000));
    await rowsMax();
    await assertStacked(page);
    for (const place of [4_000_000, 1_234_567, 2_500_000]) {
      await scrollTo(page, place);
      await soon(async () => assert.ok((await seen(page)).length > 2));
      await rowsMax();
      await assertStacked(page);
    }
    await scrollTo(page, 0);
    await soon(async () => assert.equal(await firstNumber(page), 1));
    await assertStacked(page);
    await page.getByRole('button', { name: 'To the newest message' }).click();
    await soon(async () => assert.equal(await lastNumber(page), 100_000));
    const box = await list(page).evaluate(
      ({ scrollTop, clientHeight, scrollHeight }) => scrollHeight - scrollTop - clientHeight,
    );
    assert.ok(Math.abs(box) < 2, 'at the very end');
    await rowsMax();
    await gallery.leave(page);
  });

  test('[KIT-37] a list that is thrown has messages in every frame, and around the view once it rests', async () => {
    const page = await open('chat-100000');
    await row(page, '100000:').waitFor();
    const areFilled = await list(page).evaluate(async (element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      // Between two frames, as browsers scroll; then the frame that is painted.
      const next = (): Promise<void> =>
        new Promise((resolve) => setTimeout(() => requestAnimationFrame(() => resolve())));
      const filled: boolean[] = [];
      for (let jump = 0; jump < 10; jump++) {
        element.scrollTop -= 40_000;
        await next();
        filled.push(
          [0.1, 0.5, 0.9].every((part) =>
            document.elementFromPoint(left + width / 2, top + height * part)?.closest('.parley-row'),
          ),
        );
      }
      return filled;
    });
    assert.deepEqual(areFilled, Array(10).fill(true));
    await soon(async () => {
      const beyond = await list(page).evaluate((element) => {
        const frame = element.getBoundingClientRect();
        const boxes = [...element.querySelectorAll('.parley-row')].map((one) => one.getBoundingClientRect());
        return [frame.top - (boxes[0]?.top ?? 0), (boxes.at(-1)?.bottom ?? 0) - frame.bottom];
      });
      assert.ok(
        beyond.every((pixels) => pixels >= 200),
        beyond.join(),
      );
    });
    await assertStacked(page);
    await gallery.leave(page);
  });

  test('[KIT-24] what is seen stays where it is when older pages come and heights change', async () => {
    const page = await open('chat-pages');
    await soon(async () => assert.equal(await lastNumber(page), 400));
    // Between two pages: the next one is asked for while these rows are looked at.
    await scrollTo(page, 500);
    await soon(async () =>
      assert.ok(await page.evaluate(() => window.sampleConversation.messages.getSnapshot().length > 50)),
    );
    const [, before] = await seen(page);
    const count = await page.evaluate(() => window.sampleConversation.messages.getSnapshot().length);
    const placeOf = async (): Promise<number | undefined> =>
      (await seen(page)).find(({ text }) => text === before?.text)?.top;
    // Nudged up without a jump, page by page.
    await list(page).evaluate((element) => {
      element.scrollTop -= 1;
    });
    await page.evaluate(async () => void (await window.sampleConversation.history()));
    await soon(async () =>
      assert.ok((await page.evaluate(() => window.sampleConversation.messages.getSnapshot().length)) > count),
    );
    await assertStacked(page);
    assert.ok(Math.abs(((await placeOf()) ?? -999) - (before?.top ?? 0) - 1) < 2, 'the view jumped');

    // A row above the view grows, as one does whose picture comes late.
    const place = await placeOf();
    await page.evaluate(() => {
      const { messages } = window.sampleConversation;
      const frame = document.querySelector('.parley-scroll')?.getBoundingClientRect().top ?? 0;
      const above = [...document.querySelectorAll<HTMLElement>('.parley-row')].findLast(
        (one) => one.getBoundingClientRect().bottom < frame,
      );
      const index = Number(above?.dataset['index']);
      messages.set(
        messages.getSnapshot().map((one, at) => (at === index ? { ...one, text: 'long '.repeat(400) } : one)),
      );
    });
    await page.locator('.parley-row', { hasText: 'long long' }).waitFor({ state: 'attached' });
    await soon(() => assertStacked(page));
    assert.ok(Math.abs(((await placeOf()) ?? -999) - (place ?? 0)) < 2, 'the view jumped');

    // Another width: every height is another one, the row on top is the same.
    const top = (await seen(page))[0]?.text;
    await page.setViewportSize({ width: 360, height: 720 });
    await soon(() => assertStacked(page));
    assert.equal((await seen(page))[0]?.text, top);

    await soon(async () => {
      await scrollTo(page, 0);
      assert.equal(await firstNumber(page), 1);
    });
    await gallery.leave(page);
  });

  test('[KIT-40] an @ offers members and, to a moderator, everybody; by keyboard; the message says whom, and mentions stand out', async () => {
    const page = await open('chat-mentions');
    const field = page.getByRole('textbox', { name: 'Message' });
    const marks = (text: string) =>
      row(page, text)
        .locator('mark')
        .evaluateAll((all) => all.map((one) => [one.textContent, one.hasAttribute('data-mine')]));
    await soon(async () => assert.deepEqual(await marks('she was there'), [['@Grace Hopper', false]]));
    assert.deepEqual(await marks('the tide is in'), [
      ['@Me', true],
      ['@bob', false],
    ]);
    assert.deepEqual(await marks('we meet at nine'), [['@all', true]]);
    assert.deepEqual(await marks('not mentioned'), []);

    await field.focus();
    await page.keyboard.type('@');
    const options = page.getByRole('option');
    await soon(async () => assert.ok((await options.allTextContents()).some((name) => name.includes('Grace Hopper'))));
    assert.ok(!(await options.allTextContents()).some((name) => name.endsWith('Me')), 'not oneself');
    await assertAccessibleInBothThemes(page, 'people to mention');
    await page.keyboard.type('b');
    await soon(async () => assert.equal(await options.count(), 1));
    await page.keyboard.press('Escape');
    assert.equal(await options.count(), 0);
    await page.keyboard.press('Backspace');
    await page.keyboard.type('gr');
    await page.keyboard.press('Enter');
    await page.keyboard.type('and @');
    await page.keyboard.press('ArrowDown');
    assert.match((await page.getByRole('option', { selected: true }).textContent()) ?? '', /Bob/);
    assert.equal(
      await field.getAttribute('aria-activedescendant'),
      await page.getByRole('option', { selected: true }).getAttribute('id'),
    );
    await page.keyboard.press('Enter');
    await page.keyboard.type('come, @all too');
    await page.keyboard.press('Enter');
    await row(page, 'come,').waitFor();
    await row(page, 'come,').getByText('sending').waitFor({ state: 'detached' });
    const last = () => page.evaluate(() => window.sampleConversation.messages.getSnapshot().at(-1));
    assert.equal((await last())?.text, '@Grace Hopper and @Bob come, @all too');
    assert.deepEqual((await last())?.mentions, { users: ['bob', 'grace'], here: false, all: true });
    await soon(async () => assert.equal((await marks('come,')).length, 3));
    await page.keyboard.type('@nobody here');
    await page.keyboard.press('Enter');
    await soon(async () => assert.deepEqual([(await last())?.text, (await last())?.mentions], ['@nobody here', null]));
    await gallery.leave(page);
  });

  test('[KIT-25] news: the end is kept while it is looked at; elsewhere they are counted and marked', async () => {
    const page = await open('chat-pages');
    const receive = (text: string) => page.evaluate((said) => window.sampleConversation.receive({ text: said }), text);
    await soon(async () => assert.equal(await lastNumber(page), 400));
    await receive('first news');
    await soon(async () => assert.equal((await seen(page)).at(-1)?.text, 'first news'));
    await page.locator('[role=status]', { hasText: 'Ada Lovelace: first news' }).waitFor({ state: 'attached' });
    await scrollTo(page, 300);
    await page.getByRole('button', { name: 'To the newest message' }).waitFor();
    await receive('second news');
    await receive('third news');
    await page.getByRole('button', { name: '2 new messages' }).click();
    await soon(async () => assert.equal((await seen(page)).at(-1)?.text, 'third news'));
    await row(page, 'second news').getByText('New messages').waitFor();
    // One's own message is always seen.
    await scrollTo(page, 300);
    await page.getByRole('textbox', { name: 'Message' }).fill('mine');
    await page.keyboard.press('Enter');
    await soon(async () => assert.equal((await seen(page)).at(-1)?.text, 'mine'));

    await gallery.leave(page);
    const unread = await open('chat-unread');
    await unread.getByRole('button', { name: 'To 39 unread messages' }).click();
    await soon(async () => assert.equal(await firstNumber(unread), 22));
    await row(unread, '22:').getByText('New messages').waitFor();
    await unread.getByRole('button', { name: /unread/ }).waitFor({ state: 'detached' });
    await gallery.leave(unread);

    // 30 pages back: one press reads no more than 20 of them.
    const far = await open('chat-unread-far');
    const count = (): Promise<number> => far.evaluate(() => window.sampleConversation.messages.getSnapshot().length);
    const jump = far.getByRole('button', { name: 'To 1490 unread messages' });
    await jump.click();
    await soon(async () => assert.ok((await count()) >= 1000));
    await soon(async () => assert.ok((await firstNumber(far)) < 600));
    assert.ok((await count()) < 1500, 'not everything is read');
    await jump.click();
    await soon(async () => assert.equal(await firstNumber(far), 10));
    await jump.waitFor({ state: 'detached' });
    await gallery.leave(far);
  });

  test('[KIT-26] by keyboard: rows, emoji, names after an @, an edit, a thread', async () => {
    const page = await open('chat', 900);
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    await field.focus();
    await page.keyboard.type('hello @ad');
    await page.getByRole('option', { name: 'Ada Lovelace' }).waitFor();
    assert.match((await field.getAttribute('aria-activedescendant')) ?? '', /-0$/);
    await page.keyboard.press('Enter');
    await soon(async () => assert.equal(await field.inputValue(), 'hello @Ada Lovelace '));
    await page.getByRole('button', { name: 'Emoji' }).press('Enter');
    await page.locator('.parley-emoji button:focus').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await soon(async () => assert.equal(await field.inputValue(), 'hello @Ada Lovelace 😄'));
    await page.keyboard.press('Enter');
    await row(page, 'hello @Ada Lovelace 😄').waitFor();
    await row(page, 'hello').getByText('sending').waitFor({ state: 'detached' });

    await page.keyboard.press('ArrowUp');
    const edit = page.getByRole('textbox', { name: 'New text' });
    await edit.waitFor();
    await page.keyboard.type(' there');
    await page.keyboard.press('Enter');
    await row(page, '😄 there').getByText('(edited)').waitFor();
    await soon(async () => assert.ok(await row(page, '😄 there').evaluate((one) => one === document.activeElement)));
    await page.keyboard.press('Home');
    await soon(async () => assert.match((await page.locator('.parley-row:focus').textContent()) ?? '', /tide table/));
    await page.keyboard.press('End');
    await soon(async () => assert.match((await page.locator('.parley-row:focus').textContent()) ?? '', /there/));

    await page.keyboard.press('Home');
    await page.getByRole('button', { name: '2 replies' }).press('Enter');
    const thread = page.getByRole('region', { name: 'Thread' });
    await thread.getByText('Perfect, thank you!').waitFor();
    await soon(async () => assert.equal(await thread.locator('.parley-row').count(), 3));
    // However many reactions come at once, all are read once.
    const reads = await page.evaluate(async () => {
      const { sampleConversation: sample } = window;
      const before = sample.threadReads;
      for (let count = 0; count < 20; count++) sample.emit('reactionAdded', { id: 'm5' });
      await new Promise((resolve) => setTimeout(resolve, 200));
      return sample.threadReads - before;
    });
    assert.equal(reads, 1);
    await assertAccessibleInBothThemes(page, 'a thread');
    await thread.getByRole('button', { name: 'Close' }).press('Enter');
    await thread.waitFor({ state: 'detached' });
    await gallery.leave(page);
  });

  test('[KIT-29] nobody is said to be absent before it is known who is there', async () => {
    const page = await open('chat-joining');
    await page.getByRole('region', { name: 'Chat' }).waitFor();
    assert.equal(await page.getByText('Nobody else is in the chat.').count(), 0);
    await page.evaluate(() => {
      location.hash = 'chat-empty';
    });
    await page.getByText('Nobody else is in the chat.').waitFor();
    await gallery.leave(page);
  });

  test('[KIT-33] why a conversation cannot be joined is said in the words of the application', async () => {
    const page = await open('chat-error');
    await page.getByRole('alert').getByText('The conversation cannot be joined.').waitFor();
    await gallery.leave(page);
  });

  test('[KIT-27] a file shows how far it is and can be given up', async () => {
    const page = await open('chat');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
    const progress = page.getByRole('progressbar', { name: 'Uploading a.txt' });
    await soon(async () => assert.equal(await progress.getAttribute('value'), '0.5'));
    await page.getByRole('button', { name: 'Cancel: a.txt' }).click();
    await progress.waitFor({ state: 'detached' });
    await gallery.leave(page);
  });

  test('[KIT-27] a file is opened from an address of the web alone', async () => {
    const page = await open('chat');
    // One message, two of them.
    await page.locator('.parley-file').nth(1).waitFor();
    await page.locator('.parley-file').first().click();
    await page.getByRole('alert').getByText('not of the web').waitFor();
    assert.notEqual(await page.title(), 'run');
    await gallery.leave(page);
  });

  test('[KIT-29] [SDK-134] the list of conversations and the player say what is the matter', async () => {
    const page = await open('conversations');
    const texts = await page.getByRole('listitem').allInnerTexts();
    assert.match(texts[0] ?? '', /Harbour crew[\s\S]*Bob: They do[\s\S]*@ 3[\s\S]*3 unread messages, 1 mentions you/);
    assert.match(texts[1] ?? '', /Ada Lovelace[\s\S]*Draft I will bring the/);
    assert.match(texts[2] ?? '', /This message was deleted\.[\s\S]*240 unread messages/);
    await page.getByRole('button', { name: /Night watch/ }).click();
    assert.equal(await page.locator('[aria-current=true]').innerText(), texts[2]);
    const conversations = page.getByRole('navigation', { name: 'Conversations' });
    for (const [name, text] of [
      ['conversations-error', 'That did not work. Try again.'],
      ['conversations-empty', 'No conversations yet.'],
    ] as const) {
      await page.evaluate((exhibit) => {
        location.hash = exhibit;
      }, name);
      await conversations.getByText(text).waitFor();
      assert.equal(await conversations.getByText('No conversations yet.').count(), name.endsWith('empty') ? 1 : 0);
    }
    await page.evaluate(() => {
      location.hash = 'conversations-loading';
    });
    // Empty, it has no height.
    await page.locator('nav[aria-busy=true]').waitFor({ state: 'attached' });
    assert.equal(await conversations.getByText('No conversations yet.').count(), 0);
    const player = page.getByRole('region', { name: 'Live stream' });
    const says = async (name: string, ...wanted: RegExp[]): Promise<void> => {
      await page.evaluate((exhibit) => {
        location.hash = exhibit;
      }, name);
      for (const text of wanted) await player.filter({ hasText: text }).waitFor();
    };
    await says('stream-created', /has not started yet/);
    await says('stream-waiting', /Live/, /1 viewer/, /Waiting for the picture/);
    await says('stream-live', /Live/, /1,204 viewers/);
    assert.equal(await player.getByRole('button', { name: 'Turn on sound' }).count(), 0);
    await says('stream-audio-blocked', /Turn on sound/);
    await says('stream-reconnecting', /Reconnecting/);
    await says('stream-error', /Your access has ended/);
    await says('stream-ended', /The stream has ended\./);
    assert.equal(await player.getByRole('button').count(), 0);
    await gallery.leave(page);
  });

  test('[KIT-28] a message with its buttons is accessible; every state fits 320 pixels, from either side', async () => {
    const page = await open('chat');
    await row(page, 'Perfect').focus();
    await assertAccessibleInBothThemes(page, 'a message with its buttons');
    await page.setViewportSize({ width: 320, height: 720 });
    await page.evaluate(() => {
      location.hash = '';
    });
    const links = page.locator('.gallery h2 > a');
    await links.first().waitFor();
    const names = await links.allTextContents();
    const ours = names.filter((name) => /^(chat|conversations|stream)/.test(name));
    assert.ok(ours.length > 15, `saw only ${ours}`);
    for (const name of ours) {
      await page.evaluate((exhibit) => {
        location.hash = exhibit;
        document.documentElement.dir = exhibit.length % 2 ? 'rtl' : 'ltr';
      }, name);
      await page.locator('.gallery-alone > h1', { hasText: name }).waitFor();
      await assertFits(page, name);
    }
  });

  test('[KIT-28] no error in the console', () => {
    assert.deepEqual(gallery.problems, []);
  });
});
