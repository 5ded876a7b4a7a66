import { type Clock, iso } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';

/** Writes the time of a use, unless one is there that is younger than the second. */
type Touch = (at: string, unlessSince: string) => Promise<void>;

const everyMs = 60_000;
const sizeMax = 10_000;

/** Notes when a key was used, at most once a minute and never in the way of the request. */
export function createLastUse({ clock, log }: { clock: Clock; log: Log }): (id: string, touch: Touch) => void {
  const touched = new Map<string, number>();
  return (id, touch) => {
    const now = clock.now();
    if (now - (touched.get(id) ?? 0) < everyMs) return;
    if (touched.size >= sizeMax) touched.clear();
    touched.set(id, now);
    touch(iso(now), iso(now - everyMs)).catch((error) => log.warn({ error, id }, 'last use of a key not noted'));
  };
}
