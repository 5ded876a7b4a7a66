import type { Limits } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { EraseStep, Erasure, Person } from '../../core/personal-data.ts';
import { type Hold, PermanentJobFailure, type Runner } from './worker.ts';

interface ErasureDeps {
  clock: Clock;
  limits: Limits;
  cutOffUser: (person: Person) => Promise<void>;
  steps: readonly EraseStep[];
}

/** So often a user may come back while they are erased. */
const passesMax = 20;

/**
 * First every token is void, then everything goes, step by step. What other processes had in memory may be written a
 * moment later: it looks again until it finds nothing.
 */
export function createErasure({ clock, limits, cutOffUser, steps }: ErasureDeps): Runner {
  async function pass(erasure: Erasure, hold: Hold, before: number): Promise<number> {
    let touched = 0;
    for (const step of steps) {
      let place: string | null = null;
      do {
        const done = await step.run(erasure, place);
        touched += done.touched;
        place = done.next;
        await hold.keep(before + touched);
      } while (place !== null);
    }
    return touched;
  }

  return async ({ userId, options, progress, ...scope }, hold) => {
    const { messages, pseudonym } = options;
    if (userId === null || !messages || !pseudonym) throw new PermanentJobFailure('There is nobody to erase.');
    const { projectId, environment } = scope;
    const erasure: Erasure = { projectId, environment, userId, messages, pseudonym };
    await cutOffUser(erasure);
    let total = progress;
    for (let passes = 1; passes <= passesMax; passes++) {
      const touched = await pass(erasure, hold, total);
      total += touched;
      if (touched === 0 && passes > 1) return { progress: total, isNameless: true };
      await clock.sleep(limits.DATA_ERASURE_SETTLE_MS, hold.signal);
    }
    throw new PermanentJobFailure(
      'The user goes on being active: mint no more tokens for them, then erase them again.',
    );
  };
}
