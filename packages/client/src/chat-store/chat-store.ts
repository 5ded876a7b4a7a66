import type { Chat } from '../chat/chat.ts';
import type { Conversation } from '../chat/conversation-types.ts';
import { type HeldConversation, joinHeld } from '../chat/held-join.ts';
import type { ConversationRecord } from '../chat/records.ts';
import { asSvcError } from '../errors.ts';
import { type Runtime, systemRuntime } from '../runtime.ts';
import { createDerivedStore, createStore } from '../store.ts';
import { createDrafts, pageStorage } from './drafts.ts';
import { activityOf, entryOf, findItem, type Item, mergeItems, mostRecentFirst, newItem } from './items.ts';
import { mentionOf } from './mentions.ts';
import { search } from './search.ts';
import { track } from './tracked.ts';
import type { ChatStore, ChatStoreOptions, ChatStoreState, ConversationEntry, ConversationSource } from './types.ts';

const JOINED_MAX = 20;
const REFRESH_MS = 30_000;
/** A list of more is not read to its end. */
const LIST_PAGES_MAX = 5;
const SEARCH_PAGES = { one: 10, all: 1 };

/** The list of conversations of a chat, kept current as long as it is connected. Works without any framework. */
export function createChatStore(
  chat: Chat,
  options: ChatStoreOptions = {},
  /** For tests: another clock. */
  runtime: Pick<Runtime, 'setTimer'> = systemRuntime,
): ChatStore {
  const { conversations: wanted, storage = pageStorage(), refreshMs = REFRESH_MS } = options;
  let joinedMax = options.joinedMax ?? JOINED_MAX;
  let items: Item[] = Array.isArray(wanted) ? wanted.map(newItem) : [];
  let shown: readonly ConversationEntry[] = [];
  let opens = 0;
  let isClosed = false;
  let refreshing: Promise<void> | null = null;
  let cancelTimer = (): void => {};
  const joining = new Map<Item, Promise<Conversation>>();

  const state = createStore<ChatStoreState>({ isLoading: true, error: null });
  const conversations = createDerivedStore(() => {
    const entries = mostRecentFirst(items).map((item) => entryOf(item, drafts.get(item.ref)));
    const isSame = entries.length === shown.length && entries.every((entry, at) => entry === shown[at]);
    if (!isSame) shown = entries;
    return shown;
  });
  const drafts = createDrafts(storage, () => conversations.invalidate());
  const changed = (): void => {
    if (!isClosed) conversations.invalidate();
  };
  const refOf = (ref: string): string => findItem(items, ref)?.ref ?? ref;
  const isConnected = (): boolean => chat.state.getSnapshot().connection === 'connected';

  async function sourcesOf(): Promise<readonly ConversationSource[] | null> {
    if (typeof wanted === 'function') return wanted();
    return wanted ? wanted.map((ref) => ({ ref })) : null;
  }

  async function readList(): Promise<void> {
    try {
      const [sources, records] = await Promise.all([sourcesOf(), readRecords(chat)]);
      if (isClosed) return;
      const before = items;
      items = mergeItems(before, sources, records);
      for (const item of before) if (!items.includes(item)) release(item);
      state.set({ isLoading: false, error: null });
    } catch (error) {
      if (isClosed) return;
      state.set({ isLoading: false, error: asSvcError(error) });
    }
    changed();
    await joinRecent();
  }

  async function joinRecent(): Promise<void> {
    // One after the other: only then a refusal says how many the server allows.
    for (const item of mostRecentFirst(items)) {
      if (isClosed || !isConnected()) return;
      const hasPlace = joinedCount() < joinedMax || chat.joined.has(item.record?.id ?? item.ref);
      if (hasPlace && !item.tracked && !item.error) await join(item).catch(() => {});
    }
  }

  /** Those of the application too: the server counts them all. */
  const joinedCount = (): number => chat.joined.size + joining.size;

  function join(item: Item): Promise<Conversation> {
    if (item.tracked) return Promise.resolve(item.tracked.conversation);
    const known = joining.get(item) ?? joinNow(item).finally(() => joining.delete(item));
    joining.set(item, known);
    return known;
  }

  async function joinNow(item: Item): Promise<Conversation> {
    try {
      const held = await joinHeld(chat, item.ref);
      item.error = null;
      // Closed, or dropped from the list, while it was being joined.
      if (isClosed || !items.includes(item)) held.release();
      else follow(item, held);
      return held.conversation;
    } catch (cause) {
      const error = asSvcError(cause);
      // Shown as it was listed: `open` makes room for it.
      if (error.code === 'SVC_SUBSCRIPTION_LIMIT') joinedMax = Math.max(1, chat.joined.size);
      else if (!error.retryable && error.kind !== 'connection') item.error = error;
      throw error;
    } finally {
      changed();
    }
  }

  function follow(item: Item, held: HeldConversation): void {
    const userId = chat.state.getSnapshot().userId ?? '';
    item.tracked = track(held, {
      userId,
      isMention: mentionOf(options.mentionedAs ?? [userId]),
      onChange: changed,
      onLost(error) {
        item.error = error;
        release(item);
      },
    });
  }

  function release(item: Item): void {
    item.tracked?.stop();
    item.tracked = null;
    changed();
  }

  /** Leaves what was not opened for longest, and of what was never opened the quietest; nothing that others hold. */
  function makeRoom(item: Item): void {
    const others = items.filter((one) => one !== item && one.tracked && !one.tracked.isHeldElsewhere);
    others.sort((a, b) => a.openedAt - b.openedAt || (activityOf(a) ?? 0) - (activityOf(b) ?? 0));
    for (const other of others.slice(0, Math.max(0, joinedCount() - joinedMax + 1))) release(other);
  }

  function itemOf(ref: string): Item {
    const found = findItem(items, ref);
    if (found) return found;
    const item = newItem(ref);
    items = [...items, item];
    return item;
  }

  async function open(ref: string): Promise<Conversation> {
    const item = itemOf(ref);
    item.openedAt = ++opens;
    // Asked for anew: no list drops it before the answer.
    item.error = null;
    if (!item.tracked) makeRoom(item);
    return join(item).catch((error) => {
      if (asSvcError(error).code !== 'SVC_SUBSCRIPTION_LIMIT') throw error;
      // The server allows fewer than was thought; now it is known how many.
      makeRoom(item);
      return join(item);
    });
  }

  function refresh(): Promise<void> {
    cancelTimer();
    refreshing ??= readList().finally(() => {
      refreshing = null;
      if (!isClosed && isConnected()) cancelTimer = runtime.setTimer(() => void refresh(), refreshMs);
    });
    return refreshing;
  }

  function onChatState(): void {
    const { userId, connection } = chat.state.getSnapshot();
    if (userId !== null) drafts.setUser(userId);
    if (connection === wasConnection) return;
    wasConnection = connection;
    if (connection === 'connected') void refresh();
    else cancelTimer();
  }
  let wasConnection: string | null = null;
  const stop = chat.state.subscribe(onChatState);
  onChatState();

  return {
    conversations,
    state,
    drafts: { get: (ref) => drafts.get(refOf(ref)), set: (ref, text) => drafts.set(refOf(ref), text) },
    open,
    async send(ref, message) {
      const conversation = await open(ref);
      drafts.set(refOf(ref), '');
      return conversation.send(message);
    },
    async markRead(ref) {
      await open(ref);
      await findItem(items, ref)?.tracked?.markRead();
    },
    async search(ref, text, { pagesMax, signal } = {}) {
      if (ref !== null) return search([await open(ref)], text, { pagesMax: pagesMax ?? SEARCH_PAGES.one, signal });
      const joined = items.flatMap(({ tracked }) => tracked?.conversation ?? []);
      const found = await search(joined, text, { pagesMax: pagesMax ?? SEARCH_PAGES.all, signal });
      return Object.assign(found, { isComplete: found.isComplete && joined.length === items.length });
    },
    refresh,
    close() {
      isClosed = true;
      cancelTimer();
      stop();
      for (const item of items) release(item);
      conversations.invalidate();
    },
  };
}

/** The user's own, as far as they are read. */
async function readRecords(chat: Chat): Promise<ConversationRecord[]> {
  const records: ConversationRecord[] = [];
  let cursor: string | null | undefined;
  for (let page = 0; page < LIST_PAGES_MAX && cursor !== null; page++) {
    const { items, nextCursor } = await chat.conversations({ limit: 200, cursor });
    records.push(...items);
    cursor = nextCursor;
  }
  return records;
}
