import type { InboxEntry } from '@parley/contract/types.gen';
import type { Chat } from '../chat/index.ts';
import type { PartFrame, PartPort } from '../chat/part-port.ts';
import { SvcError } from '../errors.ts';
import { createSerialQueue } from '../serial-queue.ts';
import { createDerivedStore } from '../store.ts';
import { createBadge } from './badge.ts';
import { createEntries } from './entries.ts';
import type { Inbox, InboxOptions, InboxState } from './types.ts';

/** Receipts wait for more of them. */
const GATHER_MS = 300;
/** Conversations that one frame acknowledges. */
const ACKNOWLEDGED_MAX = 100;

type InboxFrame = Extract<PartFrame, { type: `inbox.${string}` }>;
const isOwn = (frame: PartFrame): frame is InboxFrame => frame.type.startsWith('inbox');

export function createInbox(chat: Chat, { pageSize = 30, acknowledge = false }: InboxOptions = {}): Inbox {
  const [http, { request }, events] = chat['inbox'] as PartPort;
  const entries = createEntries((id, before, now) => badge.note(id, before, now));
  const typists = new Map<string, Map<string, ReturnType<typeof setTimeout>>>();
  const delivered = new Map<string, number>();
  let waitingReceipts = new Map<string, number>();
  let [cursor, error]: [string | null, SvcError | null] = [null, null];
  let [since, loading, isClosed]: [number | undefined, number, boolean] = [undefined, 0, false];
  let gathering: ReturnType<typeof setTimeout> | null = null;

  const badge = createBadge({
    http,
    entries: () => entries,
    cursor: () => (entries.isRead() ? cursor : undefined),
    onChange: () => state.invalidate(),
  });

  const state = createDerivedStore<InboxState>(() => ({
    entries: entries.list(),
    badge: badge.value(),
    typing: new Map([...typists].map(([id, users]) => [id, [...users.keys()]])),
    hasMore: cursor !== null,
    isLoading: loading > 0,
    error,
  }));

  /** One page at a time. */
  const inTurn = createSerialQueue();
  const read = (at?: number): Promise<void> => inTurn(() => readPage(at));

  /** The first page as of a subscription's time, or the next one. */
  async function readPage(at: number | undefined): Promise<void> {
    const isFirst = at !== undefined;
    if (isClosed || (!isFirst && cursor === null)) return;
    loading++;
    state.invalidate();
    entries.beginRead();
    try {
      const from = isFirst || cursor === null ? {} : { cursor };
      const page = await http.page<InboxEntry>('/v1/chat/inbox', { limit: pageSize, ...from });
      cursor = page.nextCursor;
      error = null;
      since = at ?? since;
      badge.noteRead(entries.endRead(page.items, { isFirst, hasMore: cursor !== null }));
      for (const entry of page.items) noteDelivered(entry);
    } catch (cause) {
      entries.abandonRead();
      if (!SvcError.is(cause)) throw cause;
      error = cause;
    } finally {
      loading--;
      state.invalidate();
    }
  }

  /** Subscribed first, read then: what happens in between comes by the socket. */
  async function follow(): Promise<void> {
    try {
      const { at, recovered } = await request({
        type: 'inbox.subscribe',
        ...(since === undefined ? {} : { since }),
      });
      error = null;
      state.invalidate();
      badge.follow({ at, recovered });
      // Until the first page is here, the next connection has to read it: what changed since would not be all.
      since = recovered ? at : undefined;
      if (recovered) return;
      entries.age();
      await read(at);
      await badge.read();
    } catch (cause) {
      // With the next connection it is tried again.
      if (!SvcError.is(cause)) throw cause;
      error = cause;
      state.invalidate();
    }
  }

  function hear(frame: PartFrame): void {
    if (!isOwn(frame)) return;
    since &&= Math.max(since, frame.ts);
    if (frame.type === 'inbox.typing') noteTyping(frame);
    else {
      if (frame.type === 'inbox.changed') {
        entries.put(frame.entry);
        noteDelivered(frame.entry);
      } else entries.remove(frame.conversationId);
    }
    state.invalidate();
  }

  function noteTyping({ conversationId, userId, typing, expiresAt }: InboxFrame & { type: 'inbox.typing' }): void {
    const users = typists.get(conversationId) ?? new Map<string, ReturnType<typeof setTimeout>>();
    clearTimeout(users.get(userId));
    users.delete(userId);
    if (typing) {
      const leftMs = expiresAt === null ? 0 : Math.max(0, Date.parse(expiresAt) - Date.now());
      const stop = (): void =>
        noteTyping({ type: 'inbox.typing', ts: 0, conversationId, userId, typing: false, expiresAt });
      users.set(userId, setTimeout(stop, leftMs));
    }
    if (users.size > 0) typists.set(conversationId, users);
    else typists.delete(conversationId);
    state.invalidate();
  }

  function noteDelivered({ conversation, lastMessage, lastReadSeq }: InboxEntry): void {
    if (!acknowledge || !lastMessage) return;
    const known = Math.max(delivered.get(conversation.id) ?? 0, lastReadSeq ?? 0);
    if (lastMessage.seq <= known) return;
    delivered.set(conversation.id, lastMessage.seq);
    waitingReceipts.set(conversation.id, lastMessage.seq);
    gatherSoon();
  }

  function gatherSoon(): void {
    if (isClosed) return;
    gathering ??= setTimeout(() => {
      gathering = null;
      void flushInTurn(flush);
    }, GATHER_MS);
  }

  const flushInTurn = createSerialQueue();

  async function flush(): Promise<void> {
    if (isClosed) return;
    const receipts = [...waitingReceipts].map(([ref, seq]) => ({ ref, seq }));
    waitingReceipts = new Map();
    try {
      for (let at = 0; at < receipts.length; at += ACKNOWLEDGED_MAX)
        await request({ type: 'delivered', conversations: receipts.slice(at, at + ACKNOWLEDGED_MAX) });
    } catch {
      // The next receipt says as much.
    }
  }

  const pathOf = (conversationId: string): string => `/v1/chat/conversations/${encodeURIComponent(conversationId)}`;

  async function settle(answer: Promise<unknown>): Promise<void> {
    const askedAt = entries.now();
    // The route's row says what it gives.
    entries.putAnswer((await answer) as InboxEntry, askedAt);
    state.invalidate();
  }

  const change = (id: string, body: object): Promise<void> => settle(http.call('PATCH', `${pathOf(id)}/me`, { body }));

  const stopHearing = events.on('inbox', hear);
  const stop = chat.on('connectionStateChanged', (connection) => {
    if (connection === 'connected') void follow();
    else badge.pause();
  });
  if (chat.state.getSnapshot().connection === 'connected') void follow();

  return {
    state,
    loadMore: () => read(),
    mute: (id, until) => change(id, until ? { mutedUntil: until.toISOString() } : { muted: true }),
    unmute: (id) => change(id, { muted: false }),
    pin: (id) => change(id, { pinned: true }),
    unpin: (id) => change(id, { pinned: false }),
    hide: (id) => change(id, { hidden: true }),
    markUnread: (id, messageId) =>
      settle(http.call('POST', `${pathOf(id)}/unread`, { body: messageId === undefined ? {} : { messageId } })),
    close() {
      isClosed = true;
      stop();
      stopHearing();
      badge.close();
      if (gathering) clearTimeout(gathering);
      for (const users of typists.values()) for (const timer of users.values()) clearTimeout(timer);
      // Without a connection there is nothing to end.
      void request({ type: 'inbox.unsubscribe' }).catch(() => undefined);
    },
  };
}
