import { createDeferred, type Deferred } from '../deferred.ts';
import { asSvcError, ConnectionError, RateLimitError, SvcError } from '../errors.ts';
import { backoffMs } from '../reconnect.ts';
import { type Runtime, sleep } from '../runtime.ts';
import { frameOf, type Operation, type OperationFrame, type OperationReply } from './operations.ts';
import type { QueueStorage } from './queue-storage.ts';
import type { SendBudget } from './send-budget.ts';

export interface OutboxDeps {
  runtime: Runtime;
  storage: QueueStorage;
  budget: SendBudget;
  request(frame: OperationFrame): Promise<OperationReply>;
  /** An operation left or came back to the queue. */
  onMove(operation: Operation, isQueued: boolean): void;
  onDone(operation: Operation, reply: OperationReply): void;
  onRefused(operation: Operation, error: SvcError): void;
  onCount(): void;
  onError(error: SvcError): void;
}

/** `queued`: there is no connection, and it goes out with the next one. */
export type Outcome = 'sent' | 'queued';

export interface Outbox {
  /** Resolves when the server has it, or at once without a connection; rejects when the server refuses it. */
  add(operation: Operation): Promise<Outcome>;
  discard(id: string): void;
  waitingOf(conversationId: string): readonly Operation[];
  readonly count: number;
  /** The connection is there: what waits goes out. The first time, so does what an earlier page left behind. */
  open(userId: string): void;
  close(): void;
}

interface Item {
  operation: Operation;
  tries: number;
  /** The server may have it already. */
  isRepeat: boolean;
  settled: Deferred<Outcome>;
}

const TRIES_MAX = 5;

/**
 * Sends go out one after the other, so that their order is kept. Everything else names a stored message, and has a lane
 * of its own that sends waiting for their budget do not block.
 */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { runtime, storage, budget } = deps;
  const lanes: Record<'sends' | 'others', Item[]> = { sends: [], others: [] };
  const all = (): Item[] => [...lanes.sends, ...lanes.others];
  const laneOf = (operation: Operation): Item[] => (operation.kind === 'send' ? lanes.sends : lanes.others);
  let isLoaded = false;
  /** Aborted when the connection goes; null without one. */
  let open: AbortController | null = null;
  const busy = new Set<Item[]>();
  let writes: Promise<unknown> = Promise.resolve();

  /** One write after the other: a removal must not overtake the entry it removes. */
  function persist(write: () => void | Promise<void>): void {
    writes = writes.then(write).catch((cause: unknown) => {
      deps.onError(storageError('written: what waits is lost with this page', cause));
    });
  }

  function enqueue(operation: Operation, isRepeat: boolean): Item {
    const item: Item = { operation, tries: 0, isRepeat, settled: createDeferred() };
    // Restored operations have no awaiting caller.
    item.settled.promise.catch(() => {});
    laneOf(operation).push(item);
    deps.onCount();
    return item;
  }

  function remove(item: Item): void {
    const lane = laneOf(item.operation);
    const index = lane.indexOf(item);
    if (index >= 0) lane.splice(index, 1);
    persist(() => storage.remove(item.operation.id));
    deps.onCount();
  }

  async function work(lane: Item[]): Promise<void> {
    if (busy.has(lane)) return;
    busy.add(lane);
    for (let item = lane[0]; item && open; item = lane[0]) await deliver(item, open.signal);
    busy.delete(lane);
  }

  async function deliver(item: Item, lost: AbortSignal): Promise<void> {
    const { operation } = item;
    const waitMs = operation.kind === 'send' ? budget.take() : 0;
    if (waitMs > 0) {
      for (const { operation: waiting } of lanes.sends) deps.onMove(waiting, true);
      return sleep(runtime, waitMs, lost);
    }
    deps.onMove(operation, false);
    try {
      finish(item, await deps.request(frameOf(operation)));
    } catch (error) {
      if (item.isRepeat && isDoneBefore(operation, error)) return finish(item, { reactions: [] });
      const waitMore = afterFailure(item, error);
      if (waitMore > 0) await sleep(runtime, waitMore, lost);
    }
  }

  function finish(item: Item, reply: OperationReply): void {
    remove(item);
    deps.onDone(item.operation, reply);
    item.settled.resolve('sent');
  }

  /** How long to wait before it is tried again; 0 when that is decided by something else. */
  function afterFailure(item: Item, error: unknown): number {
    const failure = asSvcError(error);
    if (failure instanceof RateLimitError) {
      const waitMs = failure.retryAfterSeconds * 1000;
      if (item.operation.kind !== 'send') return waitMs;
      budget.blockFor(waitMs);
      return 0;
    }
    // The outcome is unknown: the same operation again settles it.
    const isUnknown = failure instanceof ConnectionError;
    item.isRepeat ||= isUnknown || failure.retryable;
    if (isUnknown && !open) return 0;
    if ((isUnknown || failure.retryable) && ++item.tries < TRIES_MAX) return backoffMs(item.tries, runtime.random);
    remove(item);
    deps.onRefused(item.operation, failure);
    item.settled.reject(failure);
    return 0;
  }

  async function load(userId: string): Promise<void> {
    try {
      // Another user of this browser does not speak as this one.
      const stored = (await storage.load()).filter((operation) => operation.userId === userId);
      const known = new Set(all().map(({ operation }) => operation.id));
      for (const operation of stored) if (!known.has(operation.id)) enqueue(operation, true);
    } catch (cause) {
      deps.onError(storageError('read: what an earlier page left is not sent', cause));
    }
  }

  return {
    async add(operation) {
      const item = enqueue(operation, false);
      persist(() => storage.put(operation));
      if (!open) {
        deps.onMove(operation, true);
        return 'queued';
      }
      void work(laneOf(operation));
      return item.settled.promise;
    },
    discard(id) {
      const item = all().find(({ operation }) => operation.id === id);
      if (!item) return;
      remove(item);
      item.settled.reject(new SvcError({ code: 'discarded', message: 'It was discarded.' }));
    },
    waitingOf: (conversationId) =>
      all()
        .map(({ operation }) => operation)
        .filter((operation) => operation.conversationId === conversationId),
    get count() {
      return all().length;
    },
    open(userId) {
      if (open) return;
      open = new AbortController();
      const start = (): void => {
        void work(lanes.sends);
        void work(lanes.others);
      };
      if (isLoaded) return start();
      isLoaded = true;
      void load(userId).then(start);
    },
    close() {
      open?.abort();
      open = null;
      for (const { operation, settled } of all()) {
        deps.onMove(operation, true);
        settled.resolve('queued');
      }
    },
  };
}

/** What cannot be done twice says so the second time. */
const isDoneBefore = (operation: Operation, error: unknown): boolean =>
  operation.kind === 'unreact' && asSvcError(error).code === 'SVC_REACTION_NOT_FOUND';

const storageError = (what: string, cause: unknown): SvcError =>
  new SvcError({ code: 'queue_storage_failed', message: `The queue could not be ${what}.`, cause });
