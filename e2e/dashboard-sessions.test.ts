import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { mailedToken, newEmail } from '../apps/server/testkit/clients/visitor.ts';
import { eventually, pageMs } from '../apps/server/testkit/kit/eventually.ts';
import { openPort } from '../apps/server/testkit/kit/ports.ts';
import { type GithubPeer, startGithubPeer } from '../apps/server/testkit/peers/github-peer.ts';
import { type OidcPeer, startOidcPeer } from '../apps/server/testkit/peers/oidc-peer.ts';
import { assertAccessibleInBothThemes } from './accessibility.ts';
import { skipWithoutBrowser } from './browser.ts';
import { assertFits, type DashboardKit, startDashboard } from './dashboard-kit.ts';

const password = 'correct horse battery';
const github = { clientId: 'gh', clientSecret: 'gh-secret' };
/** What the test brings about itself: refused calls, and pages of a provider. */
const ownDoing = /Failed to load resource|request to another origin/;
const minuteMs = 60_000;

/** The cursor follows what is said a moment later. */
const hasFocus = (page: Page, label: string) => page.getByLabel(label).and(page.locator(':focus')).waitFor();

describe('dashboard sessions', { skip: skipWithoutBrowser() }, () => {
  let kit: DashboardKit;
  let oidc: OidcPeer;
  let hub: GithubPeer;
  before(async () => {
    const open = await openPort();
    const origin = `http://localhost:${open.port}`;
    [oidc, hub] = await Promise.all([startOidcPeer([`${origin}/oauth/oidc`]), startGithubPeer(github)]);
    kit = await startDashboard({
      open,
      env: {
        PUBLIC_URL: origin,
        AUTH_REQUIRE_VERIFIED_EMAIL: 'true',
        OAUTH_OIDC_ISSUER: oidc.issuer,
        OAUTH_OIDC_CLIENT_ID: oidc.clientId,
        OAUTH_OIDC_CLIENT_SECRET: oidc.clientSecret,
        OAUTH_GITHUB_CLIENT_ID: github.clientId,
        OAUTH_GITHUB_CLIENT_SECRET: github.clientSecret,
        OAUTH_GITHUB_URL: hub.url,
        OAUTH_GITHUB_API_URL: hub.url,
      },
    });
  });
  afterEach(() => kit?.leave());
  after(async () => {
    await kit?.close();
    await oidc?.close();
    await hub?.close();
  });

  test('[AUTH-37] the page of the printed link makes the first account, by keyboard alone', async () => {
    const link = await kit.service.service.accounts.renewFirstAccountLink('test:0');
    const visit = await kit.visit();
    const { page } = visit;
    await visit.open(new URL(link ?? '/').pathname + new URL(link ?? '/').search, 'Create the first account');
    assert.ok(!page.url().includes('token='), 'the token is out of the address');
    await assertAccessibleInBothThemes(page, 'first account');
    await assertFits(page, 'first account');
    for (const text of ['Ada', newEmail('first'), 'correct horse battery']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await page.getByLabel('Password', { exact: true }).focus();
    await page.keyboard.press('Enter');
    await projects(page).waitFor();
    visit.assertClean();
    await kit.leave();
    const late = await kit.visit();
    await late.open(`/first-account?token=${'x'.repeat(43)}`, 'Create the first account');
    await late.page.getByLabel('E-mail').fill(newEmail());
    await late.page.getByLabel('Password', { exact: true }).fill(password);
    await late.page.keyboard.press('Enter');
    await late.page.getByRole('alert').getByText('Restart the server for a new one').waitFor();
  });

  /** An account whose address is proven, made through the API. */
  async function newAccount(): Promise<string> {
    const email = newEmail();
    const api = kit.service.as();
    await api.call('register', { body: { email, password } });
    await api.call('verifyEmail', { body: { token: await mailedToken(kit.service, email) } });
    return email;
  }

  async function signIn(page: Page, email: string, secret = password): Promise<void> {
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(secret);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  const projects = (page: Page) => page.getByRole('heading', { name: 'Projects', level: 1 });

  test('[DASH-10] registering ends at the mailbox; the page it leads to acts on a click, takes the password, and works once', async () => {
    const visit = await kit.visit();
    const { page } = visit;
    await visit.open('/register', 'Create an account');
    await assertAccessibleInBothThemes(page, 'register');
    const email = newEmail();
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Enter your e-mail address.').waitFor();
    await hasFocus(page, 'E-mail');
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
    await assertAccessibleInBothThemes(page, 'check your mail');

    await page.getByRole('link', { name: 'Sign in instead' }).click();
    await signIn(page, email);
    await page.getByRole('alert').getByText('SVC_EMAIL_NOT_VERIFIED').waitFor();
    await page.getByRole('button', { name: 'Send the verification mail again' }).click();
    await page.getByText('A new link is on its way').waitFor();

    await mailedToken(kit.service, email, 2);
    await page.goto('/dev/mail');
    await assertAccessibleInBothThemes(page, 'the development mailbox');
    const link = page.getByRole('group').filter({ hasText: email }).first().getByRole('link');
    const address = (await link.getAttribute('href')) ?? '';
    await link.click();
    await page.getByText(email).waitFor();
    assert.doesNotMatch(page.url(), /token/, 'the token stays in no history');
    await assertAccessibleInBothThemes(page, 'confirm your address');
    const api = kit.service.as();
    await assert.rejects(
      api.call('login', { body: { email, password } }),
      /Verify the e-mail address/,
      'loading the page is no proof',
    );
    await page.getByLabel('Password', { exact: true }).fill('chosen on this page');
    await page.getByRole('button', { name: 'Confirm and sign in' }).click();
    await projects(page).waitFor();
    await assert.rejects(api.call('login', { body: { email, password } }), /E-mail or password is wrong/);
    await api.call('login', { body: { email, password: 'chosen on this page' } });

    visit.assertClean({ expected: ownDoing });
    await kit.leave();
    const second = await kit.visit();
    await second.page.goto(address);
    await second.page.getByRole('alert').getByText('SVC_INVALID_TOKEN_LINK').waitFor();
    second.assertClean({ expected: ownDoing });
  });

  test('[DASH-11] signing in: wrong is wrong alike, a deep link is kept, and nobody else’s next', async () => {
    const email = await newAccount();
    const visit = await kit.visit({ width: 320 });
    const { page } = visit;
    await page.goto('/account?x=1');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await hasFocus(page, 'E-mail');
    await assertFits(page, 'sign in');
    await assertAccessibleInBothThemes(page, 'sign in');
    const says: string[] = [];
    for (const who of [email, newEmail('unknown')]) {
      await signIn(page, who, 'not the password');
      const notice = page.getByRole('alert');
      await notice.getByText('SVC_INVALID_CREDENTIALS').waitFor();
      says.push(((await notice.textContent()) ?? '').replace(/req_\w+/, ''));
    }
    assert.equal(says[0], says[1], 'the answer tells an address that is known from one that is not');
    await signIn(page, email);
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    assert.match(page.url(), /\/account\?x=1$/);
    await page.getByText('This one').waitFor();
    await page.goto('/login?next=https://evil.example');
    await projects(page).waitFor();
    visit.assertClean({ expected: ownDoing });
  });

  test('[DASH-12] a new password through the mailbox ends every other session; its page stays and goes on after signing in', async () => {
    const email = await newAccount();
    const other = await kit.visit({ isLast: true });
    await other.context.clock.install();
    await other.page.goto('/account');
    await signIn(other.page, email);
    await other.page.getByText('This one').waitFor();

    const visit = await kit.visit();
    const { page } = visit;
    await visit.open('/login', 'Sign in');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByRole('status').getByText('If the address has an account').waitFor();
    const token = await mailedToken(kit.service, email, 2);
    await visit.open(`/reset-password?token=${token}`, 'Set a new password');
    await assertAccessibleInBothThemes(page, 'reset');
    await page.getByLabel('New password').fill('another horse battery');
    await page.getByRole('button', { name: 'Set password' }).click();
    await projects(page).waitFor();

    await other.page.clock.fastForward(31_000);
    const dialog = other.page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.waitFor();
    await assertAccessibleInBothThemes(other.page, 'an ended session');
    assert.ok(await other.page.getByRole('heading', { name: 'Account' }).isVisible(), 'the page stays');
    await dialog.getByLabel('Password', { exact: true }).fill('another horse battery');
    await other.page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await other.page.getByText('This one').waitFor();
    for (const one of [visit, other]) one.assertClean({ expected: ownDoing });
  });

  test('[DASH-13] signing in with a provider comes back to where the person was; a refusal is said', async () => {
    const email = newEmail('oidc');
    oidc.signIn('subject-1', { email, email_verified: true, name: 'Ada' });
    const visit = await kit.visit();
    const { page } = visit;
    await page.goto('/account');
    await page.getByRole('button', { name: /^Continue with (?!GitHub)/ }).click();
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
    await page.getByRole('main').getByText(email).waitFor();
    assert.doesNotMatch(page.url(), /code=|state=/);
    visit.assertClean({ expected: ownDoing });

    await kit.leave();
    const second = await kit.visit();
    const address = newEmail('hub');
    await answerAsGithub(second.context, { email: address, isAgreed: true });
    await second.page.goto('/login');
    await second.page.getByRole('button', { name: 'Continue with GitHub' }).click();
    await projects(second.page).waitFor();
    second.assertClean({ expected: ownDoing });

    await kit.leave();
    const third = await kit.visit();
    await answerAsGithub(third.context, { email: address, isAgreed: false });
    await third.page.goto('/login');
    await third.page.getByRole('button', { name: 'Continue with GitHub' }).click();
    await third.page.getByRole('alert').getByText('The provider did not sign you in').waitFor();
    third.assertClean({ expected: ownDoing });
  });

  /** GitHub's own page, on which somebody agrees or does not. */
  async function answerAsGithub(context: BrowserContext, who: { email: string; isAgreed: boolean }): Promise<void> {
    await context.route(`${hub.url}/login/oauth/authorize**`, async (route) => {
      const url = route.request().url();
      const asked = new URL(url).searchParams;
      const back = new URL(asked.get('redirect_uri') ?? '');
      const emails = [{ email: who.email, primary: true, verified: true }];
      const answer = who.isAgreed
        ? hub.authorize(url, { id: 7, login: 'grace', emails })
        : { error: 'access_denied', state: asked.get('state') ?? '' };
      for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
      await route.fulfill({ status: 302, headers: { location: String(back) } });
    });
  }

  test('[DASH-14] a token is renewed before it ends, once for all tabs, and nobody notices', async () => {
    const email = await newAccount();
    const visit = await kit.visit({ isLast: true });
    const { page, context } = visit;
    await context.clock.install();
    const refreshes: string[] = [];
    context.on('request', (request) => {
      if (request.url().endsWith('/v1/auth/refresh')) refreshes.push(request.url());
    });
    await page.goto('/projects');
    await signIn(page, email);
    await projects(page).waitFor();
    const second = await context.newPage();
    await second.goto('/projects');
    await projects(second).waitFor();
    const before = refreshes.length;
    await page.clock.fastForward(14.5 * minuteMs);
    await eventually(() => assert.ok(refreshes.length > before, 'nobody renewed'), { withinMs: pageMs });
    for (const one of [page, second]) {
      await one.clock.fastForward(31_000);
      await projects(one).waitFor();
      assert.equal(await one.getByRole('dialog').count(), 0);
    }
    assert.equal(refreshes.length, before + 1, 'each tab renewed by itself');
    visit.assertClean();
  });

  test('[DASH-15] signing out in one tab signs out the others; everywhere ends other browsers too', async () => {
    const email = await newAccount();
    const visit = await kit.visit();
    const { page, context } = visit;
    await page.goto('/account');
    await signIn(page, email);
    await page.getByText('This one').waitFor();
    const tab = await context.newPage();
    await tab.goto('/projects');
    await projects(tab).waitFor();

    const far = await kit.visit({ isLast: true });
    await far.context.clock.install();
    await far.page.goto('/projects');
    await signIn(far.page, email);
    await projects(far.page).waitFor();

    await page.reload();
    const sessions = page.locator('section[aria-labelledby="sessions"]').getByRole('row');
    await eventually(
      async () => assert.equal(await sessions.count(), 4, 'these two, that of the link in the mail, and a head'),
      { withinMs: pageMs },
    );
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    for (const one of [page, tab]) await one.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    await far.page.clock.fastForward(31_000);
    await far.page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    await far.page.getByRole('button', { name: 'Leave this page and sign out' }).click();
    await far.page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    for (const one of [visit, far]) one.assertClean({ expected: ownDoing });
  });

  test('[DASH-17] the account page changes the password with the current one; what is refused is said at its field', async () => {
    const email = await newAccount();
    const visit = await kit.visit();
    const { page } = visit;
    await page.goto('/account');
    await signIn(page, email);
    await page.getByText('This one').waitFor();
    const change = async (current: string, next: string) => {
      await page.getByLabel('Current password').fill(current);
      await page.getByLabel('New password').fill(next);
      await page.getByRole('button', { name: 'Change password' }).click();
    };
    await change('not the password', 'another horse battery');
    await page.getByText('The current password is wrong.').waitFor();
    await hasFocus(page, 'Current password');
    await change(password, 'password123');
    await page.getByText('among the first that attackers try').waitFor();
    await change(password, 'another horse battery');
    await page.getByRole('status').getByText('Password changed.').waitFor();
    await kit.service.as().call('login', { body: { email, password: 'another horse battery' } });
    visit.assertClean({ expected: ownDoing });
  });
});

describe('dashboard registration', { skip: skipWithoutBrowser() }, () => {
  test('[DASH-16] where registration is not open to all, the pages say so', async () => {
    const closed = await startDashboard({ env: { REGISTRATION: 'closed' } });
    const invite = await startDashboard({ env: { REGISTRATION: 'invite', REGISTRATION_DOMAINS: 'example.com' } });
    const stranger = await closed.visit();
    await stranger.open('/login', 'Sign in');
    await stranger.page.getByRole('link', { name: 'Create an account' }).waitFor({ state: 'detached' });
    await stranger.open('/register', 'Registration is closed');
    await assertAccessibleInBothThemes(stranger.page, 'closed registration');
    const guest = await invite.visit();
    await guest.open('/login', 'Sign in');
    await guest.page.getByRole('link', { name: 'Create an account' }).click();
    await guest.page.getByText('Accounts here are by invitation').waitFor();
    await guest.page.getByText('An address of example.com.').waitFor();
    await assertAccessibleInBothThemes(guest.page, 'registration by invitation');
    for (const visit of [stranger, guest]) visit.assertClean();
    await closed.close();
    await invite.close();
  });
});
