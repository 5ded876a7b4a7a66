/** The components of `@parley/react` in every state they have, on the gallery's page. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, pageMs } from '../apps/server/testkit/kit/eventually.ts';
import type { SampleConversation } from '../packages/react/gallery/sample-conversation.ts';
import { assertAccessibleInBothThemes } from './accessibility.ts';
import { skipWithoutBrowser } from './browser.ts';
import { assertFits } from './dashboard-kit.ts';
import { type Gallery, openGallery } from './gallery-kit.ts';

declare global {
  interface Window {
    sampleRoom: {
      published: string[];
      remove(): void;
      record(isRecording: boolean): void;
      allow(permissions: object): void;
    };
    sampleConversation: SampleConversation;
  }
}

describe('[KIT] the gallery', { skip: skipWithoutBrowser(), timeout: 600_000 }, () => {
  let gallery: Gallery;
  let shared: Page;
  before(async () => {
    gallery = await openGallery();
    shared = await gallery.open({ exhibit: 'controls' });
  });
  after(() => gallery?.close());

  const show = async (page: Page, name: string): Promise<void> => {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, encodeURIComponent(name));
    await page
      .locator('.gallery-alone > h1')
      .and(page.getByText(name, { exact: true }))
      .waitFor();
  };
  /** One exhibit as it is at first, in the page that these tests share: another one takes the old one's place. */
  const alone = async (exhibit: string): Promise<Page> => {
    await show(shared, 'another language');
    await show(shared, exhibit);
    return shared;
  };

  test('[KIT-2] every component in every state is accessible in light and dark', async () => {
    const page = await gallery.open();
    const exhibits = await page.locator('.gallery > section').count();
    assert.ok(exhibits > 35, `saw only ${exhibits} exhibits`);
    // The same landmark stands there once for each state.
    await assertAccessibleInBothThemes(page, 'the gallery', { without: ['landmark-unique'] });
    await gallery.leave(page);
    await assertAccessibleInBothThemes(await alone('settings'), 'settings');
  });

  test('[KIT-2] from 320 pixels to 4k, from left to right and from right to left, nothing is cut off or overlaps', async () => {
    for (const direction of ['ltr', 'rtl'] as const) {
      const page = await gallery.open({ direction, exhibit: 'pre-join' });
      for (const [width, height] of [
        [320, 640],
        [3840, 2160],
      ] as const) {
        await page.setViewportSize({ width, height });
        for (const name of ['pre-join', 'call of 5', 'call, screen share', 'controls']) {
          await show(page, name);
          // The stage measures itself after it is drawn.
          await eventually(
            async () => {
              await assertFits(page, `${name}, ${direction}, ${width}`);
              assert.deepEqual(await overlapping(page), [], `${name}, ${direction}, ${width}`);
            },
            { withinMs: pageMs },
          );
        }
      }
      await gallery.leave(page);
    }
  });

  test('[KIT-5] a menu is used by keyboard alone, and says what is chosen', async () => {
    const page = await alone('controls');
    const button = page.getByRole('button', { name: 'Choose microphone, speaker' });
    await button.focus();
    await page.keyboard.press('Enter');
    const chosen = page.getByRole('menuitemradio', { name: 'Built-in microphone', checked: true });
    await page.waitForFunction((item) => item === document.activeElement, await chosen.elementHandle());
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), 'Headset (USB)');
    await page.keyboard.press('s');
    assert.equal(await focused(), 'Studio microphone');
    // A device that cannot be opened, where nobody asked for errors: nothing in the console, as the last test says.
    await page.keyboard.press('Enter');
    await button.press('Enter');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), 'Built-in microphone', 'from the last to the first');
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('menu').count(), 0);
    assert.ok(await button.evaluate((element) => element === document.activeElement));
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Camera');
  });

  test('[SDK-51] what the host has muted is off in the bar too', async () => {
    const page = await alone('controls, muted by the host');
    const microphone = page.getByRole('button', { name: 'Microphone', exact: true });
    assert.equal(await microphone.getAttribute('aria-pressed'), 'false');
    const camera = page.getByRole('button', { name: 'Camera', exact: true });
    assert.equal(await camera.getAttribute('aria-pressed'), 'true');
  });

  test('[KIT-6] a tile says in words what a picture cannot: muted, speaking, no picture, the connection, a pause, a hand', async () => {
    const page = await gallery.open({ exhibit: 'tile, muted' });
    const saying: Readonly<Record<string, readonly string[]>> = {
      'tile, camera off': ['Grace Hopper sends no picture', 'GH'],
      'tile, muted': ['Muted'],
      'tile, speaking': ['Speaking'],
      'tile, paused for bandwidth': ['Paused: slow connection', 'Connection poor'],
      'tile, hand raised': ['Hand raised'],
      'tile, oneself': ['Ada Lovelace (you)'],
      'tile, screen': ['Screen of Grace Hopper'],
    };
    for (const [name, words] of Object.entries(saying)) {
      await show(page, name);
      const text = await page.locator('.parley-tile').textContent();
      for (const word of words) assert.ok(text?.includes(word), `${name}: ${text}`);
    }
    await show(page, 'tile, camera off');
    assert.equal(await page.locator('video').count(), 0);
    const bars = page.locator('.parley-voice > span:not(.parley-hidden)');
    assert.equal(await bars.count(), 0, 'no bars while silent');
    await show(page, 'tile, speaking');
    assert.equal(await bars.count(), 3);
    const quality = page.locator('.parley-quality');
    assert.ok(await quality.isVisible());
    await page.addStyleTag({ content: '.gallery-tile { width: 190px !important; }' });
    assert.ok(!(await quality.isVisible()), 'a narrow tile shows a bad connection alone');
    await show(page, 'tile, paused for bandwidth');
    assert.ok(await quality.isVisible());
    await gallery.leave(page);
  });

  test('[KIT-4] a shared screen is the largest tile, and a pinned one until it is unpinned', async () => {
    const page = await alone('stage, screen share');
    const largest = () => page.locator('li[data-focus] .parley-tile').getAttribute('data-of');
    assert.equal(await largest(), 'screen');
    await page.getByRole('button', { name: 'Pin Grace Hopper' }).click();
    assert.equal(await largest(), 'camera');
    assert.equal(await page.locator('li[data-focus]', { hasText: 'Grace Hopper' }).count(), 1);
    await page.getByRole('button', { name: 'Unpin Grace Hopper' }).click();
    assert.equal(await largest(), 'screen');
  });

  test('[KIT-7] what is wrong with a device is told apart, and one joins without it', async () => {
    const page = await alone('pre-join, camera refused');
    await page.getByText('This page may not use the camera.').waitFor();
    await page.getByText('Another program is using the microphone.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Join now' }).isEnabled());
  });

  test('[KIT-8] a lost connection, sound that is not played and the end of a call are shown, each with its way out', async () => {
    const page = await alone('notices');
    await page.getByText('Connection lost. Reconnecting…').waitFor();
    await page.getByRole('button', { name: 'Turn on sound' }).waitFor();
    await show(page, 'call, removed');
    await page.getByText('You were removed from the call.').waitFor();
    await page.getByRole('button', { name: 'Join again' }).waitFor();
  });

  test('[KIT-11] a whole call: before it, in it, after it, and joined again', async () => {
    const page = await alone('whole call');
    for (const time of [1, 2]) {
      await page.getByRole('button', { name: 'Microphone' }).click();
      await page.getByRole('button', { name: 'Join now' }).click();
      await page.getByRole('toolbar', { name: 'Call controls' }).waitFor();
      await page.getByText('Nobody else is here yet').waitFor();
      assert.deepEqual(await page.evaluate(() => window.sampleRoom.published), Array(time).fill('microphone'));
      await page.getByRole('button', { name: 'Leave call' }).click();
      await page.getByRole('heading', { name: 'You left the call' }).waitFor();
      await page.getByRole('button', { name: 'Join again' }).click();
    }
    await page.getByRole('button', { name: 'Join now' }).waitFor();
  });

  test('[KIT-11] the lists of devices are those of the room; a room without them has none', async () => {
    const page = await alone('whole call');
    const [list, menu] = [
      page.getByRole('combobox', { name: 'Microphone' }),
      page.getByRole('button', { name: 'Choose microphone, speaker' }),
    ];
    await list.waitFor();
    await page.getByRole('button', { name: 'Join now' }).click();
    await menu.waitFor();
    await show(page, 'whole call, no devices');
    await page.getByRole('button', { name: 'Join now' }).waitFor();
    assert.equal(await list.count(), 0);
    await page.getByRole('button', { name: 'Join now' }).click();
    await page.getByRole('button', { name: 'Camera' }).waitFor();
    assert.equal(await menu.count(), 0);
  });

  test('[KIT-11] without a title there is no heading of a call', async () => {
    const page = await alone('call without a title');
    await page.getByText('2 people').waitFor();
    assert.equal(await page.locator('.parley-call h1').count(), 0);
  });

  test('[KIT-5] letters are no shortcuts in a field of a web component, nor where the application wants none', async () => {
    const page = await alone('whole call');
    const pressed = (): Promise<number> => page.evaluate(() => window.sampleRoom.published.length);
    const join = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Join now' }).click();
      await page.getByText('Nobody else is here yet').waitFor();
    };
    await join();
    await page.keyboard.press('m');
    assert.equal(await pressed(), 1);
    await page.evaluate(() => {
      const host = document.body.appendChild(document.createElement('div'));
      host.attachShadow({ mode: 'open' }).appendChild(document.createElement('input')).focus();
    });
    await page.keyboard.press('m');
    assert.equal(await pressed(), 1);
    await page.locator('body > div:not([id])').evaluate((host) => host.remove());
    await show(page, 'whole call, no devices');
    await join();
    await page.keyboard.press('m');
    assert.equal(await pressed(), 0);
    assert.equal(await page.locator('[aria-keyshortcuts]').count(), 0);
  });

  test('[KIT-11] who may send sound alone has no button for pictures; the own quality is known by identity too', async () => {
    const page = await alone('controls, sound alone');
    await page.getByRole('button', { name: 'Microphone' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Camera|Share screen/ }).count(), 0);
    await show(page, 'own quality');
    await page.getByText('fair fair null').waitFor();
  });

  test('[KIT-9] every text can be replaced', async () => {
    const page = await alone('another language');
    await page.getByRole('button', { name: 'Mikrofon', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Anruf verlassen' }).waitFor();
  });

  test('[KIT-30] a call has its chat beside it: a closed one counts what comes in, and an open one has it all', async () => {
    const page = await alone('call with chat');
    const button = page.getByRole('button', { name: 'Chat', exact: true });
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.waitFor();
    assert.equal(
      await page.getByRole('heading', { name: 'Chat', exact: true }).count(),
      1,
      'the panel says what it is',
    );
    await button.click();
    await field.waitFor({ state: 'hidden' });
    const receive = (text: string, senderId = 'ada') =>
      page.evaluate((message) => window.sampleConversation.receive(message), { text, senderId });
    await receive('one');
    await receive('two');
    await receive('mine', 'me');
    await button.getByText('2', { exact: true }).waitFor();
    const size = page.viewportSize() ?? assert.fail();
    await page.setViewportSize({ width: 390, height: 720 });
    await button.click();
    await page.getByText('two', { exact: true }).waitFor();
    const { width, height } = (await page.locator('.parley-panel:not([hidden])').boundingBox()) ?? {};
    assert.deepEqual([width, height], [390, 720], 'on a phone it has the whole screen');
    assert.ok(!(await page.getByRole('toolbar').isVisible()), 'and what it covers is not in the way of the keyboard');
    assert.ok(
      await page
        .getByRole('heading', { name: 'Chat', exact: true })
        .evaluate((node) => node === document.activeElement),
    );
    await page.getByRole('button', { name: 'Close' }).click();
    await button.waitFor();
    assert.equal(await button.textContent(), '', 'it was read');
    await page.setViewportSize(size);
  });

  test('[KIT-32] what is done to the sound and to the picture is switched in the settings, and the speaker tried', async () => {
    const page = await alone('settings');
    const noise = page.getByRole('checkbox', { name: 'Noise suppression' });
    await noise.uncheck();
    assert.ok(await page.getByRole('checkbox', { name: 'Echo cancellation' }).isChecked());
    assert.ok(!(await page.getByRole('checkbox', { name: 'Automatic volume' }).isChecked()));
    await page.getByRole('checkbox', { name: 'Blur my background' }).waitFor();
    await page.getByRole('button', { name: 'Test the speaker' }).click();
    await page.getByRole('button', { name: 'Test the speaker' }).and(page.locator(':enabled')).waitFor();
  });

  test('[KIT-33] [KIT-38] an error is told in the text of its code, reason or kind, one of the application in its own words', async () => {
    const page = await alone('errors in another language');
    await page.getByRole('status').getByText('Der Anruf ist voll.').waitFor();
    await page.getByText('Something of the application.').waitFor();
    assert.deepEqual(await page.locator('.gallery-problem').allInnerTexts(), [
      'Der Anruf ist voll.',
      'You may not do this here.',
      'That did not work. Try again.',
      'Another program is using the camera.',
    ]);
  });

  test('[KIT-34] a permission that is taken during the call takes its buttons with it', async () => {
    const page = await alone('call without questions');
    const camera = page.getByRole('button', { name: 'Camera', exact: true });
    await camera.and(page.locator(':enabled')).waitFor();
    await page.evaluate(() => window.sampleRoom.allow({ publishVideo: false }));
    await camera.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Microphone', exact: true }).waitFor();
  });

  test('[KIT-35] who was removed does not join again because the component is shown again, only by asking for it', async () => {
    const page = await alone('call without questions');
    await page.getByText('Nobody else is here yet').waitFor();
    await page.evaluate(() => window.sampleRoom.remove());
    await page.getByText('You were removed from the call.').waitFor();
    await page.getByRole('button', { name: 'Take away' }).click();
    await page.getByRole('button', { name: 'Show again' }).click();
    await page.getByText('You were removed from the call.').waitFor();
    await page.getByRole('button', { name: 'Leave call' }).click();
    await page.getByRole('button', { name: 'Join again' }).click();
    await page.getByText('Nobody else is here yet').waitFor();
  });

  test('[KIT-36] a call that is recorded says so above its tiles, in words that can be replaced, and says when it ends', async () => {
    const page = await alone('call, recorded');
    const sign = page.getByRole('status').getByText('Recording', { exact: true });
    await sign.waitFor();
    await eventually(async () => assert.deepEqual(await overlapping(page), []), { withinMs: pageMs });
    const { bottom } = await sign.evaluate((element) => element.getBoundingClientRect().toJSON());
    const tops = await page
      .locator('.parley-tile')
      .evaluateAll((tiles) => tiles.map((one) => one.getBoundingClientRect().top));
    assert.ok(tops.length === 5 && tops.every((top) => top >= bottom), 'no tile is covered');
    await show(page, 'call, recorded, in another language');
    await page.getByRole('status').getByText('Aufnahme', { exact: true }).waitFor();
    await show(page, 'call without questions');
    await page.getByText('Nobody else is here yet').waitFor();
    assert.equal(await sign.count(), 0);
    await page.evaluate(() => window.sampleRoom.record(true));
    await sign.waitFor();
    await page.evaluate(() => window.sampleRoom.record(false));
    await sign.waitFor({ state: 'detached' });
    await page.getByRole('status').getByText('Recording off').waitFor({ state: 'attached' });
  });

  test('[KIT-2] no error in the console', () => assert.deepEqual(gallery.problems, []));
});

/** Pairs of tiles and buttons that cover each other. */
const overlapping = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const boxes = ['.parley-grid li', '.parley-controls button'].flatMap((selector) =>
      [...document.querySelectorAll(selector)].map((element) => ({
        name: `${selector} ${element.textContent ?? ''}`,
        box: element.getBoundingClientRect(),
      })),
    );
    return boxes.flatMap(({ name, box }, index) =>
      boxes
        .slice(index + 1)
        .filter(
          ({ box: other }) =>
            box.left < other.right - 1 &&
            other.left < box.right - 1 &&
            box.top < other.bottom - 1 &&
            other.top < box.bottom - 1,
        )
        .map((other) => `${name} and ${other.name}`),
    );
  });
