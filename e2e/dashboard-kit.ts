import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page, Browser as PlaywrightBrowser } from 'playwright-core';
import type { Person } from '../apps/server/testkit/people.ts';
import { type RoomsService, startRooms } from '../apps/server/testkit/rooms.ts';
import type { TestServiceOptions } from '../apps/server/testkit/service.ts';
import { launchForContexts } from './browser.ts';

/** The dashboard of a whole service with a media node, in a real browser. */
export interface DashboardKit {
  service: RoomsService;
  /** A browser of one person, or of nobody. */
  visit(options?: VisitOptions): Promise<Visit>;
  close(): Promise<void>;
}

export interface VisitOptions {
  as?: Person;
  theme?: 'light' | 'dark';
  width?: number;
  reducedMotion?: boolean;
}

export interface Visit {
  context: BrowserContext;
  page: Page;
  /** Opens an address of the dashboard and waits for its title. */
  open(path: string, heading?: string | RegExp): Promise<Page>;
  /** Asserts that nothing went wrong that the test did not cause: console, exceptions, requests to other origins. */
  assertClean(options?: { expected?: RegExp }): void;
}

export async function startDashboard(options: TestServiceOptions = {}): Promise<DashboardKit> {
  buildDashboard();
  const [service, browser] = await Promise.all([startRooms(options), launchForContexts()]);
  return {
    service,
    visit: (visitOptions = {}) => visit(service, browser, visitOptions),
    async close() {
      await browser.close();
      await service.stop();
    },
  };
}

/** What `npm install` does; free when the sources have not changed. */
export function buildDashboard(): void {
  execFileSync(process.execPath, ['apps/dashboard/build.ts'], { stdio: 'inherit' });
}

const heightPx = 800;

async function visit(service: RoomsService, browser: PlaywrightBrowser, options: VisitOptions): Promise<Visit> {
  const base = service.config.publicUrl;
  const context = await browser.newContext({
    baseURL: base,
    viewport: { width: options.width ?? 1280, height: heightPx },
    colorScheme: options.theme ?? 'light',
    reducedMotion: options.reducedMotion ? 'reduce' : 'no-preference',
    permissions: ['clipboard-read', 'clipboard-write'],
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
      const left = problems.filter((problem) => !expected?.test(problem));
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
export async function openIn(page: Page, path: string, heading?: string | RegExp): Promise<Page> {
  await page.goto(path);
  await page.getByRole('heading', { level: 1, ...(heading === undefined ? {} : { name: heading }) }).waitFor();
  return page;
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
  passes: unknown[];
  violations: { id: string; help: string; nodes: { target: unknown; failureSummary?: string }[] }[];
}

/** WCAG 2.0 to 2.2 AA and best practices: no violation. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(axeSource);
  const { passes, violations } = (await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(root: Document, options: object): Promise<unknown> } };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    return (await axe.run(document, { runOnly: { type: 'tag', values: tags } })) as never;
  })) as AxeResult;
  assert.ok(passes.length > 10, `axe checked almost nothing on ${what}`);
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes.map(({ target, failureSummary }) => [target, failureSummary]),
  }));
  assert.deepEqual(found, [], `${what} is not accessible`);
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
