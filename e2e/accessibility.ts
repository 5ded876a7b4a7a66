import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { markDoubtfulLooks, mayBeCrowded } from './page-looks.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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
  await prepare(page);
  const isRoomy = !(await page.evaluate(mayBeCrowded));
  const without = [...(look.without ?? []), ...colours.values, ...(isRoomy ? ['target-size'] : [])];
  const rules = Object.fromEntries(without.map((id) => [id, { enabled: false }]));
  const frames = await page.evaluate(markKnownFrames, [...judgedFrames]);
  const { checked } = await runAxe(page, what, { runOnly: everything, rules, within: look.within ?? 'html' });
  if (look.within === undefined) for (const frame of frames) judgedFrames.add(frame);
  // A part may be a title and a sentence.
  assert.ok(checked > (look.within === undefined ? 10 : 3), `axe checked almost nothing on ${what}`);
  if (!look.without?.includes('color-contrast')) await assertColours(page, what, look.within);
}

/** The same in both themes. The second differs in colours alone, so only its colours are looked at again. */
export async function assertAccessibleInBothThemes(page: Page, what: string, look: Look = {}): Promise<void> {
  await assertAccessible(page, what, look);
  await assertOtherColours(page, what, look.within);
}

/** What the other theme changes. The page stays in it: to draw it anew costs as much as to look at it. */
export async function assertOtherColours(page: Page, what: string, within?: string): Promise<void> {
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const colorScheme = isDark ? 'light' : 'dark';
  await page.emulateMedia({ colorScheme });
  await prepare(page);
  await assertColours(page, `${what}, ${colorScheme}`, within);
}

/** What is around pages and axe has found well on one of them. Rules for whole pages are judged on each page again. */
const judgedFrames = new Set<string>();

/** Marks what is around this page, such as its menu, where it is known; answers those that are not. */
function markKnownFrames(known: readonly string[]): string[] {
  const isKnown = new Set(known);
  const fresh: string[] = [];
  // What axe judges of them by itself: which link is the present page's, and where links lead, changes nothing.
  const outline = (part: Element): string => {
    const attributes = [...part.attributes]
      .filter(({ name }) => !/^(href|class|id|aria-current|data-)/.test(name))
      .map(({ name, value }) => `${name}=${value}`);
    const text = [...part.childNodes].map((node) => (node.nodeType === 3 ? node.nodeValue : '')).join(' ');
    return `${part.tagName} ${attributes.join(' ')} ${text}(${[...part.children].map(outline).join()})`;
  };
  for (const part of document.querySelectorAll(':is(nav, header, aside, footer):not(:is(main, dialog) *)')) {
    const frame = `${innerWidth} ${outline(part)}`;
    part.toggleAttribute('data-known-frame', isKnown.has(frame));
    if (!isKnown.has(frame)) fresh.push(frame);
  }
  return fresh;
}

/** What axe has found legible of what was in doubt on any page of this worker. */
const legible = new Set<string>();

/** Axe judges what is not legible by the formula alone: placing every text of a page costs more than all other rules. */
async function assertColours(page: Page, what: string, within = 'html'): Promise<void> {
  const mark = () => page.evaluate(markDoubtfulLooks, { within, known: [...legible] });
  let { texts, doubtful } = await mark();
  assert.ok(texts > 0, `there is no text on ${what}`);
  while (doubtful.length > 0) {
    const { passed, isGone } = await runAxe(page, what, { runOnly: colours, rules: {}, within: '[data-new-look]' });
    // What something covers is not judged: its look stays new.
    for (const number of passed) legible.add(doubtful[number] ?? '');
    if (!isGone) break;
    ({ doubtful } = await mark());
  }
}

/** Axe does not judge text over a gradient: the shades at the edges of a table that scrolls would hide all its cells. */
function withoutShades(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('.table-frame { background: var(--bg) !important; }');
  document.adoptedStyleSheets.push(sheet);
}

/** Once for a document: inside it the pages change, the script stays. */
async function prepare(page: Page): Promise<void> {
  // A dialog that still fades in has colours of its own. What turns for ever is not waited for.
  const isPrepared = await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map(({ finished }) => finished));
    return 'axe' in window;
  });
  if (isPrepared) return;
  await page.evaluate(axeSource);
  await page.evaluate(withoutShades);
}

interface AxeRule {
  id: string;
  help: string;
  nodes: { target: unknown; failureSummary?: string; element?: Element }[];
}
interface AxeRun {
  run(
    root: object | string,
    options: object,
  ): Promise<{
    /** What axe could not decide, as text over a gradient, is in neither. */
    passes: AxeRule[];
    violations: AxeRule[];
  }>;
}

/** How many rules judged something, and which marked looks passed; gone is what was drawn anew since it was marked. */
async function runAxe(page: Page, what: string, options: { runOnly: object; rules: object; within: string }) {
  const { checked, passed, violations, isGone } = await page.evaluate(async ({ within, ...wanted }) => {
    const { axe } = window as unknown as { axe: AxeRun };
    const isMarked = within === '[data-new-look]';
    if (isMarked && !document.querySelector(within)) return { checked: 0, passed: [], violations: [], isGone: true };
    const [root, resultTypes] = [
      within === 'html' ? { include: [['html']], exclude: [['[data-known-frame]']] } : within,
      ['violations', ...(isMarked ? ['passes'] : [])],
    ];
    const result = await axe.run(root, { ...wanted, resultTypes, elementRef: isMarked, preload: false });
    const marks = result.passes.flatMap(({ nodes }) =>
      nodes.map(({ element }) => element?.getAttribute('data-new-look')),
    );
    return {
      isGone: false,
      checked: result.passes.length,
      passed: [...new Set(marks)].filter((mark) => typeof mark === 'string').map(Number),
      violations: result.violations.map(({ id, help, nodes }) => ({
        id,
        help,
        nodes: nodes.map(({ target, failureSummary }) => [target, failureSummary] as const),
      })),
    };
  }, options);
  assert.deepEqual(violations, [], `${what} is not accessible`);
  return { checked, passed, isGone };
}
