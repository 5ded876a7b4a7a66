import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
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
  /**
   * Everybody goes. Who comes again finds their page as it was left; else the next gets a browser with nothing of
   * theirs in it: a new one costs three times a page.
   */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export interface VisitOptions {
  as?: Person;
  theme?: 'light' | 'dark';
  width?: number;
  /** Of the browser; American English unless given. */
  locale?: string;
  /** Has, or does, what cannot be taken back, as a clock or an authenticator: nobody gets it afterwards. */
  isLast?: boolean;
}

export interface Visit {
  context: BrowserContext;
  page: Page;
  /** Opens an address of the dashboard and waits for its title; who came again first goes there in the page they left. */
  open(path: string, heading?: string | RegExp): Promise<Page>;
  /** Asserts that nothing went wrong since the last time that the test did not cause: console, exceptions, requests to other origins. */
  assertClean(options?: { expected?: RegExp }): void;
  /** Comes back to what was left. */
  comeAgain(): Promise<void>;
  /** Forgets the person and all that was done. */
  forget(): Promise<void>;
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
  const taken: { visit: Visit; options: VisitOptions }[] = [];
  /** Longest left first. */
  const free: { visit: Visit; of: Person | undefined }[] = [];
  const isOwn = (options: VisitOptions): boolean => Boolean(options.isLast) || options.locale !== undefined;
  async function visitAgain(options: VisitOptions): Promise<Visit | undefined> {
    const index = isOwn(options) ? -1 : free.findIndex(({ of }) => of !== undefined && of === options.as);
    if (index < 0) return undefined;
    const [left] = free.splice(index, 1);
    if (!left) return undefined;
    await left.visit.comeAgain();
    await setLooks(left.visit, options);
    return left.visit;
  }
  async function visitAnew(options: VisitOptions): Promise<Visit> {
    const left = isOwn(options) ? undefined : free.shift();
    if (left?.of) await left.visit.forget();
    return visitDashboard(service.config.publicUrl, options, left?.visit);
  }
  return {
    service,
    async visit(options = {}) {
      const visit = (await visitAgain(options)) ?? (await visitAnew(options));
      taken.push({ visit, options });
      return visit;
    },
    async leave() {
      for (const { visit, options } of taken.splice(0)) {
        if (isOwn(options)) await visit.context.close();
        else {
          if (!options.as) await visit.forget();
          free.push({ visit, of: options.as });
        }
      }
    },
    async close() {
      for (const { visit } of [...taken, ...free]) await visit.context.close();
      await stop();
    },
  };
}

const heightPx = 800;

/** A browser at the dashboard of the service with this address: a new one, or one that has forgotten whose it was. */
export async function visitDashboard(base: string, options: VisitOptions, known?: Visit): Promise<Visit> {
  const visit = known ?? (await newVisit(base, options.locale));
  const { context } = visit;
  await setLooks(visit, options);
  // The service believes this as its proxy: budgets by address do not mix between tests.
  await context.setExtraHTTPHeaders({ 'x-forwarded-for': `10.1.${randomInt(256)}.${randomInt(1, 255)}` });
  if (options.as) await signIn(context, base, options.as);
  return visit;
}

async function setLooks({ page }: Visit, { width = 1280, theme = 'light' }: VisitOptions): Promise<void> {
  await page.setViewportSize({ width, height: heightPx });
  await page.emulateMedia({ colorScheme: theme });
}

/** Says to the page that the session was opened elsewhere. */
const signedInCookie = 'signed-in-over-api';

async function newVisit(base: string, locale = 'en-US'): Promise<Visit> {
  const browser = await sharedChromium();
  const context = await browser.newContext({
    baseURL: base,
    locale,
    // What fades in has no colour of its own yet.
    ...stillPage,
    permissions: ['clipboard-read', 'clipboard-write', 'camera', 'microphone'],
  });
  context.setDefaultTimeout(30_000);
  await context.addInitScript((name) => {
    if (location.protocol !== 'about:' && document.cookie.includes(name))
      localStorage.setItem('parley.has-session', '1');
  }, signedInCookie);
  const problems = watch(context, base);
  const page = await context.newPage();
  let isBack = false;
  return {
    context,
    page,
    async open(path, heading) {
      if (isBack) await goTo(page, path, heading);
      else await openIn(page, path, heading);
      isBack = false;
      return page;
    },
    assertClean({ expected } = {}) {
      const left = problems.splice(0).filter((problem) => !expected?.test(problem));
      assert.deepEqual(left, [], 'the page had problems of its own');
    },
    async comeAgain() {
      await standAside(context, page);
      problems.length = 0;
      isBack = true;
    },
    async forget() {
      isBack = false;
      await clear(context, page, base);
      problems.length = 0;
    },
  };
}

/** Nothing of a test is left but its page. */
async function standAside(context: BrowserContext, page: Page): Promise<void> {
  for (const other of context.pages()) if (other !== page) await other.close();
  page.removeAllListeners();
  await context.unrouteAll();
  await page.unrouteAll();
}

async function clear(context: BrowserContext, page: Page, base: string): Promise<void> {
  await standAside(context, page);
  // Of the same origin: an empty page would be another renderer's.
  await page.goto('/healthz');
  await context.clearCookies();
  await page.evaluate(() => sessionStorage.clear());
  const devtools = await context.newCDPSession(page);
  await devtools.send('Storage.clearDataForOrigin', { origin: new URL(base).origin, storageTypes: 'all' });
  await devtools.detach();
}

/** Signs in over the API: the cookie is the context's, and the page finds it. */
async function signIn(context: BrowserContext, base: string, { email, password }: Person): Promise<void> {
  const answer = await context.request.post('/v1/auth/login', { data: { email, password } });
  assert.equal(answer.status(), 200, await answer.text());
  await context.addCookies([{ name: signedInCookie, value: '1', url: base }]);
}

/** Opens an address of the dashboard and waits for its title. */
async function openIn(page: Page, path: string, heading?: string | RegExp): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { level: 1, ...(heading === undefined ? {} : { name: heading }) }).waitFor();
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
