import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { Person } from '../apps/server/testkit/kit/people.ts';
import { startReceiver, type TestReceiver } from '../apps/server/testkit/peers/receiver.ts';
import { skipWithoutBrowser } from './browser.ts';
import { type DashboardKit, startDashboard, type Visit } from './dashboard-kit.ts';

const stepsMax = 80;

/** Walks with Tab until the focus is there; what is reached shows that it is. */
async function tabTo(target: Locator): Promise<void> {
  const page = target.page();
  const one = target.first();
  await one.waitFor();
  const look = () => one.evaluate((element) => [element === document.activeElement, element.matches(':focus-visible')]);
  for (let step = 0; ; step += 1) {
    const [hasFocus, isShown] = await look();
    if (hasFocus) return assert.ok(isShown, `no focus ring on ${target}`);
    assert.ok(step < stepsMax, `Tab does not lead to ${target}`);
    await page.keyboard.press('Tab');
  }
}

/** Walks there and presses Enter. */
async function press(target: Locator): Promise<void> {
  await tabTo(target);
  await target.page().keyboard.press('Enter');
}

/** Walks there and types. */
async function type(target: Locator, text: string): Promise<void> {
  await tabTo(target);
  await target.page().keyboard.type(text);
}

const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor();

describe('dashboard by keyboard', { skip: skipWithoutBrowser() }, () => {
  let kit: DashboardKit;
  let receiver: TestReceiver;
  let person: Person;
  let visit: Visit;
  let page: Page;
  before(async () => {
    kit = await startDashboard();
    receiver = await startReceiver();
    person = await kit.service.newPerson();
    visit = await kit.visit();
    page = visit.page;
    page.setDefaultTimeout(15_000);
  });
  after(async () => {
    visit?.assertClean({ expected: /Failed to load resource/ });
    await receiver?.close();
    await kit?.close();
  });

  /** `g` and a letter. */
  async function go(letter: string, name: string): Promise<void> {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    await heading(page, name);
  }

  test('[DASH-40] 1: sign in', async () => {
    await page.goto('/login');
    await page.getByLabel('E-mail').waitFor();
    await page.keyboard.type(person.email);
    await type(page.getByLabel('Password', { exact: true }), person.password);
    await page.keyboard.press('Enter');
    await heading(page, 'Projects');
  });

  test('[DASH-40] 2: create a project', async () => {
    await type(page.getByLabel('Project name'), 'Keys only');
    await page.keyboard.press('Enter');
    await heading(page, 'Overview');
  });

  test('[DASH-40] 3: create an API key, and keep it', async () => {
    await go('k', 'API keys');
    // The button moves when the answer is there.
    await page.getByText('No API key for development yet').waitFor();
    await press(page.getByRole('button', { name: 'New key' }));
    await type(page.getByRole('dialog').getByLabel('Name'), 'Backend');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'API key Backend' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    assert.ok(await dialog.isVisible(), 'what is shown once is not lost by a key');
    await press(dialog.getByRole('button', { name: 'Copy API key' }));
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^svk_dev_/);
    await tabTo(dialog.getByLabel('I have stored it'));
    await page.keyboard.press('Space');
    await press(dialog.getByRole('button', { name: 'Done' }));
    await page.getByRole('cell', { name: 'Backend', exact: true }).waitFor();
  });

  test('[DASH-40] 4: create a room, find it and copy its id', async () => {
    await go('r', 'Rooms');
    await type(page.getByLabel('Room name'), 'standup');
    await page.keyboard.press('Enter');
    await heading(page, 'standup');
    await go('r', 'Rooms');
    await page.getByRole('link', { name: 'standup' }).waitFor();
    await page.keyboard.press('/');
    // The rows of the answer take the place of those before, and of a choice among them.
    const filtered = page.waitForResponse(/\/rooms\?.*=stand(&|$)/);
    await page.keyboard.type('stand');
    await filtered;
    await page.getByRole('link', { name: 'standup' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('j');
    await page.keyboard.press('c');
    await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith('room_'));
    await page.keyboard.press('Enter');
    await heading(page, 'standup');
  });

  test('[DASH-40] 5: close the room', async () => {
    await press(page.getByRole('button', { name: 'Close room' }));
    const dialog = page.getByRole('dialog');
    await press(dialog.getByRole('button', { name: 'Close room' }));
    await page.getByText('This room is closed').waitFor();
  });

  test('[DASH-40] 6: create a stream and end it', async () => {
    await go('l', 'Live streams');
    await type(page.getByLabel('Title'), 'Launch');
    await type(page.getByLabel('Host identity'), 'ada');
    await page.keyboard.press('Enter');
    await heading(page, 'Launch');
    await press(page.getByRole('button', { name: 'End stream' }));
    const dialog = page.getByRole('dialog');
    await type(dialog.getByLabel('Type Launch to confirm'), 'Launch');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('An ended stream does not start again').waitFor();
  });

  test('[DASH-40] 7: register an endpoint, send it a test event and look at the delivery', async () => {
    await go('w', 'Webhooks');
    await page.getByText('No endpoint for development yet').waitFor();
    await press(page.getByRole('button', { name: 'New endpoint' }));
    await type(page.getByRole('dialog').getByLabel('URL'), receiver.url);
    await page.keyboard.press('Enter');
    const secret = page.getByRole('dialog').filter({ hasText: 'I have stored it' });
    await tabTo(secret.getByLabel('I have stored it'));
    await page.keyboard.press('Space');
    await press(secret.getByRole('button', { name: 'Done' }));
    await press(page.getByRole('link', { name: receiver.url }));
    await heading(page, receiver.url);
    await press(page.getByRole('button', { name: 'Send test event' }));
    await press(page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }));
    const delivery = page.getByRole('cell', { name: 'Delivered' });
    await delivery.waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Delivery' }).getByText('Answered 204').waitFor();
    await page.keyboard.press('Escape');
  });

  test('[DASH-40] 8: invite a member', async () => {
    await go('m', 'Members');
    await page.getByText('(you)').waitFor();
    await press(page.getByRole('button', { name: /Invite|Add/ }));
    const dialog = page.getByRole('dialog');
    await type(dialog.getByLabel('E-mail'), 'grace@example.com');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('grace@example.com').first().waitFor();
  });

  test('[DASH-40] 9: switch the environment, and see which one it is', async () => {
    await tabTo(page.getByRole('radio', { name: 'Development' }));
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/env=production/);
    await go('k', 'API keys');
    await page.getByText('No API key for production yet').waitFor();
    await tabTo(page.getByRole('radio', { name: 'Production' }));
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL(/env=development/);
  });

  test('[DASH-97] a user is muted in all chat, and the mute lifted', async () => {
    await go('b', 'Moderation');
    await tabTo(page.getByRole('tab', { name: 'Reports' }));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.getByText('Nobody is muted in all chat').waitFor();
    await press(page.getByRole('button', { name: 'Mute a user' }));
    const dialog = page.getByRole('dialog');
    await type(dialog.getByLabel('User id'), 'trudy');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Lift for trudy' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await press(dialog.getByRole('button', { name: 'Lift' }));
    await page.getByText('Nobody is muted in all chat').waitFor();
  });

  test('[DASH-40] 10: find anything with the palette: a page, and the other theme', async () => {
    const search = page.getByRole('combobox', { name: 'Search pages, projects and actions' });
    await page.keyboard.press('Control+k');
    await type(search, 'audit');
    await page.keyboard.press('Enter');
    await heading(page, 'Audit log');
    await page.getByRole('button', { name: /created the project/ }).waitFor();
    await page.keyboard.press('Control+k');
    await type(search, 'dark');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('[DASH-41] letters do nothing where somebody types, nor when they are switched off', async () => {
    await page.goto('/account');
    await heading(page, 'Account');
    await tabTo(page.getByLabel('Single-letter shortcuts'));
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => (localStorage.getItem('parley.preferences') ?? '').includes('"shortcuts":"off"'));
    await page.keyboard.press('Tab');
    await page.keyboard.press('?');
    assert.equal(await page.getByRole('dialog').count(), 0);
    await tabTo(page.getByLabel('Single-letter shortcuts'));
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Tab');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });
});
