import type { ConversationRecord } from '../chat/records.ts';
import type { ParleyError } from '../errors.ts';
import type { Tracked } from './tracked.ts';
import type { ConversationEntry, ConversationSource } from './types.ts';

/** What is known of one conversation of the list. */
export interface Item {
  readonly ref: string;
  title: string | undefined;
  /** As the server listed it last. */
  record: ConversationRecord | null;
  tracked: Tracked | null;
  error: ParleyError | null;
  /** Counts up with every `open`; 0: never opened. */
  openedAt: number;
  entry: ConversationEntry | null;
}

export const newItem = (ref: string): Item => ({
  ref,
  title: undefined,
  record: null,
  tracked: null,
  error: null,
  openedAt: 0,
  entry: null,
});

/** A conversation has several names. */
export const isNamed = ({ id, uuid, name, roomId }: ConversationRecord, ref: string): boolean =>
  [id, uuid, name, roomId].includes(ref);

export const findItem = (items: readonly Item[], ref: string): Item | undefined =>
  items.find((item) => item.ref === ref) ??
  items.find(({ record, tracked }) => (record && isNamed(record, ref)) || tracked?.conversation.id === ref);

/** The items of a newly read list: those that are known stay as they are. */
export function mergeItems(
  known: readonly Item[],
  sources: readonly ConversationSource[] | null,
  records: readonly ConversationRecord[],
): Item[] {
  const listed = (sources ?? records.map(({ id }) => ({ ref: id }))).map(({ ref, title }: ConversationSource) => {
    const record = records.find((one) => isNamed(one, ref)) ?? null;
    const item = findItem(known, ref) ?? newItem(ref);
    // Listed: the user is a member (again), so it is worth another try.
    return Object.assign(item, { title, record: record ?? item.record, error: record ? null : item.error });
  });
  // Opened by the application, whatever the list says.
  const opened = known.filter((item) => item.openedAt > 0 && !listed.includes(item) && !item.error);
  return [...new Set([...listed, ...opened])];
}

export function activityOf({ record, tracked }: Item): number | null {
  const at = tracked?.lastMessage?.createdAt ?? record?.lastMessageAt ?? null;
  return at === null ? null : Date.parse(at);
}

const byActivity = (a: number | null, b: number | null): number => (b ?? 0) - (a ?? 0);
export const mostRecentFirst = (items: readonly Item[]): Item[] =>
  [...items].sort((a, b) => byActivity(activityOf(a), activityOf(b)));

/** The same object as long as nothing in it changes. */
export function entryOf(item: Item, draft: string): ConversationEntry {
  const { ref, title, record, tracked, error } = item;
  const present = tracked?.present ?? [];
  const entry: ConversationEntry = {
    conversationRef: ref,
    conversationId: tracked?.conversation.id ?? record?.id ?? null,
    title: title ?? record?.name ?? ref,
    unread: tracked ? tracked.unread : (record?.unreadCount ?? 0),
    mentions: tracked?.mentions ?? 0,
    lastMessage: tracked?.lastMessage ?? null,
    lastActivityAt: activityOf(item),
    isPresent: present.length > 0,
    present,
    typing: tracked?.typing ?? [],
    draft,
    isLive: tracked !== null,
    error,
  };
  if (!item.entry || !isSame(item.entry, entry)) item.entry = entry;
  return item.entry;
}

/** Both have the same fields; lists are compared by what is in them. */
const isSame = (one: object, other: object): boolean => {
  const fields = Object.entries(other);
  const before = new Map(Object.entries(one));
  return fields.every(([name, value]) => isEqual(before.get(name), value));
};

const isEqual = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((value, at) => value === other[at])
    : Object.is(one, other);
