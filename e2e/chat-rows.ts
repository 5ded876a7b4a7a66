import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** The rows of a chat of the kit, as a test looks at them. */
export const list = (page: Page) => page.locator('.parley-scroll').first();
export const row = (page: Page, text: string) => page.locator('.parley-row', { hasText: text });
export const scrollTo = (page: Page, to: number | 'end'): Promise<void> =>
  list(page).evaluate((element, top) => {
    element.scrollTop = top === 'end' ? element.scrollHeight : top;
  }, to);
/** The rows in view, and where each is. */
export const seen = (page: Page): Promise<{ text: string; top: number }[]> =>
  list(page).evaluate((element) => {
    const frame = element.getBoundingClientRect();
    return [...element.querySelectorAll('.parley-row')]
      .map((one) => ({
        text: one.querySelector('.parley-text')?.textContent ?? '',
        box: one.getBoundingClientRect(),
      }))
      .filter(({ box }) => box.bottom > frame.top && box.top < frame.bottom)
      .map(({ text, box }) => ({ text, top: box.top - frame.top }));
  });
export const firstNumber = async (page: Page): Promise<number> =>
  Number.parseInt((await seen(page))[0]?.text ?? '', 10);
export const lastNumber = async (page: Page): Promise<number> =>
  Number.parseInt((await seen(page)).at(-1)?.text ?? '', 10);

/** Rows that are drawn lie under one another without a gap. */
export const assertStacked = async (page: Page): Promise<void> => {
  const gaps = await list(page).evaluate((element) => {
    const boxes = [...element.querySelectorAll('.parley-row')].map((one) => one.getBoundingClientRect());
    return boxes.slice(1).map((box, index) => Math.abs(box.top - (boxes[index]?.bottom ?? 0)));
  });
  assert.ok(Math.max(0, ...gaps) < 1, `rows lie over one another: ${gaps}`);
};
