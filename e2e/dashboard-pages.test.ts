import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import { skipWithoutBrowser } from './browser.ts';
import { type PageCase, pagesOf } from './dashboard-cases.ts';
import {
  assertAccessible,
  assertAccessibleInBothThemes,
  assertDarkColours,
  assertFits,
  type DashboardKit,
  envelope,
  goTo,
  startDashboard,
  turnTo,
  type Visit,
} from './dashboard-kit.ts';
import { fillProject, type LivelyProject } from './dashboard-seed.ts';

const explained = /SVC_\w+.*req_0123456789abcdef01234567/;
const internal = envelope(500, 'SVC_INTERNAL');
/** Refusals that another try does not mend at once; each page meets one of them. */
const refusals = [
  { name: '403', answer: envelope(403, 'SVC_PERMISSION_DENIED', { permission: 'audit:read' }), says: 'audit:read' },
  { name: '429', answer: envelope(429, 'SVC_RATE_LIMITED', { retryAfterSeconds: 3 }), says: 'Too many requests' },
  { name: '404', answer: envelope(404, 'SVC_NOT_FOUND'), says: 'It may have been removed' },
] as const;

const ownDoing = /Failed to load resource/;
/** Longer than a page that nobody tells of changes waits before it asks again. */
const refreshMs = 31_000;

/** Where a walker is, and how to stand in its way. */
interface Tab {
  page: Page;
  one: PageCase;
  /** Of the page among all. */
  index: number;
  /** From now on every request that fills this page gets this instead of its answer; null lets it through. */
  meets(what: ((route: Route) => Promise<void>) | null): Promise<void>;
  /** Of what the page has done since the last look. */
  assertClean: Visit['assertClean'];
}

/** Looks away from a page, or back at it. */
const show = (page: Page, state: 'hidden' | 'visible'): Promise<void> =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, value });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, state);

describe('dashboard pages', { skip: skipWithoutBrowser() }, () => {
  let kit: DashboardKit;
  let project: TestProject;
  let lively: LivelyProject;
  before(async () => {
    kit = await startDashboard();
    project = await kit.service.newProject();
    lively = await fillProject(kit.service, project);
  });
  after(async () => {
    await lively?.close();
    await kit?.close();
  });

  let walkers: Visit[];
  let tab: Visit;
  before(async () => {
    walkers = await Promise.all(Array.from({ length: 3 }, newWalker));
    tab = walkers[0] ?? assert.fail();
  });

  async function newWalker(): Promise<Visit> {
    const visit = await kit.visit({ as: project.owner });
    // The page's own waiting is passed over instead of waited for.
    await visit.context.clock.install();
    return visit;
  }

  /** Side by side: most of it is waiting. */
  async function eachPage(check: (tab: Tab) => Promise<void>): Promise<void> {
    const left = [...pagesOf(project.id, lively).entries()];
    const walk = async ({ page, open, assertClean }: Visit): Promise<void> => {
      for (let next = left.shift(); next; next = left.shift()) {
        const [index, one] = next;
        // A document of its own: what another page has loaded is not asked for again while the stream is open.
        await open('/nowhere', 'Not found');
        // Only while something stands in the way: with a route Chromium keeps no file, and compiles each again.
        const meets: Tab['meets'] = async (what) => {
          if (what) await page.route(one.fills, what);
          else await page.unrouteAll({ behavior: 'wait' });
        };
        await check({ page, one, index, meets, assertClean }).catch((cause: unknown) => {
          throw new Error(`on ${one.path}`, { cause });
        });
        assertClean();
      }
    };
    await Promise.all(walkers.map(walk));
  }

  test('[DASH-1] [DASH-2] [DASH-3] [DASH-4] [DASH-5] every page is busy, names the permission after a 403, counts down after a 429 or tells of a 404, is mended by another try after a 500, accessible in both themes, fits 320 pixels and outlives a lost network', async () => {
    await eachPage(async (tab) => {
      const { page, one } = tab;
      await isBusyUntilAnswered(tab);
      await explainsRefusal(tab);
      await isMendedByAnotherTry(tab);
      await survivesALostNetwork(tab);
      // From here on every answer is the service's own.
      tab.assertClean({ expected: ownDoing });
      await assertAccessible(page, one.heading);
      await inOtherLooks(page, one.heading);
      for (const name of one.tabs ?? []) {
        await page.getByRole('tab', { name }).click();
        await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
        await assertAccessible(page, `${one.heading}, ${name}`, { within: 'main' });
        await inOtherLooks(page, `${one.heading}, ${name}`);
      }
    });
    for (const path of [`/p/${project.id}/settings`, '/nowhere']) {
      const page = await tab.open(path);
      await assertAccessibleInBothThemes(page, path);
      await inOtherLooks(page, path);
    }
    tab.assertClean();
  });

  const refusalOf = (index: number) => refusals[index % refusals.length] ?? refusals[0];

  /** Opens a page; while the first answer is on its way it shows its shape and says that it is busy. It is a refusal. */
  async function isBusyUntilAnswered({ page, one, index, meets }: Tab): Promise<void> {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    await meets(async (route) => {
      await release;
      await route.fulfill(refusalOf(index).answer);
    });
    await turnTo(page, one.path);
    await page.locator('[aria-busy="true"] .skeleton').first().waitFor();
    if (one.heading === 'Projects') {
      // Before the page's own code is there, a shape without a heading stands in for it.
      await page.getByRole('heading', { level: 1, name: one.heading }).waitFor();
      await assertAccessible(page, 'a table while loading');
    }
    resolve();
  }

  /** Then the next answer is a failure. */
  async function explainsRefusal({ page, index, meets }: Tab): Promise<void> {
    const { name, says } = refusalOf(index);
    const notice = page.getByRole('alert').filter({ hasText: says }).first();
    await notice.waitFor();
    assert.match((await notice.textContent()) ?? '', explained);
    if (index < refusals.length) await assertAccessible(page, `a page after a ${name}`);
    // A limit is counted down before the button is given back, and nothing is asked for meanwhile.
    if (name === '429') assert.ok(await notice.getByRole('button', { name: /Try again in \d+ s/ }).isDisabled());
    // Until somebody tries again: the page is told of changes too, and would mend itself.
    await meets(async (route) => {
      if (await page.evaluate(() => 'isTried' in window)) await route.continue();
      else await route.fulfill(internal);
    });
    await page.clock.fastForward(refreshMs);
  }

  async function isMendedByAnotherTry({ page, one, meets }: Tab): Promise<void> {
    const notice = page.getByRole('alert').filter({ hasText: 'Something went wrong' }).first();
    await notice.waitFor();
    assert.match((await notice.textContent()) ?? '', explained);
    if (one.heading === 'Projects') await assertAccessible(page, 'a page after a 500');
    await page.evaluate(() => {
      document.addEventListener('click', () => Object.assign(window, { isTried: true }), { capture: true, once: true });
    });
    await notice.getByRole('button', { name: 'Try again' }).click();
    await one.loaded(page).waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await meets(null);
  }

  async function survivesALostNetwork({ page, one, meets }: Tab): Promise<void> {
    await meets((route) => route.abort('internetdisconnected'));
    // The next refresh fails; old rows stay.
    await page.clock.fastForward(refreshMs);
    await show(page, 'hidden');
    await show(page, 'visible');
    await page.getByRole('alert').filter({ hasText: 'The service cannot be reached' }).first().waitFor();
    assert.ok(await one.loaded(page).isVisible());
    await page.getByText(/^Not up to date/).waitFor();
    await meets(null);
    await page.clock.fastForward(refreshMs);
    await page.getByRole('alert').waitFor({ state: 'detached' });
  }

  /** The colours of the dark theme, then 320 pixels. What is around a page is dark in the same way on all of them. */
  async function inOtherLooks(page: Page, what: string): Promise<void> {
    await assertDarkColours(page, what, 'main');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 320, height: 800 });
    await assertFits(page, what);
    await page.setViewportSize({ width: 1280, height: 800 });
  }

  test('[DASH-2] the menu of a narrow page is accessible', async () => {
    await tab.page.setViewportSize({ width: 320, height: 800 });
    for (const [path, menu] of [
      [`/p/${project.id}/rooms`, 'Menu'],
      ['/projects', 'Account'],
    ] as const) {
      const page = await tab.open(path);
      await page.getByRole('button', { name: menu }).click();
      await assertAccessible(page, `${menu} at 320`);
    }
    await tab.page.setViewportSize({ width: 1280, height: 800 });
    tab.assertClean();
  });

  test('[DASH-8] a page that nobody sees asks for nothing, and asks at once when it is seen again', async () => {
    const page = await tab.open(`/p/${project.id}/rooms?env=development`, 'Rooms');
    await page.getByRole('cell', { name: '2/50' }).waitFor();
    let asked = 0;
    page.on('request', (request) => {
      if (/\/v1\/.*\/rooms\?/.test(request.url())) asked += 1;
    });
    await show(page, 'hidden');
    asked = 0;
    for (let minute = 0; minute < 3; minute += 1) await page.clock.fastForward(refreshMs);
    assert.equal(asked, 0);
    await show(page, 'visible');
    await eventually(() => assert.ok(asked > 0, 'the page stays old'));
    tab.assertClean();
  });

  test('[DASH-70] an idle page asks for nothing, and what changes appears without its asking in turns', async () => {
    const page = await tab.open(`/p/${project.id}/rooms?env=development`, 'Rooms');
    await page.getByText('Live', { exact: true }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    // What was loaded before the stream was open is asked for once more, and may be already; asking in turns never ends.
    await eventually(async () => {
      asked.length = 0;
      await page.clock.fastForward(50_000);
      await page.locator('[data-busy="true"]').waitFor({ state: 'detached' });
      assert.deepEqual(asked, []);
    });
    const { name } = await project.api.call('createRoom', { body: { name: 'just-made' } });
    await page.getByRole('link', { name }).waitFor();
    const rooms = `/v1/projects/${project.id}/rooms`;
    assert.ok(asked.length > 0 && asked.every((path) => path === rooms), asked.join(' '));
    tab.assertClean();
  });

  test('[DASH-73] a call is shared by a link that opens without signing in and without names', async () => {
    const page = await tab.open(`/p/${project.id}/calls/${lively.callId}?env=development`, 'Call in standup');
    await page.getByRole('button', { name: 'Share' }).click();
    await assertAccessible(page, 'sharing a call');
    await page.getByRole('button', { name: 'Make a link' }).click();
    const url =
      (await page
        .getByText(/shared-call#/)
        .first()
        .textContent()) ?? '';
    const anybody = await kit.visit();
    await anybody.page.goto(url.trim());
    await anybody.page.getByText(/The uplink of Participant \d lost up to 14 %/).waitFor();
    await assertAccessible(anybody.page, 'a shared call');
    assert.doesNotMatch((await anybody.page.locator('main').textContent()) ?? '', /ada|grace|standup/);
    for (const one of [tab, anybody]) one.assertClean();
  });

  test('[DOCS-4] the documentation is accessible in both themes and fits 320 pixels', async () => {
    // One page of each kind; that of all calls is the longest by far, and has no colour that the others have not.
    for (const path of ['/docs', '/docs/reference/usage']) {
      const page = await tab.open(path);
      await assertAccessible(page, path);
      await inOtherLooks(page, path);
    }
    const all = await tab.open('/docs/reference');
    await assertAccessible(all, 'all calls', { without: ['color-contrast'] });
    await tab.page.setViewportSize({ width: 320, height: 800 });
    await assertFits(all, 'all calls');
    await tab.page.setViewportSize({ width: 1280, height: 800 });
    await tab.page.getByRole('link', { name: 'Dashboard' }).click();
    await tab.page.getByRole('heading', { level: 1 }).waitFor();
    tab.assertClean();
  });

  test('[DASH-6] an empty project says what to do first', async () => {
    const person = await kit.service.newPerson();
    const visit = await kit.visit({ as: person });
    const page = await visit.open('/projects', 'Projects');
    await page.getByText('Create your first project').waitFor();
    await assertAccessible(page, 'no project');
    const { id } = await person.api.call('createProject', { body: { name: 'Fresh' } });
    await visit.open(`/p/${id}/api-keys?env=production`, 'API keys');
    await page.getByText('No API key for production yet').waitFor();
    await assertAccessible(page, 'no API key');
    const empties = {
      rooms: 'No room is open in development',
      chat: 'No conversation in development yet',
      'live-streams': 'No stream in development yet',
      connections: 'Nobody has connected yet',
      errors: 'No error has been recorded',
      usage: 'Nobody was in a room in this time',
      webhooks: 'No endpoint for development yet',
      overview: 'Get started',
    };
    for (const [path, says] of Object.entries(empties)) {
      await goTo(page, `/p/${id}/${path}`);
      await page.getByText(says).first().waitFor();
      await assertAccessible(page, `empty ${path}`, { within: 'main' });
    }
    await visit.open(`/p/${id}/audit-log?action=webhook.deleted`, 'Audit log');
    await page.getByText('No entry matches').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('button', { name: /created the project/ }).waitFor();
    visit.assertClean();
  });

  test('[DASH-7] a developer sees why the audit log is closed, and is not offered what their role lacks', async () => {
    const visit = await kit.visit({ as: await project.member('DEVELOPER') });
    const page = await visit.open(`/p/${project.id}/audit-log`, 'Audit log');
    await page.getByRole('alert').getByText('audit:read').waitFor();
    await visit.open(`/p/${project.id}/api-keys?env=production`, 'API keys');
    await page.getByText('No API key for production yet').waitFor();
    assert.ok(await page.getByRole('button', { name: 'New key' }).first().isDisabled());
    await visit.open(`/p/${project.id}/api-keys?env=development`, 'API keys');
    assert.ok(await page.getByRole('button', { name: 'New key' }).first().isEnabled());
    visit.assertClean({ expected: ownDoing });
  });
});
