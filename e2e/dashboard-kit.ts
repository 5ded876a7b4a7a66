import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import { type RoomsService, sharedRooms, startRooms } from '../apps/server/testkit/clients/rooms.ts';
import type { Person } from '../apps/server/testkit/kit/people.ts';
import { startService, type TestService, type TestServiceOptions } from '../apps/server/testkit/kit/service.ts';
import { startTestNode } from '../apps/sfu/testkit/node.ts';
import { sharedChromium, stillPage } from './browser.ts';
import { buildPages } from './page-builds.ts';

/** The dashboard of a whole service with a media node, in a real browser. */
export interface DashboardKit<S extends TestService = RoomsService> {
  service: S;
  /** A browser of one person, or of nobody. */
  visit(options?: VisitOptions): Promise<Visit>;
  close(): Promise<void>;
}

export interface VisitOptions {
  as?: Person;
  theme?: 'light' | 'dark';
  width?: number;
}

export interface Visit {
  context: BrowserContext;
  page: Page;
  /** Opens an address of the dashboard and waits for its title. */
  open(path: string, heading?: string | RegExp): Promise<Page>;
  /** Asserts that nothing went wrong since the last time that the test did not cause: console, exceptions, requests to other origins. */
  assertClean(options?: { expected?: RegExp }): void;
}

/** On the shared service, or with settings on one of its own. */
export async function startDashboard(options?: TestServiceOptions): Promise<DashboardKit> {
  buildPages();
  if (!options) return openKit(await sharedRooms(), async () => {});
  const service = await startRooms(options);
  return openKit(service, service.stop);
}

/** A service of its own with a media node that carries media. */
export async function startCallingDashboard(options: TestServiceOptions = {}): Promise<DashboardKit<TestService>> {
  buildPages();
  const service = await startService(options);
  const node = await startTestNode(
    {
      CONTROL_URL: service.url,
      SFU_REGISTRATION_SECRET: service.config.sfuSecrets[0] ?? '',
      SFU_ANNOUNCED_HOST: '127.0.0.1',
    },
    true,
  );
  return openKit(service, async () => {
    await node.stop();
    await service.stop();
  });
}

function openKit<S extends TestService>(service: S, stop: () => Promise<void>): DashboardKit<S> {
  const contexts: BrowserContext[] = [];
  return {
    service,
    async visit(options = {}) {
      const opened = await visit(service, options);
      contexts.push(opened.context);
      return opened;
    },
    async close() {
      for (const context of contexts) await context.close();
      await stop();
    },
  };
}

const heightPx = 800;

async function visit(service: TestService, options: VisitOptions): Promise<Visit> {
  const browser = await sharedChromium();
  const base = service.config.publicUrl;
  const context = await browser.newContext({
    baseURL: base,
    viewport: { width: options.width ?? 1280, height: heightPx },
    colorScheme: options.theme ?? 'light',
    // What fades in has no colour of its own yet.
    ...stillPage,
    permissions: ['clipboard-read', 'clipboard-write', 'camera', 'microphone'],
    // The service believes this as its proxy: budgets by address do not mix between tests.
    extraHTTPHeaders: { 'x-forwarded-for': `10.1.${randomInt(256)}.${randomInt(1, 255)}` },
  });
  context.setDefaultTimeout(30_000);
  if (options.as) await signIn(context, options.as);
  const problems = watch(context, base);
  const page = await context.newPage();
  return {
    context,
    page,
    open: (path, heading) => openIn(page, path, heading),
    assertClean({ expected } = {}) {
      const left = problems.splice(0).filter((problem) => !expected?.test(problem));
      assert.deepEqual(left, [], 'the page had problems of its own');
    },
  };
}

/** Signs in over the API: the cookie is the context's, and the page finds it. */
async function signIn(context: BrowserContext, { email, password }: Person): Promise<void> {
  const answer = await context.request.post('/v1/auth/login', { data: { email, password } });
  assert.equal(answer.status(), 200, await answer.text());
  await context.addInitScript(() => {
    if (location.protocol !== 'about:') localStorage.setItem('parley.has-session', '1');
  });
}

/** Opens an address of the dashboard and waits for its title. */
async function openIn(page: Page, path: string, heading?: string | RegExp): Promise<Page> {
  await page.goto(path);
  await page.getByRole('heading', { level: 1, ...(heading === undefined ? {} : { name: heading }) }).waitFor();
  return page;
}

/** Begins to go to a page inside the document that is loaded, as a click on a link does. */
export const turnTo = (page: Page, path: string): Promise<void> =>
  page.evaluate((to) => history.pushState(null, '', to), path);

/** Goes there, and waits for its title. */
export async function goTo(page: Page, path: string, heading?: string | RegExp): Promise<void> {
  await turnTo(page, path);
  await page.getByRole('heading', { level: 1, ...(heading === undefined ? {} : { name: heading }) }).waitFor();
}

function watch(context: BrowserContext, base: string): string[] {
  const problems: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`console ${message.type()}: ${message.text()} at ${message.location().url}`);
  });
  context.on('weberror', (failure) => problems.push(`exception: ${failure.error().message}`));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol) && url.host !== new URL(base).host)
      problems.push(`request to another origin: ${url.origin}`);
  });
  return problems;
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  /** What axe could not decide, as text over a gradient, is in neither. */
  passes: unknown[];
  violations: { id: string; help: string; nodes: { target: unknown; failureSummary?: string }[] }[];
}

const everything = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
const colours = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

interface Look {
  /** Rules that are left out. */
  without?: readonly string[];
  /** Where what is around this part was looked at before; then rules for whole pages do not apply. */
  within?: string;
}

/** WCAG 2.0 to 2.2 AA and best practices: no violation. */
export async function assertAccessible(page: Page, what: string, look: Look = {}): Promise<void> {
  const checked = await assertAxe(page, what, everything, look);
  assert.ok(checked > 10, `axe checked almost nothing on ${what}`);
}

/** The same in both themes. The second differs in colours alone, so only its colours are looked at again. */
export async function assertAccessibleInBothThemes(page: Page, what: string, look: Look = {}): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await assertAccessible(page, `${what}, light`, look);
  await assertDarkColours(page, what, look.within);
}

/** What another theme changes. */
export async function assertDarkColours(page: Page, what: string, within?: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const checked = await assertAxe(page, `${what}, dark`, colours, within === undefined ? {} : { within });
  assert.ok(checked > 0, `axe checked no colour on ${what}`);
}

/** Axe does not judge text over a gradient: the shades at the edges of a table that scrolls would hide all its cells. */
function withoutShades(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('.table-frame { background: var(--bg) !important; }');
  document.adoptedStyleSheets.push(sheet);
}

/** How many rules judged something. */
async function assertAxe(page: Page, what: string, runOnly: object, look: Look): Promise<number> {
  const { without = [], within = 'html' } = look;
  const rules = Object.fromEntries(without.map((id) => [id, { enabled: false }]));
  // Once for a document: inside it the pages change, the script stays.
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.evaluate(axeSource);
    await page.evaluate(withoutShades);
  }
  const { passes, violations } = (await page.evaluate(
    async ({ part, ...options }) => {
      // A dialog that still fades in has colours of its own. What turns for ever is not waited for.
      const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
      await Promise.allSettled(ending.map(({ finished }) => finished));
      const { axe } = window as unknown as { axe: { run(root: Document | string, options: object): Promise<unknown> } };
      const root = part === 'html' ? document : part;
      return (await axe.run(root, { ...options, resultTypes: ['violations'], preload: false })) as never;
    },
    { runOnly, rules, part: within },
  )) as AxeResult;
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes.map(({ target, failureSummary }) => [target, failureSummary]),
  }));
  assert.deepEqual(found, [], `${what} is not accessible`);
  return passes.length;
}

/** Nothing needs sideways scrolling of the whole page. */
export async function assertFits(page: Page, what: string): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(overflow, 0, `${what} is wider than the window`);
}

/** The error envelope of the contract, as the outside world would answer it. */
export const envelope = (status: number, code: string, extra: object = {}) => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify({
    code,
    legacyCode: 'TEST',
    message: `Answered ${code}.`,
    requestId: 'req_0123456789abcdef01234567',
    path: '/v1',
    ...extra,
  }),
});
