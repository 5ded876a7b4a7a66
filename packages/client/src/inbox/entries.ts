import type { InboxEntry } from '@parley/contract/types.gen';

/** Where an entry stands: later texts come first. Times are of one length and form, so that texts compare as they do. */
const placeOf = ({ pinnedAt, lastActivityAt, conversation }: InboxEntry): string =>
  `${pinnedAt === null ? 0 : 1} ${pinnedAt ?? lastActivityAt} ${conversation.uuid}`;

const isListed = ({ hidden, conversation }: InboxEntry): boolean => !hidden && conversation.status === 'ACTIVE';

/** Entries as they are known: pages that were read, and what the socket has said since. */
export function createEntries() {
  let known = new Map<string, InboxEntry>();
  /** What the socket has said while a page was on its way: that is newer than the page. */
  let heard: Set<string> | null = null;
  /** Of the last entry that was read while there are more: what belongs behind it is not shown, as others are missing. */
  let end: string | null = null;

  return {
    beginRead(): void {
      heard = new Set();
    },
    endRead(entries: readonly InboxEntry[], { isFirst, hasMore }: { isFirst: boolean; hasMore: boolean }): void {
      const before = known;
      if (isFirst) known = new Map([...before].filter(([id]) => heard?.has(id)));
      for (const entry of entries) if (!heard?.has(entry.conversation.id)) known.set(entry.conversation.id, entry);
      const last = entries.at(-1);
      if (last || isFirst) end = hasMore && last ? placeOf(last) : null;
      heard = null;
    },
    abandonRead(): void {
      heard = null;
    },
    put(entry: InboxEntry): void {
      known.set(entry.conversation.id, entry);
      heard?.add(entry.conversation.id);
    },
    /** An answer that the socket has overtaken says nothing new: a message that it lacks has come since. */
    putAnswer(entry: InboxEntry): void {
      const { lastMessage } = known.get(entry.conversation.id) ?? entry;
      if ((lastMessage?.seq ?? 0) <= (entry.lastMessage?.seq ?? 0)) this.put(entry);
    },
    remove(id: string): void {
      known.delete(id);
      heard?.add(id);
    },
    list(): readonly InboxEntry[] {
      const shown = [...known.values()].filter(isListed).map((entry) => [placeOf(entry), entry] as const);
      return shown
        .filter(([place]) => end === null || place >= end)
        .sort(([left], [right]) => (left < right ? 1 : -1))
        .map(([, entry]) => entry);
    },
  };
}
