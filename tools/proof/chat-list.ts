/**
 * How long the frames of `<Chat>` with 100,000 messages take while it is scrolled: `node tools/proof/chat-list.ts`.
 * Frame times are the machine's as much as ours; work per frame is what the page itself did (script, style, layout).
 */
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { openGallery } from '../../e2e/gallery-kit.ts';

const seconds = 5;

const gallery = await openGallery();
try {
  const page = await gallery.open({ exhibit: 'chat-100000', viewport: { width: 480, height: 800 } });
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const work = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    const parts = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'];
    return metrics.filter(({ name }) => parts.includes(name)).reduce((sum, { value }) => sum + value * 1000, 0);
  };
  for (const [name, step] of [
    ['reading', -12],
    ['quick wheel', -240],
    ['dragged bar', -40_000],
  ] as const) {
    const before = await work();
    const frames = await page.evaluate(scroll, { step, seconds });
    const spent = (await work()) - before;
    const sorted = frames.toSorted((a, b) => a - b);
    const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1);
    const rows = await page.locator('.parley-row').count();
    console.log(
      `${name}: ${frames.length} frames in ${seconds} s, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms; ` +
        `work ${(spent / frames.length).toFixed(2)} ms a frame; ${rows} rows`,
    );
  }
} finally {
  await gallery.close();
  await stopShared();
}

/** Scrolls by so much in every frame, and gives how long each took. */
async function scroll({ step, seconds: duration }: { step: number; seconds: number }): Promise<number[]> {
  const list = document.querySelector('.parley-scroll');
  const frames: number[] = [];
  const next = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
  if (list) list.scrollTop = list.scrollHeight;
  let last = await next();
  const end = last + duration * 1000;
  while (list && last < end) {
    list.scrollTop = list.scrollTop + step <= 0 ? list.scrollHeight : list.scrollTop + step;
    const now = await next();
    frames.push(now - last);
    last = now;
  }
  return frames;
}
