import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from './core/log.ts';

interface WatchOptions {
  takesRooms: () => Promise<boolean>;
  log: Pick<Log, 'warn'>;
  isStopping: () => boolean;
  patienceMs?: number;
  everyMs?: number;
}

/** Of a server without a media node beside it. Nodes start after their servers: only one that does not come is worth a word. */
export async function warnWithoutNodes({
  takesRooms,
  log,
  isStopping,
  patienceMs = 60_000,
  everyMs = 2_000,
}: WatchOptions): Promise<void> {
  const deadline = performance.now() + patienceMs;
  do {
    // A database that is away says nothing about nodes.
    if (isStopping() || (await takesRooms().catch(() => false))) return;
    await sleep(everyMs, undefined, { ref: false });
  } while (performance.now() < deadline);
  if (isStopping()) return;
  log.warn({ about: 'media' }, 'No media node takes rooms: calls need one. Run parley sfu, here or elsewhere.');
}
