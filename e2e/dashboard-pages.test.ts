import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { TestProject } from '../apps/server/testkit/people.ts';
import { skipWithoutBrowser } from './browser.ts';
import {
  assertAccessible,
  assertFits,
  type DashboardKit,
  envelope,
  openIn,
  startDashboard,
  type Visit,
} from './dashboard-kit.ts';
import { fillProject, type LivelyProject } from './dashboard-seed.ts';

interface PageCase {
  path: string;
  heading: string;
  /** The request that fills the page: what the states are told from. */
  fills: RegExp;
  /** Something that is only there when it is filled. */
  loaded: (page: Page) => ReturnType<Page['getByText']>;
}

/** Every page that shows data of the service. */
function pagesOf(projectId: string, lively: LivelyProject): PageCase[] {
  const at = (path: string): string => `/p/${projectId}/${path}?env=development`;
  const { room, webhook } = lively;
  return [
    {
      path: '/projects',
      heading: 'Projects',
      fills: /\/v1\/projects\?/,
      loaded: (page) => page.getByRole('cell', { name: 'Owner' }).first(),
    },
    {
      path: at('overview'),
      heading: 'Overview',
      fills: /\/v1\/.*\/metrics\?/,
      loaded: (page) => page.getByText('Join success, 24 h'),
    },
    {
      path: at('rooms'),
      heading: 'Rooms',
      fills: /\/v1\/.*\/rooms\?/,
      loaded: (page) => page.getByRole('cell', { name: '2/50' }),
    },
    {
      path: at(`rooms/${room.id}`),
      heading: room.name,
      fills: new RegExp(`/v1/.*/rooms/${room.id}\\?`),
      loaded: (page) => page.getByText('watch, publish, data').first(),
    },
    {
      path: at('connections'),
      heading: 'Connections',
      fills: /\/v1\/.*\/connections\?/,
      loaded: (page) => page.getByRole('cell', { name: 'linus' }),
    },
    {
      path: at(`connections/${lively.connectionId}`),
      heading: 'linus',
      fills: /\/v1\/.*\/connections\/[^?]+\?/,
      loaded: (page) => page.getByText('ice.failed'),
    },
    {
      path: at('errors'),
      heading: 'Errors',
      fills: /\/v1\/.*\/errors\?/,
      loaded: (page) => page.getByRole('link', { name: 'ICE_FAILED' }),
    },
    {
      path: at(`errors/${lively.errorId}`),
      heading: 'ICE_FAILED',
      fills: /\/v1\/.*\/errors\/[^?]+\?/,
      loaded: (page) => page.getByText('May help'),
    },
    {
      path: at('metrics'),
      heading: 'Metrics',
      fills: /\/v1\/.*\/metrics\?/,
      loaded: (page) => page.getByRole('slider').first(),
    },
    {
      path: at('usage'),
      heading: 'Usage',
      fills: /\/v1\/projects\/.*\/usage\?/,
      loaded: (page) => page.getByRole('cell', { name: 'ada' }),
    },
    {
      path: at('api-keys'),
      heading: 'API keys',
      fills: /\/v1\/.*\/api-keys\?/,
      loaded: (page) => page.getByText(/^svk_dev_/).first(),
    },
    {
      path: at('webhooks'),
      heading: 'Webhooks',
      fills: /\/v1\/.*\/webhooks\?/,
      loaded: (page) => page.getByRole('link', { name: webhook.url }),
    },
    {
      path: at(`webhooks/${webhook.id}`),
      heading: webhook.url,
      fills: new RegExp(`/v1/.*/webhooks/${webhook.id}$`),
      loaded: (page) => page.getByText('All, including future types'),
    },
    {
      path: at('members'),
      heading: 'Members',
      fills: /\/v1\/.*\/members\?/,
      loaded: (page) => page.getByText('(you)'),
    },
    {
      path: at('audit-log'),
      heading: 'Audit log',
      fills: /\/v1\/.*\/audit-logs\?/,
      loaded: (page) => page.getByRole('button', { name: /created the project/ }),
    },
    {
      path: at('fleet'),
      heading: 'Fleet',
      fills: /\/v1\/rtc\/servers$/,
      loaded: (page) => page.getByRole('link', { name: 'node-1' }),
    },
    {
      path: at('fleet/node-1'),
      heading: 'node-1',
      fills: /\/v1\/rtc\/servers\/node-1$/,
      loaded: (page) => page.getByText('Internal URL'),
    },
  ];
}

const failures = [
  { name: '403', answer: envelope(403, 'SVC_PERMISSION_DENIED', { permission: 'audit:read' }), says: 'audit:read' },
  { name: '500', answer: envelope(500, 'SVC_INTERNAL'), says: 'Something went wrong' },
  { name: '429', answer: envelope(429, 'SVC_RATE_LIMITED', { retryAfterSeconds: 2 }), says: 'Too many requests' },
  { name: '404', answer: envelope(404, 'SVC_NOT_FOUND'), says: 'It may have been removed' },
] as const;

const tabs = 4;
const ownDoing = /Failed to load resource/;

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

  /** Several tabs at once: most of the time is spent waiting for the page's own pauses. */
  const eachPage = async (visit: Visit, check: (page: Page, one: PageCase) => Promise<void>): Promise<void> => {
    const cases = pagesOf(project.id, lively);
    const tab = async (): Promise<void> => {
      const page = await visit.context.newPage();
      for (let one = cases.shift(); one; one = cases.shift()) {
        await openIn(page, one.path, one.heading);
        await check(page, one);
      }
      await page.close();
    };
    await Promise.all(Array.from({ length: tabs }, tab));
    assert.equal(cases.length, 0);
  };

  for (const theme of ['light', 'dark'] as const) {
    test(`[DASH-1] every page is filled, accessible and clean, ${theme}`, async () => {
      const visit = await kit.visit({ as: project.owner, theme });
      await eachPage(visit, async (page, one) => {
        await one.loaded(page).waitFor();
        await assertAccessible(page, `${one.heading}, ${theme}`);
      });
      for (const path of [`/p/${project.id}/settings`, '/account', '/nowhere']) {
        await assertAccessible(await visit.open(path), `${path}, ${theme}`);
      }
      visit.assertClean();
    });
  }

  test('[DASH-2] every page fits 320 pixels, without loss', async () => {
    const visit = await kit.visit({ as: project.owner, width: 320, reducedMotion: true });
    await eachPage(visit, async (page, one) => {
      await one.loaded(page).waitFor();
      await assertFits(page, one.heading);
      await page.getByRole('button', { name: one.path.startsWith('/p/') ? 'Menu' : 'Account' }).click();
      if (one.heading === 'Rooms' || one.heading === 'Projects')
        await assertAccessible(page, `${one.heading} with its menu, 320`);
    });
    for (const path of [`/p/${project.id}/settings`, '/account']) {
      await assertFits(await visit.open(path), path);
    }
    visit.assertClean();
  });

  test('[DASH-3] while the first answer is on its way, a page shows its shape and says that it is busy', async () => {
    const visit = await kit.visit({ as: project.owner });
    await eachPage(visit, async (page, one) => {
      const { promise: release, resolve } = Promise.withResolvers<void>();
      await page.route(one.fills, async (route) => {
        await release;
        await route.continue();
      });
      await page.reload();
      await page.locator('[aria-busy="true"] .skeleton').first().waitFor();
      if (one.heading === 'Projects') await assertAccessible(page, 'a table while loading');
      resolve();
      await one.loaded(page).waitFor();
      await page.unrouteAll({ behavior: 'wait' });
    });
    visit.assertClean();
  });

  for (const { name, answer, says } of failures) {
    test(`[DASH-4] every page explains a ${name} with its code and request id`, async () => {
      const visit = await kit.visit({ as: project.owner });
      await eachPage(visit, async (page, one) => {
        await page.route(one.fills, (route) => route.fulfill(answer));
        await page.reload();
        const notice = page.getByRole('alert');
        await notice.getByText(says).first().waitFor();
        assert.match((await notice.textContent()) ?? '', /SVC_\w+.*req_0123456789abcdef01234567/);
        if (one.heading === 'Projects') await assertAccessible(page, `a page after a ${name}`);
        if (name === '429') {
          // A limit is counted down before the button is given back, and nothing is asked for meanwhile.
          assert.ok(await notice.getByRole('button', { name: /Try again in \d+ s/ }).isDisabled());
        }
        if (name === '500') await notice.getByRole('button', { name: 'Try again' }).click();
        await page.unrouteAll({ behavior: 'wait' });
        if (name !== '500' && name !== '429') return;
        await one.loaded(page).waitFor();
        await notice.waitFor({ state: 'detached' });
      });
      visit.assertClean({ expected: ownDoing });
    });
  }

  test('[DASH-5] without a network every page says so, keeps what it has, and recovers', async () => {
    const visit = await kit.visit({ as: project.owner });
    await eachPage(visit, async (page, one) => {
      await one.loaded(page).waitFor();
      await page.route(one.fills, (route) => route.abort('internetdisconnected'));
      // The next refresh fails; old rows stay.
      await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
      assert.ok(await one.loaded(page).isVisible());
      await page.getByText(/^Not up to date/).waitFor();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.unrouteAll({ behavior: 'wait' });
      await page.getByRole('alert').waitFor({ state: 'detached' });
    });
    visit.assertClean({ expected: ownDoing });
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
      connections: 'Nobody has connected yet',
      errors: 'No error has been recorded',
      usage: 'Nobody was in a room in this time',
      webhooks: 'No endpoint for development yet',
      overview: 'Get started',
    };
    for (const [path, says] of Object.entries(empties)) {
      await visit.open(`/p/${id}/${path}`);
      await page.getByText(says).first().waitFor();
      await assertAccessible(page, `empty ${path}`);
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
