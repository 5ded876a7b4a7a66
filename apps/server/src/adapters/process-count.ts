import { randomUUID } from 'node:crypto';
import type { ExpiringSets } from '../core/ports.ts';

const set = 'processes/all';
const beatMs = 5_000;
const ttlMs = 15_000;

/** Announces this process to the others, and caches their number for when the store is away. */
export async function startProcessCount(sets: ExpiringSets) {
  const self = randomUUID();
  let last = 1;

  async function beat(): Promise<void> {
    try {
      await sets.touch(set, self, ttlMs);
      await sets.sweep('processes/', 100);
      last = Math.max(1, await sets.count(set));
    } catch {
      // Away: the last known number stands.
    }
  }

  await beat();
  const timer = setInterval(beat, beatMs);
  timer.unref();
  return {
    last: () => last,
    async close(): Promise<void> {
      clearInterval(timer);
      await sets.remove(set, self).catch(() => {});
    },
  };
}
