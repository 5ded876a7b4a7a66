import type { ChangeKind, ChangeNotice } from '@parley/contract';

/** What a page that is looked at is told of. Null: anything may have changed. */
export type Told = ReadonlySet<ChangeKind> | null;

interface ChangeFeedDeps {
  /** Rejects when there is no stream to be had. */
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;
  tell: (changed: Told) => void;
  isVisible: () => boolean;
  /** Resolves with the next change of visibility, or when the signal aborts. */
  visibilityChange: (signal: AbortSignal) => Promise<void>;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Pages are told at most so often; the first time at once. */
const throttleMs = 1_000;
/** The service says something every 15 seconds: a stream that is silent for longer is dead. */
const silentMsMax = 60_000;
/** Where the stream cannot be opened, pages ask by themselves; it is tried again this long after. */
const retryMs = 10_000;

let isOpenNow = false;
const listeners = new Set<() => void>();

/** Whether pages are told of changes; else they have to ask. */
export const isFed = (): boolean => isOpenNow;
export function onFedChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
function setOpen(isOpen: boolean): void {
  if (isOpen === isOpenNow) return;
  isOpenNow = isOpen;
  for (const listener of listeners) listener();
}

/**
 * Follows the changes of one project and environment until `leaving` aborts. A hidden page follows nothing; a listener
 * that missed something is told that anything may have changed.
 */
export async function followChanges(deps: ChangeFeedDeps, leaving: AbortSignal): Promise<void> {
  const { isVisible, visibilityChange, wait } = deps;
  const coalesced = coalesce(deps.tell, wait, leaving);
  let isFirst = true;
  while (!leaving.aborted) {
    if (!isVisible()) {
      await visibilityChange(leaving);
      continue;
    }
    const hasBeenOpen = await readOnce(deps, isFirst, coalesced, leaving);
    isFirst = false;
    setOpen(false);
    if (leaving.aborted || !isVisible() || hasBeenOpen) continue;
    // What is shown gets old from here on: asking once starts the asking in turns.
    coalesced(null);
    await wait(retryMs, leaving);
  }
}

/** One stream from its opening to its end; false when it could not be opened. */
async function readOnce(
  { open, isVisible, visibilityChange, wait }: ChangeFeedDeps,
  isFirst: boolean,
  tell: (changed: Told) => void,
  leaving: AbortSignal,
): Promise<boolean> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  leaving.addEventListener('abort', end);
  const endWhenHidden = async (): Promise<void> => {
    while (!ending.signal.aborted && isVisible()) await visibilityChange(ending.signal);
    end();
  };
  void endWhenHidden();
  let hasOpened = false;
  try {
    const stream = await open(ending.signal);
    for await (const frame of framesOf(stream, wait, ending)) {
      if (!hasOpened) {
        hasOpened = true;
        setOpen(true);
        // What was loaded before the first stream is a moment old at most: it need not be asked for at once.
        if (isFirst) await wait(throttleMs, ending.signal);
        if (ending.signal.aborted) return hasOpened;
        tell(null);
      }
      const [, data] = /^event: change\ndata: (.*)$/m.exec(frame) ?? [];
      if (data !== undefined) tell(new Set((JSON.parse(data) as ChangeNotice).kinds));
    }
  } catch {
    // Cut off, refused, or ended by us: the loop around it decides what follows.
  } finally {
    leaving.removeEventListener('abort', end);
    end();
  }
  return hasOpened;
}

async function* framesOf(
  stream: ReadableStream<Uint8Array>,
  wait: ChangeFeedDeps['wait'],
  ending: AbortController,
): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const heard = new AbortController();
    void wait(silentMsMax, AbortSignal.any([heard.signal, ending.signal])).then(() => {
      if (!heard.signal.aborted) ending.abort();
    });
    const { value, done } = await reader.read().finally(() => heard.abort());
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    yield* frames;
  }
}

/** Gathers what comes within `throttleMs` after a call, for the next one. */
function coalesce(
  tell: (changed: Told) => void,
  wait: ChangeFeedDeps['wait'],
  leaving: AbortSignal,
): (changed: Told) => void {
  let waiting: Told | undefined;
  let isThrottled = false;
  async function pass(changed: Told): Promise<void> {
    isThrottled = true;
    tell(changed);
    await wait(throttleMs, leaving);
    isThrottled = false;
    const next = waiting;
    waiting = undefined;
    if (next !== undefined && !leaving.aborted) void pass(next);
  }
  return (changed) => {
    if (!isThrottled) void pass(changed);
    else if (waiting === undefined) waiting = changed;
    else waiting = waiting === null || changed === null ? null : new Set([...waiting, ...changed]);
  };
}
