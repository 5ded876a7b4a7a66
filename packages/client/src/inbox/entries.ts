import type { InboxEntry } from '@parley/contract/types.gen';

/** Where an entry stands: later texts come first. Times are of one length and form, so that texts compare as they do. */
export const placeOf = ({ pinnedAt, lastActivityAt, conversation }: InboxEntry): string =>
  `${pinnedAt === null ? 0 : 1} ${pinnedAt ?? lastActivityAt} ${conversation.uuid}`;

/** No place is behind the one, or before the other. */
const [everything, nothing] = ['', '~'];

export const isListed = ({ hidden, conversation }: InboxEntry): boolean => !hidden && conversation.status === 'ACTIVE';

/** Told of an entry that is another now: as it was known, and as it is; undefined where it is none of the user's. */
export type EntryListener = (id: string, before: InboxEntry | undefined, now: InboxEntry | undefined) => void;

export type Entries = ReturnType<typeof createEntries>;

/** Entries as they are known: pages that were read, and what the socket has said since. */
export function createEntries(onHeard: EntryListener) {
  let known = new Map<string, InboxEntry>();
  /** What the socket has said while a page was on its way: that is newer than the page. */
  let heard: Set<string> | null = null;
  /** What belongs behind the last entry that was read is not shown while there are more: others are missing. */
  let end = everything;
  let isRead = false;
  /** When an entry was last put here, in puts. */
  const puts = new Map<string, number>();
  let now = 0;

  function put(id: string, entry: InboxEntry | undefined): void {
    const before = known.get(id);
    if (entry) known.set(id, entry);
    else known.delete(id);
    heard?.add(id);
    puts.set(id, ++now);
    onHeard(id, before, entry);
  }

  return {
    get: (id: string): InboxEntry | undefined => known.get(id),
    all: (): Iterable<InboxEntry> => known.values(),
    isRead: (): boolean => isRead,
    /** From here on up all entries are known. */
    reach: (): string => (isRead ? end : nothing),
    /** What is known may be old: the first page is read again. */
    age(): void {
      isRead = false;
    },
    beginRead(): void {
      heard = new Set();
    },
    /** Gives those that were known already, as they were. */
    endRead(
      entries: readonly InboxEntry[],
      { isFirst, hasMore }: { isFirst: boolean; hasMore: boolean },
    ): readonly (readonly [before: InboxEntry, now: InboxEntry])[] {
      const before = known;
      const replaced: [InboxEntry, InboxEntry][] = [];
      if (isFirst) known = new Map([...before].filter(([id]) => heard?.has(id)));
      for (const entry of entries) {
        const { id } = entry.conversation;
        if (heard?.has(id)) continue;
        const old = before.get(id);
        if (old) replaced.push([old, entry]);
        known.set(id, entry);
      }
      const last = entries.at(-1);
      end = hasMore && last ? placeOf(last) : everything;
      isRead ||= isFirst;
      heard = null;
      return replaced;
    },
    abandonRead(): void {
      heard = null;
    },
    put: (entry: InboxEntry): void => put(entry.conversation.id, entry),
    remove: (id: string): void => put(id, undefined),
    /** What an answer is given that is asked for now. */
    now: (): number => now,
    /** An answer that the socket has overtaken says nothing new, or the socket will say it as well. */
    putAnswer(entry: InboxEntry, askedAt: number): void {
      const { id } = entry.conversation;
      if ((puts.get(id) ?? 0) <= askedAt) put(id, entry);
    },
    /** Mutes that are over by this time end, as they do at the server, which tells nobody. */
    endMutes(time: number): void {
      for (const [id, entry] of known)
        if (entry.mutedUntil !== null && Date.parse(entry.mutedUntil) <= time)
          known.set(id, { ...entry, muted: false, mutedUntil: null });
    },
    list(): readonly InboxEntry[] {
      const shown = [...known.values()].filter(isListed).map((entry) => [placeOf(entry), entry] as const);
      return shown
        .filter(([place]) => place >= end)
        .sort(([left], [right]) => (left < right ? 1 : -1))
        .map(([, entry]) => entry);
    },
  };
}
