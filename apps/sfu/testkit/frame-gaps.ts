import type { Caller } from './call.ts';

declare global {
  interface Window {
    frameTimes: number[];
  }
}

/** Notes when each new picture shows on the page. */
export const watchFrames = ({ page }: Caller): Promise<void> =>
  page.evaluate(() => {
    window.frameTimes = [];
    const video = document.querySelector('video');
    const note = (now: number) => {
      window.frameTimes.push(now);
      video?.requestVideoFrameCallback(note);
    };
    video?.requestVideoFrameCallback(note);
  });

const GAP_MS_MIN = 200;

/** Times without a new picture since the last call, in ms, longest first; those under 200 ms are left out. */
export const takeGaps = ({ page }: Caller): Promise<number[]> =>
  page.evaluate((least) => {
    const times = window.frameTimes;
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
    times.splice(0, times.length - 1);
    return gaps.filter((gap) => gap >= least).sort((a, b) => b - a);
  }, GAP_MS_MIN);
