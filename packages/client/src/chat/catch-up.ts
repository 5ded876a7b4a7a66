import { asSvcError, ConnectionError, type SvcError } from '../errors.ts';
import type { Runtime } from '../runtime.ts';
import { createChangeLog } from './change-log.ts';
import type { Change, Subscription } from './records.ts';

export interface CatchUpDeps {
  runtime: Pick<Runtime, 'setTimer'>;
  /** Each change once, in order. */
  onChange(change: Change): void;
  readChanges(since: number): Promise<unknown>;
  /** Reads everything anew. */
  reload(): Promise<void>;
  onError(error: SvcError): void;
}

interface ChangePage {
  changes: Change[];
  /** The page covers everything up to it. */
  change: number;
  complete: boolean;
}

/** A frame that is missing usually comes a moment later: ask only then. */
const PATIENCE_MS = 250;

/** Keeps one conversation complete: across lost frames, lost connections and a server that was restored. */
export function createCatchUp({ runtime, onChange, readChanges, reload, onError }: CatchUpDeps) {
  const log = createChangeLog(onChange);
  let epoch: string | null = null;
  /** The server is at least here. */
  let target = 0;
  let isReading = false;
  let isWaiting = false;

  const isBehind = (): boolean => log.hasGap || (log.last ?? 0) < target;

  function fillSoon(): void {
    if (isWaiting || !isBehind()) return;
    isWaiting = true;
    runtime.setTimer(() => {
      isWaiting = false;
      if (isBehind()) void fill();
    }, PATIENCE_MS);
  }

  async function fill(): Promise<void> {
    if (isReading) return;
    isReading = true;
    try {
      for (let isComplete = false; !isComplete; ) {
        // The answer of our own frame.
        const page = (await readChanges(log.last ?? 0)) as ChangePage;
        const before = log.last;
        log.cover(page.changes, page.change);
        isComplete = page.complete || log.last === before;
      }
    } catch (error) {
      // The next subscription says where we stand, and starts again from there.
      if (!(error instanceof ConnectionError)) onError(asSvcError(error));
    } finally {
      isReading = false;
    }
  }

  async function restart(subscription: Subscription): Promise<void> {
    log.start(subscription.change);
    try {
      await reload();
    } catch (error) {
      onError(asSvcError(error));
    }
  }

  return {
    get position(): { since?: number; epoch?: string } {
      return log.last === null || epoch === null ? {} : { since: log.last, epoch };
    },
    subscribed(subscription: Subscription): void {
      const isFirst = log.last === null;
      const isOtherHistory = !isFirst && (subscription.epoch !== epoch || subscription.change < (log.last ?? 0));
      epoch = subscription.epoch;
      target = subscription.change;
      if (isFirst) log.start(subscription.change);
      else if (isOtherHistory) void restart(subscription);
      else if (!subscription.recovered) void fill();
      else fillSoon();
    },
    recovered(changes: readonly Change[], to: number, isComplete: boolean): void {
      log.cover(changes, to);
      if (!isComplete) void fill();
    },
    take(change: Change): void {
      log.take(change);
      fillSoon();
    },
  };
}
