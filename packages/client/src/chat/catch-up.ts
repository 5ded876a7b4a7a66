import type { ChatClientFrames, ReplyTo } from '@parley/contract';
import { asSvcError, ConnectionError, type SvcError } from '../errors.ts';
import { backoffMs } from '../reconnect.ts';
import type { Runtime } from '../runtime.ts';
import { createChangeLog } from './change-log.ts';
import type { Change, Subscription } from './records.ts';

/** The page covers everything up to `change`. */
export type ChangePage = Pick<ReplyTo<ChatClientFrames['changes']>, 'changes' | 'change'>;

export interface CatchUpDeps {
  runtime: Pick<Runtime, 'setTimer' | 'random'>;
  /** Without a connection nothing is read: the next subscription starts it again. */
  isConnected(): boolean;
  /** Each change once, in order. */
  onChange(change: Change): void;
  /** After a page of them, which was read at change `asOf` or later. */
  onPage(changes: readonly Change[], asOf: number): void;
  readChanges(since: number): Promise<ChangePage>;
  /** Reloads everything. */
  reload(): Promise<void>;
  onError(error: SvcError): void;
}

/** A frame that is missing usually comes a moment later: ask only then. */
const PATIENCE_MS = 250;
/** What the server said that it sends may be long, and the line slow: asking for it again would double it. */
const RECOVERY_PATIENCE_MS = 2_000;

/** Keeps one conversation complete: across lost frames, lost connections and a server that was restored. */
export function createCatchUp(deps: CatchUpDeps) {
  const { runtime, isConnected, onChange, onPage, readChanges, reload, onError } = deps;
  const log = createChangeLog(onChange);
  let epoch: string | null = null;
  /** The server is at least here. */
  let target = 0;
  let isOtherHistory = false;
  let isReading = false;
  let failures = 0;
  /** Takes back the reading that is due. */
  let cancel: (() => void) | null = null;
  let waiting: (() => void)[] = [];

  const isBehind = (): boolean => isOtherHistory || log.hasGap || (log.last ?? 0) < target;

  function readSoon(afterMs: number): void {
    if (cancel || isReading || !isBehind()) return;
    cancel = runtime.setTimer(() => void read(), afterMs);
  }

  function stopWaiting(): void {
    cancel?.();
    cancel = null;
  }

  function release(): void {
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  async function read(): Promise<void> {
    stopWaiting();
    if (isReading || !isBehind()) return;
    isReading = true;
    const isReload = isOtherHistory;
    isOtherHistory = false;
    let canRetry = true;
    try {
      await readAll(isReload);
    } catch (error) {
      const failure = asSvcError(error);
      const isLost = failure instanceof ConnectionError;
      isOtherHistory ||= isReload;
      canRetry = isLost || failure.retryable;
      if (!isLost) onError(failure);
    }
    isReading = false;
    release();
    if (!isBehind()) failures = 0;
    else if (canRetry && isConnected()) readSoon(backoffMs(failures++, runtime.random));
  }

  async function readAll(isReload: boolean): Promise<void> {
    if (isReload) await reload();
    for (let isDue = isReload || isBehind(); isDue; isDue = isBehind()) {
      const before = log.last;
      const page = await readChanges(before ?? 0);
      log.cover(page.changes, page.change);
      onPage(page.changes, page.change);
      if (log.last === before) return;
    }
  }

  return {
    get position(): { since?: number; epoch?: string } {
      return log.last === null || epoch === null ? {} : { since: log.last, epoch };
    },
    subscribed(subscription: Pick<Subscription, 'change' | 'epoch' | 'recovered'>): void {
      const { change, recovered } = subscription;
      // A lower number of the same epoch is a process that lags behind: what it repeats is known.
      const isOther = epoch !== null && subscription.epoch !== epoch;
      if (epoch === null || isOther) {
        log.start(change);
        target = change;
      }
      epoch = subscription.epoch;
      target = Math.max(target, change);
      isOtherHistory ||= isOther;
      if (recovered) readSoon(RECOVERY_PATIENCE_MS);
      else void read();
    },
    recovered(changes: readonly Change[], to: number, isComplete: boolean): void {
      log.cover(changes, to);
      if (!isComplete) target = Math.max(target, to + 1);
      if (!isBehind()) release();
      stopWaiting();
      if (isComplete) readSoon(RECOVERY_PATIENCE_MS);
      else void read();
    },
    take(change: Change): void {
      log.take(change);
      if (!isBehind()) release();
      readSoon(PATIENCE_MS);
    },
    /** Resolves once nothing is missing, or reading it was tried. */
    settled: (): Promise<void> => (isBehind() ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),
    /** The connection is gone, or the conversation left: no timer stays. */
    pause(): void {
      stopWaiting();
      release();
      failures = 0;
    },
  };
}
