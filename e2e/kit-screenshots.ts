/**
 * Pictures of `@parley/react` from its gallery: `node e2e/kit-screenshots.ts [folder] [name…]`. Without a folder it renews
 * those of the documentation.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { stopShared } from '../apps/server/testkit/kit/worker-life.ts';
import { type OpenOptions, openGallery } from './gallery-kit.ts';

const [folder = 'docs/screenshots', ...named] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const desk: OpenOptions = { viewport: { width: 1280, height: 720 } };
const square: OpenOptions = { viewport: { width: 720, height: 720 } };
const narrow: OpenOptions = { viewport: { width: 360, height: 400 }, deviceScaleFactor: 2 };
const phone: OpenOptions = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true };

async function openSettings(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Settings' }).click();
  await page.getByRole('dialog').waitFor();
}

/** Where pictures are taken there may be no font for them. */
async function hideEmoji(page: Page): Promise<void> {
  await page.addStyleTag({ content: '.parley-reactions { display: none }' });
}

/** A call has a dark ground in both themes; what follows the page is shown in both. */
const pictures: readonly (readonly [file: string, options: OpenOptions, open?: (page: Page) => Promise<void>])[] = [
  ...(['light', 'dark'] as const).flatMap((theme) => [
    [`pre-join-${theme}`, { ...desk, exhibit: 'pre-join', theme }] as const,
    [`call-people-${theme}`, { ...desk, exhibit: 'call with people', theme }] as const,
    [`call-chat-${theme}`, { ...desk, exhibit: 'call with chat', theme }] as const,
    [`call-settings-${theme}`, { ...desk, exhibit: 'call of 5', theme }, openSettings] as const,
    [`chat-${theme}`, { ...square, exhibit: 'chat', theme }, hideEmoji] as const,
    [`conversations-${theme}`, { ...narrow, exhibit: 'conversations', theme }] as const,
  ]),
  ...[1, 2, 5, 12, 25].map((count) => [`call-${count}`, { ...desk, exhibit: `call of ${count}` }] as const),
  ['call-screen-share', { ...desk, exhibit: 'call, screen share' }],
  ['call-phone', { ...phone, exhibit: 'call of 5' }],
  ['call-phone-screen-share', { ...phone, exhibit: 'call, screen share' }],
  ['call-phone-chat', { ...phone, exhibit: 'call with chat' }],
  ['chat-phone', { ...phone, viewport: { width: 390, height: 720 }, exhibit: 'chat' }, hideEmoji],
  ['stream', { viewport: { width: 640, height: 360 }, deviceScaleFactor: 2, exhibit: 'stream-live' }],
  ['pre-join-phone', { ...phone, exhibit: 'pre-join' }],
];

const gallery = await openGallery();
for (const [file, options, open] of pictures.filter(([file]) => named.length === 0 || named.includes(file))) {
  const page = await gallery.open(options);
  // Every picture of a person is there.
  await page.waitForFunction(() => [...document.querySelectorAll('video')].every((video) => video.readyState >= 2));
  await open?.(page);
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, `${file}.png`) });
  await page.close();
}
console.log(gallery.problems);
await gallery.close();
await stopShared();
