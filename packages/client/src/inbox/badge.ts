import type { InboxBadge, InboxEntry } from '@parley/contract/types.gen';
import type { Http } from '../http.ts';
import type { Entries } from './entries.ts';
import { createTally, type Tally } from './tally.ts';

/** What is asked for after a change waits for more of them. */
const SOON_MS = 300;
/** Between two questions for the rest; longer after each that follows closely. */
const [PAUSE_MS, PAUSE_MAX_MS] = [1_000, 16_000];
/** Longer ones begin anew. */
const TIMER_MAX_MS = 2 ** 31 - 1;

const none: InboxBadge = { unreadConversations: 0, unreadMessages: 0, unreadMentions: 0 };

interface BadgeDeps {
  http: Http;
  entries: () => Entries;
  /** Of the last page that was read; null where that was the last of all, undefined while none is. */
  cursor: () => string | null | undefined;
  onChange: () => void;
}

export type Badge = ReturnType<typeof createBadge>;

/**
 * The badge over all conversations. Known entries are counted here; what is behind them is asked for at the start, and
 * again when one of those changes that had a part in it.
 */
export function createBadge({ http, entries, cursor, onChange }: BadgeDeps) {
  let [tally, reading]: [Tally | null, Tally | null] = [null, null];
  let shown: InboxBadge | null = null;
  let [asking, ending]: (ReturnType<typeof setTimeout> | undefined)[] = [];
  let [pauseMs, readAt] = [PAUSE_MS, Number.NEGATIVE_INFINITY];
  let [isFollowing, isClosed, skewMs] = [false, false, 0];

  const value = (): InboxBadge | null => {
    shown = tally?.sum(entries().get) ?? shown;
    return shown;
  };

  function askSoon(): void {
    if (isClosed || asking !== undefined || reading) return;
    const waitMs = Math.max(SOON_MS, readAt + pauseMs - performance.now());
    asking = setTimeout(() => void read(), waitMs);
  }

  async function read(): Promise<void> {
    clearTimeout(asking);
    asking = undefined;
    if (isClosed) return;
    const mine = createTally(entries().reach(), entries().all());
    reading = mine;
    const rest = await restBehind(cursor());
    if (reading !== mine || isClosed) return;
    reading = null;
    if (rest) {
      mine.settle(rest);
      tally = mine;
      watchMutes();
      onChange();
    }
    if (rest ? !mine.isExact() : isFollowing) askSoon();
  }

  /** Null where there was no answer. */
  async function restBehind(cursor: string | null | undefined): Promise<InboxBadge | null> {
    if (cursor === null) return none;
    const now = performance.now();
    pauseMs = now - readAt < 2 * pauseMs ? Math.min(2 * pauseMs, PAUSE_MAX_MS) : PAUSE_MS;
    readAt = now;
    try {
      // The route's row says what it gives.
      return (await http.call('GET', '/v1/chat/inbox/badge', { query: { cursor } })) as InboxBadge;
    } catch {
      return null;
    }
  }

  const serverTime = (): number => Date.now() + skewMs;

  /** A mute ends without a word from the server. */
  function watchMutes(): void {
    clearTimeout(ending);
    let first = tally?.changesAt() ?? Number.POSITIVE_INFINITY;
    for (const { mutedUntil } of entries().all()) if (mutedUntil) first = Math.min(first, Date.parse(mutedUntil));
    if (isClosed || first === Number.POSITIVE_INFINITY) return;
    ending = setTimeout(endMutes, Math.min(Math.max(first - serverTime(), 0), TIMER_MAX_MS));
  }

  function endMutes(): void {
    const now = serverTime();
    entries().endMutes(now);
    if (tally && tally.changesAt() <= now) {
      tally.expire();
      askSoon();
    }
    watchMutes();
    onChange();
  }

  /** Until all is read again, what was counted last is shown. */
  function drop(): void {
    value();
    [tally, reading] = [null, null];
  }

  return {
    value,
    /** Of an entry that is another now. */
    note(id: string, before: InboxEntry | undefined, now: InboxEntry | undefined): void {
      tally?.note(id, before, now);
      reading?.note(id, before, now);
      if (tally && !tally.isExact()) askSoon();
      watchMutes();
    },
    noteRead(pairs: readonly (readonly [before: InboxEntry, now: InboxEntry])[]): void {
      for (const [before, now] of pairs) for (const one of [tally, reading]) one?.noteRead(before, now);
      // Now all of them are known, which needs no question.
      if (tally && cursor() === null) void read();
      else if (tally && !tally.isExact()) askSoon();
      watchMutes();
    },
    /** All is told from here on. Where it is not recovered, what was known does not hold and is about to be read. */
    follow({ at, recovered }: { at: number; recovered: boolean }): void {
      isFollowing = true;
      skewMs = at - Date.now();
      if (!recovered) drop();
      else if (!tally?.isExact()) askSoon();
      watchMutes();
    },
    pause(): void {
      isFollowing = false;
      clearTimeout(asking);
      asking = undefined;
    },
    read,
    close(): void {
      isClosed = true;
      clearTimeout(asking);
      clearTimeout(ending);
    },
  };
}
