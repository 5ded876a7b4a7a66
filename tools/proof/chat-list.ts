/**
 * How `<Chat>` with 100,000 messages (every seventh an answer to one of 40,000 before) is scrolled in Chromium:
 * `node tools/proof/chat-list.ts`. Frame times are the machine's as much as ours; work is the thread time that the page
 * itself took (script, style, layout) for each frame.
 */
import type { CDPSession, Page } from 'playwright-core';
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { openGallery } from '../../e2e/gallery-kit.ts';

const FRAME_MS = 1000 / 60;
const seconds = 5;
const viewport = { width: 480, height: 800 };

/** Scrolls for some seconds, by a person's device or by setting the position in every frame. */
type Scroll = (page: Page, session: CDPSession) => Promise<unknown>;

const byStep =
  (step: number): Scroll =>
  (page) =>
    page.evaluate(stepwise, { step, seconds });

const x = viewport.width / 2;

/** A finger that throws the list again and again, and its momentum. */
const fling: Scroll = async (page, session) => {
  for (let swipe = 0; swipe < seconds * 2; swipe++) {
    await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y: 150 }] });
    for (let y = 200; y <= 600; y += 100)
      await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x, y }] });
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await page.waitForTimeout(400);
  }
};

/** A wheel that runs free, so fast that each frame shows other rows than the one before. */
const freeWheel: Scroll = (_page, session) =>
  session.send('Input.synthesizeScrollGesture', {
    x,
    y: viewport.height / 2,
    yDistance: 60_000 * seconds,
    speed: 60_000,
    gestureSourceType: 'mouse',
  });

const scrolls: Readonly<Record<string, Scroll>> = {
  reading: byStep(-12),
  fling,
  'free wheel': freeWheel,
  'dragged bar': byStep(-40_000),
};

const gallery = await openGallery();
try {
  const page = await gallery.open({ exhibit: 'chat-100000', viewport, isMobile: true, hasTouch: true });
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const work = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    const parts = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'];
    return metrics.filter(({ name }) => parts.includes(name)).reduce((sum, { value }) => sum + value * 1000, 0);
  };
  for (const [name, scroll] of Object.entries(scrolls)) {
    await page.evaluate(watchFrames);
    const before = await work();
    await scroll(page, session);
    const spent = (await work()) - before;
    const { frames, pixels, blank } = await page.evaluate(() => window.framesOfScroll());
    const sorted = frames.toSorted((a, b) => a - b);
    const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1);
    const late = (100 * frames.filter((frame) => frame > 1.5 * FRAME_MS).length) / frames.length;
    console.log(
      `${name}: ${frames.length} frames over ${Math.round(pixels)} px, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, ` +
        `p99 ${at(0.99)} ms, ${late.toFixed(1)} % late; ${blank} without a message in the middle; ` +
        `work ${(spent / frames.length).toFixed(2)} ms a frame`,
    );
  }
} finally {
  await gallery.close();
  await stopShared();
}

declare global {
  interface Window {
    framesOfScroll(): { frames: number[]; pixels: number; blank: number };
  }
}

/** From the end of the list on: how long each frame takes, and whether there is something to see in it. */
async function watchFrames(): Promise<void> {
  const list = document.querySelector('.parley-scroll');
  if (!list) throw new Error('there is no list');
  list.scrollTop = list.scrollHeight;
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { left, top, width, height } = list.getBoundingClientRect();
  const frames: number[] = [];
  let pixels = 0;
  let blank = 0;
  let lastTop = list.scrollTop;
  let last = performance.now();
  let isOver = false;
  const frame = (now: number): void => {
    if (isOver) return;
    frames.push(now - last);
    last = now;
    pixels += Math.abs(list.scrollTop - lastTop);
    lastTop = list.scrollTop;
    if (!document.elementFromPoint(left + width / 2, top + height / 2)?.closest('.parley-row')) blank++;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.framesOfScroll = () => {
    isOver = true;
    return { frames, pixels, blank };
  };
}

/** Scrolls by so much for every frame, between two of them as a browser does. */
async function stepwise({ step, seconds: duration }: { step: number; seconds: number }): Promise<void> {
  const list = document.querySelector('.parley-scroll');
  const next = (): Promise<number> =>
    new Promise((resolve) => requestAnimationFrame((at) => setTimeout(() => resolve(at))));
  let now = await next();
  const end = now + duration * 1000;
  while (list && now < end) {
    list.scrollTop = list.scrollTop + step <= 0 ? list.scrollHeight : list.scrollTop + step;
    now = await next();
  }
}
