import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { codeAt, stepMs } from '../apps/server/testkit/clients/factors.ts';
import { createFakeClock, type FakeClock } from '../apps/server/testkit/kit/fake-clock.ts';
import type { Person } from '../apps/server/testkit/kit/people.ts';
import { assertAccessibleInBothThemes } from './accessibility.ts';
import { skipWithoutBrowser } from './browser.ts';
import { assertFits, type DashboardKit, startDashboard, type Visit } from './dashboard-kit.ts';

/** What the test brings about itself: refused calls. */
const ownDoing = /Failed to load resource/;
const minuteMs = 60_000;

describe('two-factor sign-in in the dashboard', { skip: skipWithoutBrowser() }, () => {
  let kit: DashboardKit;
  let clock: FakeClock;
  before(async () => {
    clock = createFakeClock(Date.now());
    kit = await startDashboard({ clock });
  });
  afterEach(() => kit?.leave());
  after(() => kit?.close());

  const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();

  async function signIn(page: Page, { email, password }: Person): Promise<void> {
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  /** An authenticator of the browser that says yes at once. */
  async function withAuthenticator({ context, page }: Visit): Promise<void> {
    const devtools = await context.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
  }

  /** Closes the dialog of recovery codes and gives them. */
  async function storeCodes(page: Page): Promise<string[]> {
    const dialog = page.getByRole('dialog', { name: 'Your recovery codes' });
    const text = await dialog.getByLabel('recovery codes', { exact: true }).textContent();
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    return (text ?? '').split('\n');
  }

  /** Turns an authenticator app on, with a look at its dialogs; gives its secret and the recovery codes. */
  async function setUpApp(
    page: Page,
    look: (page: Page, what: string) => Promise<void> = async () => {},
  ): Promise<{ secret: string; codes: string[] }> {
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set up an authenticator app' });
    const secret = (await dialog.getByText(/^[A-Z2-7]{32}$/).textContent()) ?? '';
    const code = dialog.getByRole('img', { name: /^QR image of the key/ });
    assert.ok(((await code.locator('path').getAttribute('d')) ?? '').length > 1_000);
    await dialog.getByLabel('Code').fill('12');
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByText('Enter the six digits that the app shows.').waitFor();
    await dialog.getByLabel('Code').fill(codeAt(secret, clock.now()));
    await look(page, 'setting up an app');
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('dialog', { name: 'Your recovery codes' }).waitFor();
    await look(page, 'recovery codes');
    const codes = await storeCodes(page);
    await clock.advance(stepMs);
    return { secret, codes };
  }

  test('[DASH-18] [DASH-55] an app is set up on the account page; then signing in has a second step, and the log says so', async () => {
    const person = await kit.service.newPerson();
    const visit = await kit.visit({ width: 320 });
    const { page } = visit;
    await page.goto('/account');
    await signIn(page, person);
    await heading(page, 'Account');
    const { secret, codes } = await setUpApp(page, assertAccessibleInBothThemes);
    assert.equal(codes.length, 10);
    await page.getByText('10 left.').waitFor();
    await assertFits(page, 'the account page');
    await assertAccessibleInBothThemes(page, 'the account page with an app');
    visit.assertClean({ expected: ownDoing });

    await kit.leave();
    const second = await kit.visit();
    await second.page.goto('/account');
    await signIn(second.page, person);
    const step = second.page.getByRole('dialog', { name: 'Second step' });
    await step.getByLabel('Code').fill('000000');
    await step.getByRole('button', { name: 'Continue' }).click();
    await step.getByText('is not right, or was used already').waitFor();
    await assertAccessibleInBothThemes(second.page, 'the second step');
    await step.getByLabel('Code').fill(codeAt(secret, clock.now()));
    await step.getByRole('button', { name: 'Continue' }).click();
    await heading(second.page, 'Account');
    second.assertClean({ expected: ownDoing });

    await kit.leave();
    const third = await kit.visit();
    await third.page.goto('/account');
    await signIn(third.page, person);
    await third.page.getByRole('button', { name: 'Use a recovery code' }).click();
    await third.page.getByLabel('Recovery code').fill(codes[0] ?? '');
    await third.page.getByRole('button', { name: 'Continue' }).click();
    await heading(third.page, 'Account');
    await third.page.getByText('9 left.').waitFor();
    const log = third.page.getByRole('table', { name: 'What happened to your account, newest first' });
    for (const entry of ['A second factor was added', 'A second factor was wrong', 'Signed in'])
      await log.getByText(entry).first().waitFor();
    third.assertClean({ expected: ownDoing });
  });

  test('[DASH-18] a passkey is added, is the second step, signs in alone, and is removed', async () => {
    const person = await kit.service.newPerson();
    const visit = await kit.visit({ isLast: true });
    const { page } = visit;
    await withAuthenticator(visit);
    await page.goto('/account');
    await signIn(page, person);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
    await dialog.getByLabel('Name').fill('Test laptop');
    await assertAccessibleInBothThemes(page, 'adding a passkey');
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    assert.equal((await storeCodes(page)).length, 10);
    await page.getByRole('list', { name: 'Your passkeys' }).getByText('Test laptop', { exact: true }).waitFor();

    const signOut = async () => {
      await page.getByRole('region', { name: 'Profile' }).getByRole('button', { name: 'Sign out' }).click();
      await heading(page, 'Sign in');
    };
    await signOut();
    await signIn(page, person);
    await page.getByRole('dialog', { name: 'Second step' }).getByRole('button', { name: 'Use a passkey' }).click();
    await heading(page, 'Account');
    await signOut();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await heading(page, 'Account');

    await page.getByRole('button', { name: 'Rename Test laptop' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Old laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Remove Old laptop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('list', { name: 'Your passkeys' }).waitFor({ state: 'detached' });
    await kit.service.as().call('login', { body: { email: person.email, password: person.password } });
    visit.assertClean({ expected: ownDoing });
  });

  test('[DASH-19] archiving asks again who is there, and goes on by itself', async () => {
    const person = await kit.service.newPerson();
    const project = await person.api.call('createProject', { body: { name: 'Old things' } });
    const visit = await kit.visit();
    const { page } = visit;
    await page.goto('/account');
    await signIn(page, person);
    const { secret } = await setUpApp(page);
    clock.jump(11 * minuteMs);
    await page.goto(`/p/${project.id}/settings`);
    await page.getByRole('button', { name: 'Archive project' }).click();
    await page.getByLabel('Type Old things to confirm').fill('Old things');
    await page.getByRole('dialog').getByRole('button', { name: 'Archive project' }).click();
    const proof = page.getByRole('dialog', { name: 'Is it you?' });
    await proof.waitFor();
    await assertAccessibleInBothThemes(page, 'a step-up');
    await proof.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('alert').getByText('SVC_STEP_UP_REQUIRED').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive project' }).click();
    await proof.getByLabel('Code').fill(codeAt(secret, clock.now()));
    await proof.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Archived' }).waitFor();
    visit.assertClean({ expected: ownDoing });
  });

  test('[DASH-19] a project that requires a second factor says so, and opens with it', async () => {
    const [owner, member] = [await kit.service.newPerson(), await kit.service.newPerson()];
    const project = await owner.api.call('createProject', { body: { name: 'Vault' } });
    await owner.api.call('addProjectMember', {
      projectId: project.id,
      body: { email: member.email, role: 'DEVELOPER' },
    });
    const visit = await kit.visit();
    const { page } = visit;
    await page.goto(`/p/${project.id}/settings`);
    await signIn(page, owner);
    await page.getByRole('button', { name: 'Require a second factor' }).click();
    await page.getByRole('alert').getByRole('link', { name: 'Set one up in your account' }).click();
    await setUpApp(page);
    await page.goto(`/p/${project.id}/settings`);
    await page.getByRole('button', { name: 'Require a second factor' }).click();
    await page.getByText('Required', { exact: true }).waitFor();
    await assertAccessibleInBothThemes(page, 'a secured project');
    visit.assertClean({ expected: ownDoing });

    await kit.leave();
    const other = await kit.visit();
    await other.page.goto(`/p/${project.id}/overview`);
    await signIn(other.page, member);
    const notice = other.page.getByRole('alert').filter({ hasText: 'SVC_PROJECT_REQUIRES_SECOND_FACTOR' });
    await notice.waitFor();
    await assertAccessibleInBothThemes(other.page, 'a project behind a second factor');
    await notice.getByRole('link', { name: 'Set one up in your account' }).click();
    await setUpApp(other.page);
    await other.page.goto(`/p/${project.id}/overview`);
    await heading(other.page, 'Overview');
    other.assertClean({ expected: ownDoing });
  });
});
