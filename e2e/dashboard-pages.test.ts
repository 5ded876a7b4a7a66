import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { allEnglish } from '../apps/dashboard/src/i18n/en/all.ts';
import { eventually, pageMs } from '../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import { assertAccessible, assertAccessibleInBothThemes, assertOtherColours } from './accessibility.ts';
import { skipWithoutBrowser } from './browser.ts';
import { type PageCase, pagesOf } from './dashboard-cases.ts';
import { assertFits, type DashboardKit, envelope, goTo, startDashboard, turnTo, type Visit } from './dashboard-kit.ts';
import { fillProject, type LivelyProject } from './dashboard-seed.ts';

const explained = /SVC_\w+.*req_0123456789abcdef01234567/;
/** What may meet a page instead of its first answer; another try is offered where it may help. */
const refusals = [
  {
    name: '403',
    answer: envelope(403, 'SVC_PERMISSION_DENIED', { permission: 'audit:read' }),
    says: 'audit:read',
    isTriable: false,
  },
  {
    name: '429',
    answer: envelope(429, 'SVC_RATE_LIMITED', { retryAfterSeconds: 3 }),
    says: 'Too many requests',
    isTriable: true,
  },
  { name: '404', answer: envelope(404, 'SVC_NOT_FOUND'), says: 'It may have been removed', isTriable: false },
  { name: '500', answer: envelope(500, 'SVC_INTERNAL'), says: 'Something went wrong', isTriable: true },
] as const;
type Refusal = (typeof refusals)[number];

const narrow = { width: 320, height: 800 };
const usual = { width: 1280, height: 800 };

const ownDoing = /Failed to load resource/;
/** Longer than a page that nobody tells of changes waits before it asks again. */
const refreshMs = 31_000;

/** Where a walker is, and how to stand in its way. */
interface Tab {
  page: Page;
  one: PageCase;
  /** The one that this page meets, of all that there are; null is a network that is lost later. */
  refusal: Refusal | null;
  /** The first page that meets it. */
  isFirst: boolean;
  /** From now on every request that fills this page gets this instead of its answer; null lets it through. */
  meets(what: ((route: Route) => Promise<void>) | null): Promise<void>;
  /** Of what the page has done since the last look. */
  assertClean: Visit['assertClean'];
}

/** A table of words holds keys: none of them is shown as it is. */
async function assertNoKeys(page: Page): Promise<void> {
  const words = new Set((await page.locator('main').innerText()).split(/[\s,]+/));
  assert.deepEqual(
    Object.keys(allEnglish).filter((key) => words.has(key)),
    [],
    'keys of the catalogue instead of texts',
  );
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
    walkers = await Promise.all(Array.from({ length: 2 }, newWalker));
    tab = walkers[0] ?? assert.fail();
  });

  async function newWalker(): Promise<Visit> {
    const visit = await kit.visit({ as: project.owner, width: narrow.width });
    // The page's own waiting is passed over instead of waited for.
    await visit.context.clock.install();
    return visit;
  }

  /** Side by side: much of it is waiting. */
  async function eachPage(check: (tab: Tab) => Promise<void>): Promise<void> {
    const troubles = [...refusals, null];
    const cases = pagesOf(project.id, lively).map((one, index) => ({
      one,
      refusal: troubles[index % troubles.length] ?? null,
      isFirst: index < troubles.length,
    }));
    const walk = async ({ page, open, assertClean }: Visit, walker: number): Promise<void> => {
      let asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await open('/nowhere', 'Not found');
      for (const each of cases.filter((_, index) => index % walkers.length === walker)) {
        await goTo(page, '/nowhere', 'Not found');
        // A document of its own where another page has loaded what fills this one: it is not asked for again while the
        // stream is open.
        if (asked.some((url) => each.one.fills.test(url))) {
          asked = [];
          await open('/nowhere', 'Not found');
        }
        // Only while something stands in the way: with a route Chromium keeps no file, and compiles each again.
        const meets: Tab['meets'] = async (what) => {
          if (what) await page.route(each.one.fills, what);
          else await page.unrouteAll({ behavior: 'wait' });
        };
        await check({ page, ...each, meets, assertClean }).catch((cause: unknown) => {
          throw new Error(`on ${each.one.path}`, { cause });
        });
        assertClean();
      }
    };
    await Promise.all(walkers.map(walk));
  }

  test('[DASH-1] [DASH-2] [DASH-3] [DASH-4] [DASH-5] [DASH-86] [DASH-95] every page is busy, meets a 403, a 429, a 404, a 500 or a lost network and is mended, accessible in both themes and fits 320 pixels', async () => {
    await eachPage(async (tab) => {
      const { page, one, refusal } = tab;
      await isBusyUntilAnswered(tab);
      if (refusal) await explainsRefusal(tab, refusal);
      else await survivesALostNetwork(tab);
      // From here on every answer is the service's own.
      tab.assertClean({ expected: ownDoing });
      await assertNoKeys(page);
      await inAllLooks(page, one.heading);
      for (const name of one.tabs ?? []) {
        await page.getByRole('tab', { name }).click();
        // The first of those that are left, until none is: two at once would be a mistake to a plain locator.
        await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
        await assertNoKeys(page);
        // How wide a page is at 4k is the same on all its tabs.
        await assertFits(page, `${one.heading}, ${name}`);
        await assertAccessibleInBothThemes(page, `${one.heading}, ${name}`, { within: 'main' });
      }
    });
    for (const path of [`/p/${project.id}/settings`, '/nowhere']) {
      await goTo(tab.page, path);
      await inAllLooks(tab.page, path);
    }
    for (const { page } of walkers) await page.setViewportSize(usual);
    await assertAccessibleInBothThemes(tab.page, 'what is around a page');
    tab.assertClean();
  });

  /** Opens a page; while the first answer is on its way it shows its shape and says that it is busy. */
  async function isBusyUntilAnswered({ page, one, refusal, meets }: Tab): Promise<void> {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    await page.evaluate(() => Object.assign(window, { isTried: false }));
    await meets(async (route) => {
      await release;
      // Until somebody tries again: the page is told of changes too, and would mend itself.
      if (!refusal || (await page.evaluate(() => 'isTried' in window && window.isTried))) await route.continue();
      else await route.fulfill(refusal.answer);
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

  async function explainsRefusal({ page, one, meets, isFirst }: Tab, refusal: Refusal): Promise<void> {
    const { name, says, isTriable } = refusal;
    const notice = page.getByRole('alert').filter({ hasText: says }).first();
    await notice.waitFor();
    assert.match((await notice.textContent()) ?? '', explained);
    if (isFirst) await assertAccessible(page, `a page after a ${name}`);
    // A limit is counted down before the button is given back, and nothing is asked for meanwhile.
    if (name === '429') {
      assert.ok(await notice.getByRole('button', { name: /Try again in \d+ s/ }).isDisabled());
    }
    await page.evaluate((isByClick) => {
      if (isByClick)
        document.addEventListener('click', () => Object.assign(window, { isTried: true }), {
          capture: true,
          once: true,
        });
      else Object.assign(window, { isTried: true });
    }, isTriable);
    const tryAgain = notice.getByRole('button', { name: 'Try again' });
    // What the page is told of meanwhile may meet the limit too, which is then counted anew.
    if (isTriable)
      await eventually(
        async () => {
          await page.clock.fastForward(3_000);
          await tryAgain.click({ timeout: 2_000 });
        },
        { withinMs: pageMs },
      );
    else await page.clock.fastForward(refreshMs);
    await one.loaded(page).waitFor();
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
    await meets(null);
  }

  async function survivesALostNetwork({ page, one, meets }: Tab): Promise<void> {
    await one.loaded(page).waitFor();
    await meets(null);
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
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
  }

  /**
   * At 320 pixels, where the walkers are, and at 4k: the first has the least to paint, so its tabs are looked at there
   * alone. What is around a page has the other colours in the same way on all of them.
   */
  async function inAllLooks(page: Page, what: string): Promise<void> {
    await page.setViewportSize(narrow);
    await assertFits(page, what);
    await assertOtherColours(page, what, 'main');
    // Its height would only be more to paint.
    await page.setViewportSize({ width: 3840, height: 400 });
    await assertFits(page, `${what} at 4k`);
    const width = await page.locator('.frame-with-nav main').evaluateAll(([main]) => main?.clientWidth ?? 3840);
    assert.ok(width > 2_000, `${what} leaves most of 4k empty: ${width}`);
    await assertAccessible(page, what);
    await page.setViewportSize(narrow);
  }

  test('[DASH-2] the menu of a narrow page is accessible', async () => {
    await tab.page.setViewportSize(narrow);
    for (const [path, menu] of [
      [`/p/${project.id}/rooms`, 'Menu'],
      ['/projects', 'Account'],
    ] as const) {
      const page = await tab.open(path);
      await page.getByRole('button', { name: menu }).click();
      await assertAccessible(page, `${menu} at 320`);
    }
    await tab.page.setViewportSize(usual);
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
    await eventually(() => assert.ok(asked > 0, 'the page stays old'), { withinMs: pageMs });
    tab.assertClean();
  });

  test('[DASH-70] an idle page asks for nothing, and what changes appears without its asking in turns', async () => {
    const page = await tab.open(`/p/${project.id}/rooms?env=development`, 'Rooms');
    await page.getByText('Live', { exact: true }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    // What was loaded before the stream was open is asked for once more, and may be already; asking in turns never ends.
    await eventually(
      async () => {
        asked.length = 0;
        await page.clock.fastForward(50_000);
        await page.locator('[data-busy="true"]').first().waitFor({ state: 'detached' });
        assert.deepEqual(asked, []);
      },
      { withinMs: pageMs },
    );
    const { name } = await project.api.call('createRoom', { body: { name: 'just-made' } });
    await page.getByRole('link', { name }).waitFor();
    const rooms = `/v1/projects/${project.id}/rooms`;
    assert.ok(asked.length > 0 && asked.every((path) => path === rooms), asked.join(' '));
    tab.assertClean();
  });

  test('[DASH-73] [DASH-96] a call is exported, and shared by a link that opens without signing in and without names', async () => {
    const page = await tab.open(`/p/${project.id}/calls/${lively.callId}?env=development`, 'Call in standup');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export JSON' }).click();
    const exported = JSON.parse(await readFile(await (await downloading).path(), 'utf8'));
    const ids = { projectId: project.id, callId: lively.callId };
    assert.deepEqual(exported, await project.owner.api.call('getProjectCall', ids));
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
    // One page of each kind.
    for (const path of ['/docs', '/docs/reference/usage']) {
      const page = await tab.open(path);
      await inAllLooks(page, path);
    }
    const all = await tab.open('/docs/reference');
    await assertFits(all, 'all calls');
    // The longest page by far: axe sees the first rows of each list, the others are like them.
    await all.evaluate(() => {
      for (const row of document.querySelectorAll('main :is(li, tr):nth-child(n + 4)')) row.remove();
    });
    await all.setViewportSize(usual);
    await assertAccessible(all, 'all calls');
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
    await goTo(page, `/p/${id}/api-keys?env=production`, 'API keys');
    await page.getByText('No API key for production yet').waitFor();
    await assertAccessible(page, 'no API key');
    const empties = {
      rooms: 'No room is open in development',
      chat: 'No conversation in development yet',
      users: 'No user in development yet',
      moderation: 'Nothing waits for you',
      push: 'No device is registered yet',
      'data-jobs': 'No data job in development yet',
      'live-streams': 'No stream in development yet',
      connections: 'Nobody has connected yet',
      errors: 'No error has been recorded',
      alerts: 'No alert for development yet',
      usage: 'Nobody was in a room in this time',
      webhooks: 'No endpoint for development yet',
      overview: 'Get started',
    };
    for (const [path, says] of Object.entries(empties)) {
      await goTo(page, `/p/${id}/${path}?env=development`);
      await page.getByText(says).first().waitFor();
      await assertAccessible(page, `empty ${path}`, { within: 'main' });
    }
    await goTo(page, `/p/${id}/audit-log?action=webhook.deleted`, 'Audit log');
    await page.getByText('No entry matches').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('button', { name: /created the project/ }).waitFor();
    visit.assertClean();
  });

  test('[DASH-7] a developer sees why the audit log is closed, and is not offered what their role lacks', async () => {
    const visit = await kit.visit({ as: await project.member('DEVELOPER') });
    const page = await visit.open(`/p/${project.id}/audit-log`, 'Audit log');
    await page.getByRole('alert').getByText('audit:read').waitFor();
    await goTo(page, `/p/${project.id}/api-keys?env=production`, 'API keys');
    await page.getByText('No API key for production yet').waitFor();
    assert.ok(await page.getByRole('button', { name: 'New key' }).first().isDisabled());
    await goTo(page, `/p/${project.id}/api-keys?env=development`, 'API keys');
    await page
      .getByText(/^svk_dev_/)
      .first()
      .waitFor();
    assert.ok(await page.getByRole('button', { name: 'New key' }).first().isEnabled());
    visit.assertClean({ expected: ownDoing });
  });
});
