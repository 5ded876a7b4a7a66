import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { mailedToken, newEmail } from '../apps/server/testkit/clients/visitor.ts';
import { eventually, pageMs } from '../apps/server/testkit/kit/eventually.ts';
import type { TestService } from '../apps/server/testkit/kit/service.ts';
import { assertAccessible, assertAccessibleInBothThemes } from './accessibility.ts';
import { skipWithoutBrowser } from './browser.ts';
import { assertFits, type DashboardKit, startCallingDashboard } from './dashboard-kit.ts';

/** A minute is promised; a machine that is busy with other tests gets three. */
const journeyMs = 180_000;

describe('a test call in the dashboard', { skip: skipWithoutBrowser() }, () => {
  let kit: DashboardKit<TestService>;
  before(async () => {
    kit = await startCallingDashboard({ env: { AUTH_REQUIRE_VERIFIED_EMAIL: 'true' } });
  });
  after(() => kit?.close());

  /** The picture of somebody moves: frames go on being decoded, and no two looks at it are the same. */
  async function assertMoves(page: Page, name: RegExp): Promise<void> {
    const video = page.getByLabel(name).first();
    await video.waitFor();
    const look = () =>
      video.evaluate((element: HTMLVideoElement) => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 36 });
        const context = canvas.getContext('2d');
        context?.drawImage(element, 0, 0, 64, 36);
        const pixels = context?.getImageData(0, 0, 64, 36).data ?? [];
        return { width: element.videoWidth, sum: pixels.join() };
      });
    const first = await eventually(
      async () => {
        const seen = await look();
        if (seen.width === 0) throw new Error('no picture yet');
        return seen;
      },
      { withinMs: 30_000 },
    );
    await eventually(async () => assert.notEqual((await look()).sum, first.sum, 'the picture stands still'), {
      withinMs: 30_000,
    });
  }

  test('[DASH-30] a new account gets to a key, a room and a moving picture by clicks alone, within a minute', async (context) => {
    const visit = await kit.visit();
    const { page } = visit;
    const startedAt = performance.now();
    const email = newEmail();
    await page.goto('/');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
    await page.getByRole('button', { name: 'Create account' }).click();
    // The page of letters does not load itself anew.
    await mailedToken(kit.service, email);
    await page.getByRole('link', { name: '/dev/mail' }).click();
    await page.getByRole('link', { name: /verify-email/ }).click();
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
    await page.getByRole('button', { name: 'Confirm and sign in' }).click();

    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    await page.getByLabel('Project name').fill('Meetings');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    await page.getByRole('link', { name: 'Create an API key' }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Backend');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = (await page.getByRole('status', { name: 'API key' }).textContent()) ?? '';
    assert.match(key, /^svk_dev_\w+\.\S+$/);
    await page.getByLabel('I have stored it').check();
    await page.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('link', { name: 'Rooms' }).click();
    await page.getByLabel('Room name').fill('standup');
    await page.getByRole('button', { name: 'Create room' }).click();
    await page.getByRole('heading', { name: 'standup' }).waitFor();

    await page.getByRole('button', { name: 'Test call' }).click();
    await page.getByRole('button', { name: 'Join the call' }).click();
    await page.getByRole('button', { name: 'Add a test participant' }).click();
    await assertMoves(page, /^Picture of test-/);
    const took = performance.now() - startedAt;
    context.diagnostic(`from the first page to a moving picture: ${(took / 1000).toFixed(1)} s`);
    assert.ok(took < journeyMs, `took ${took} ms`);

    assert.equal((await kit.service.as(key).call('listRooms')).length, 1, 'the key that was shown works');
    await assertMoves(page, /^Picture of dashboard-/);
    await callIsAccessible(page);
    await switchesByKeyboard(page);
    await lettersCanBeOff(page);
    await page.getByRole('tab', { name: 'Participants' }).click();
    await eventually(async () => assert.equal(await page.getByText('Nobody is here').count(), 1), { withinMs: 30_000 });
    visit.assertClean();
  });

  async function callIsAccessible(page: Page): Promise<void> {
    await assertAccessibleInBothThemes(page, 'a call');
    await page.setViewportSize({ width: 320, height: 800 });
    await assertFits(page, 'a call');
    await page.setViewportSize({ width: 1280, height: 800 });
  }

  /** Single letters, with the pressed state told. */
  async function switchesByKeyboard(page: Page): Promise<void> {
    for (const [letter, name] of [
      ['m', 'Microphone'],
      ['v', 'Camera'],
    ] as const) {
      const isPressed = () => page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed');
      assert.equal(await isPressed(), 'true');
      await page.keyboard.press(letter);
      await eventually(async () => assert.equal(await isPressed(), 'false'), { withinMs: pageMs });
      await page.keyboard.press(letter);
      await eventually(async () => assert.equal(await isPressed(), 'true'), { withinMs: pageMs });
    }
  }

  /** [DASH-41] As another tab would switch them off. */
  async function lettersCanBeOff(page: Page): Promise<void> {
    const change = (shortcuts: string) =>
      page.evaluate((value) => {
        localStorage.setItem('parley.preferences', JSON.stringify({ shortcuts: value }));
        dispatchEvent(new StorageEvent('storage', { key: 'parley.preferences' }));
      }, shortcuts);
    const microphone = page.getByRole('button', { name: 'Microphone', exact: true });
    await change('off');
    await eventually(async () => assert.equal(await microphone.getAttribute('aria-keyshortcuts'), null), {
      withinMs: pageMs,
    });
    await page.keyboard.press('m');
    assert.equal(await microphone.getAttribute('aria-pressed'), 'true');
    await change('on');
  }

  test('[DASH-31] camera and microphone can be chosen, seen and heard before joining; the checks say what works', async () => {
    const project = await verifiedProject();
    const room = await project.api.call('createRoom', { body: { name: 'preflight' } });
    const visit = await kit.visit({ as: project.person });
    const page = await visit.open(`/p/${project.id}/rooms/${room.id}?env=development&tab=test-call`, 'preflight');
    await page.getByRole('button', { name: 'Check this connection' }).click();
    for (const name of ['Signaling', 'Media over UDP or TCP', 'Data channel', 'Camera', 'Microphone']) {
      await page.getByRole('listitem').filter({ hasText: name }).getByText('Good').waitFor();
    }
    await page.getByRole('radio', { name: 'Camera and microphone' }).check();
    await page.getByLabel('Microphone level').waitFor();
    assert.ok((await page.getByLabel('Camera', { exact: true }).locator('option').count()) > 1, 'no camera offered');
    await assertAccessible(page, 'before a call');
    await page.getByRole('button', { name: 'Join the call' }).click();
    await assertMoves(page, /^Picture of dashboard-/);
    const token = page.getByRole('timer', { name: 'Token' });
    await token.getByText(/^(10:00|9:\d\d)$/).waitFor();
    await page.getByRole('button', { name: 'Renew token' }).click();
    await assertMoves(page, /^Picture of dashboard-/);
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('button', { name: 'Join the call' }).waitFor();
    visit.assertClean();
  });

  test('[DASH-32] a call that ends from outside says why', async () => {
    const project = await verifiedProject();
    const room = await project.api.call('createRoom', { body: { name: 'closing' } });
    const visit = await kit.visit({ as: project.person });
    const page = await visit.open(`/p/${project.id}/rooms/${room.id}?env=development&tab=test-call`, 'closing');
    await page.getByRole('button', { name: 'Join the call' }).click();
    await page.getByRole('button', { name: 'Leave' }).waitFor();
    await project.api.call('closeRoom', { id: room.id });
    await page.getByText('This room is closed').first().waitFor();
    // The last steps are told with a token that the closing took back.
    visit.assertClean({ expected: /401 .*\/v1\/telemetry\/events/ });
  });

  /** Where addresses have to be proven first. */
  async function verifiedProject() {
    const person = { email: newEmail(), password: 'correct horse battery' };
    const anonymous = kit.service.as();
    await anonymous.call('register', { body: person });
    const token = await mailedToken(kit.service, person.email);
    const { accessToken, user } = await anonymous.call('verifyEmail', { body: { token } });
    const api = kit.service.as(accessToken);
    const { id } = await api.call('createProject', { body: { name: 'Calls' } });
    const { key } = await api.call('createApiKey', {
      projectId: id,
      body: { name: 'test', environment: 'DEVELOPMENT' },
    });
    return { id, api: kit.service.as(key), person: { ...person, userId: user.id, accessToken, api } };
  }
});
