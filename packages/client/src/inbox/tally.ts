import type { InboxBadge, InboxEntry } from '@parley/contract/types.gen';
import { isListed, placeOf } from './entries.ts';

const isUnread = (entry: InboxEntry): boolean => entry.unreadCount > 0 && !entry.muted && isListed(entry);

/** Messages are gone and others have come: between the two it may have stood anywhere. */
const hasLost = (before: InboxEntry, now: InboxEntry): boolean =>
  before.lastMessage?.id !== now.lastMessage?.id &&
  (now.lastMessage?.seq ?? 0) - (before.lastMessage?.seq ?? 0) >
    now.conversation.messageCount - before.conversation.messageCount;

export type Tally = ReturnType<typeof createTally>;

/**
 * The badge as a sum: of entries that are known one by one, those from a place on up, and of the rest as the server
 * counts it. Whatever changes while the rest is counted is told to this, so that nothing is in both, or in neither.
 */
export function createTally(from: string, entries: Iterable<InboxEntry>) {
  const counted = new Set<string>();
  for (const entry of entries) if (placeOf(entry) >= from) counted.add(entry.conversation.id);
  /** Those that the rest may have counted, as they were before. */
  const missed = new Set<string>();
  let rest: InboxBadge | null = null;
  let isOver = false;

  const hasStayed = (before: InboxEntry | undefined, now: InboxEntry | undefined): boolean =>
    before !== undefined &&
    now !== undefined &&
    placeOf(now) >= from &&
    (before.pinnedAt === null || before.pinnedAt === now.pinnedAt) &&
    !hasLost(before, now);

  return {
    note(id: string, before: InboxEntry | undefined, now: InboxEntry | undefined): void {
      if (!counted.has(id) || !hasStayed(before, now)) missed.add(id);
    },
    /** The same of an entry that was read, not heard: of the others the socket will tell. */
    noteRead(before: InboxEntry, now: InboxEntry): void {
      const { id } = now.conversation;
      if (counted.has(id) && !hasStayed(before, now)) missed.add(id);
    },
    settle(badge: InboxBadge): void {
      rest = badge;
    },
    /** When the rest is another by itself. */
    changesAt: (): number => (rest?.changesAt && !isOver ? Date.parse(rest.changesAt) : Number.POSITIVE_INFINITY),
    expire(): void {
      isOver = true;
    },
    /** A rest of nothing held nothing of those that were missed. */
    isExact: (): boolean => rest !== null && !isOver && (missed.size === 0 || rest.unreadConversations === 0),
    sum(get: (id: string) => InboxEntry | undefined): InboxBadge | null {
      if (!rest) return null;
      let { unreadConversations, unreadMessages, unreadMentions } = rest;
      for (const id of unreadConversations === 0 ? new Set([...counted, ...missed]) : counted) {
        const entry = get(id);
        if (!entry || !isUnread(entry)) continue;
        unreadConversations++;
        unreadMessages += entry.unreadCount;
        unreadMentions += entry.unreadMentions;
      }
      return { unreadConversations, unreadMessages, unreadMentions };
    },
  };
}
