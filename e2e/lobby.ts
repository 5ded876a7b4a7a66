import type { Page } from 'playwright-core';
import { sharedChromium } from './browser.ts';

const waiting = { timeout: 90_000 };

/** Two pages of the application of `parley init`: they see each other, raise a hand and chat, by the kit's components. */
export async function meetInLobby(url: string): Promise<void> {
  const context = await (await sharedChromium()).newContext({ viewport: { width: 1280, height: 720 } });
  const enter = async (user: string): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(url);
    await page.getByLabel('Your name').fill(user, waiting);
    await page.getByRole('button', { name: 'Join now' }).click();
    await page.locator('.parley-call[data-connection=connected]').waitFor(waiting);
    return page;
  };
  const ada = await enter('Ada Lovelace');
  const bob = await enter('bob');
  for (const page of [ada, bob])
    await page.waitForFunction(
      () => [...document.querySelectorAll('video')].filter(({ videoWidth }) => videoWidth > 0).length === 2,
      undefined,
      waiting,
    );
  await ada.getByRole('button', { name: 'Raise hand' }).click();
  await bob
    .getByText('Ada Lovelace raised a hand')
    .first()
    .waitFor({ state: 'attached', ...waiting });
  await ada.getByRole('textbox', { name: 'Message' }).fill('hello from ada', waiting);
  await ada.keyboard.press('Enter');
  await bob.getByRole('log').getByText('hello from ada').waitFor(waiting);
  await context.close();
}
