import {
  type BadgeQuery,
  type ChangeInboxEntry,
  type chatInboxRoutes,
  fail,
  type InboxBadge,
  type InboxEntry,
  type InboxQuery,
  type Limits,
  type MarkUnread,
} from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { readFuture } from '../../../core/future.ts';
import { type Answer, type Handlers, page } from '../../../core/handlers.ts';
import type { Emit, UnitOfWork } from '../../../core/unit-of-work.ts';
import { assertScope, type ChatCaller, subjectOf } from '../callers.ts';
import type { ConversationEntry } from '../conversations/conversation-store.ts';
import type { Entries } from '../conversations/entries.ts';
import type { Delivered } from '../delivered/delivered.ts';
import { topicOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import type { Messages } from '../messages/edit.ts';
import type { Dormancy } from './dormancy.ts';
import type { InboxPlace } from './dormant-store.ts';
import {
  countUnread,
  findInboxEntry,
  findLastMessage,
  listInbox,
  moveMarkBack,
  type OwnChange,
  placeOf,
  updateOwn,
} from './inbox-store.ts';

interface InboxDeps {
  db: Db;
  unitOfWork: UnitOfWork;
  entries: Entries;
  messages: Messages;
  dormancy: Dormancy;
  hub: Hub;
  clock: Clock;
  cursors: Cursors;
  limits: Limits;
}

type Inbox = ReturnType<typeof createInbox>;

/** An entry is larger than most records. */
const pageSize = 50;
const own = { scope: 'chat:read_state', action: 'read' } as const;

/** Conversations as one of their members has them. */
export function createInbox({ db, unitOfWork, entries, messages, dormancy, hub, clock, cursors, limits }: InboxDeps) {
  const retentionDefault = limits.CHAT_RETENTION_DAYS || null;
  const listedOf = (caller: ChatCaller) => (caller.kind === 'chatToken' ? caller.conversations : null);

  const listName = ({ projectId, environment }: ProjectScope, userId: string): string =>
    `inbox/${projectId}/${environment}/${userId}`;
  const placeAt = (scope: ProjectScope, userId: string, cursor: string | undefined): InboxPlace | null =>
    cursor === undefined ? null : (cursors.read(listName(scope, userId), cursor) as unknown as InboxPlace);

  async function list(caller: ChatCaller, query: InboxQuery, named?: string): Promise<Answer<InboxEntry[]>> {
    assertScope(caller, 'chat:read');
    const userId = subjectOf(caller, named);
    const { limit = pageSize, cursor, unread, pinned, archived, hidden, type } = query;
    const found = await listInbox(db, caller, {
      userId,
      retentionDefault,
      now: iso(clock.now()),
      listed: listedOf(caller),
      isUnread: unread === true,
      isPinned: pinned === true,
      isArchived: archived === true,
      isHidden: hidden === true,
      type,
      after: placeAt(caller, userId, cursor),
      limit: limit + 1,
    });
    if (found.isLarge) dormancy.wanted(caller, userId);
    const { items, nextCursor } = cutPage(found.entries, limit, (last) =>
      cursors.write(listName(caller, userId), placeOf(last)),
    );
    return page(items, nextCursor);
  }

  async function badge(caller: ChatCaller, { cursor }: BadgeQuery, named?: string): Promise<InboxBadge> {
    assertScope(caller, 'chat:read');
    const userId = subjectOf(caller, named);
    const after = placeAt(caller, userId, cursor);
    const page = { userId, listed: listedOf(caller), after, now: iso(clock.now()) };
    const counted = await countUnread(db, caller, page);
    if (counted.isLarge) dormancy.wanted(caller, userId);
    return counted.badge;
  }

  const entryOf = async (caller: ChatCaller, { id }: ConversationEntry, userId: string): Promise<InboxEntry> =>
    (await findInboxEntry(db, caller, id, { userId, retentionDefault, now: iso(clock.now()) })) ??
    fail('SVC_NOT_A_MEMBER');

  function emitUpdated(emit: Emit, { publicId }: ConversationEntry, userId: string, at: string): void {
    const data = { conversationId: publicId, userId, at };
    const afterCommit = (scope: ProjectScope): void => hub.changed(scope, publicId, userId);
    emit({ type: 'inbox.updated', topic: topicOf(publicId), data, afterCommit });
  }

  async function change(caller: ChatCaller, reference: string, draft: ChangeInboxEntry): Promise<InboxEntry> {
    const userId = subjectOf(caller, draft.userId);
    const wanted = { muted: mutedOf(draft), pinned: draft.pinned, hidden: draft.hidden };
    const entry = await entries.enter(caller, reference, own);
    if (Object.values(wanted).some((value) => value !== undefined)) {
      await unitOfWork(caller, async (tx, emit) => {
        const at = iso(clock.now());
        if (!(await updateOwn(tx, entry.id, userId, wanted, at))) fail('SVC_NOT_A_MEMBER');
        emitUpdated(emit, entry, userId, at);
      });
    }
    return entryOf(caller, entry, userId);
  }

  function mutedOf({ muted, mutedUntil }: ChangeInboxEntry): OwnChange['muted'] {
    if (muted === false) return null;
    if (mutedUntil) return { until: readFuture('mutedUntil', mutedUntil, clock.now()) };
    return muted === true || mutedUntil === null ? { until: null } : undefined;
  }

  /** The message is unread, and all after it; none before it. */
  async function markUnread(
    caller: ChatCaller,
    reference: string,
    { messageId, userId: named }: MarkUnread,
  ): Promise<InboxEntry> {
    const userId = subjectOf(caller, named);
    const entry = await entries.enter(caller, reference, own);
    const first =
      messageId === undefined ? await findLastMessage(db, entry.id) : await within(caller, entry, messageId);
    if (first) {
      const { seq, position } = first;
      await unitOfWork(caller, async (tx, emit) => {
        const at = iso(clock.now());
        if (!(await moveMarkBack(tx, { conversationUuid: entry.id, userId, seq, position, at }))) return;
        emitUpdated(emit, entry, userId, at);
      });
      // Processes that hold this conversation know how far its members have read.
      hub.recount(entry.publicId);
    }
    return entryOf(caller, entry, userId);
  }

  async function within(caller: ChatCaller, { id }: ConversationEntry, messageId: string) {
    const message = await messages.enter(caller, messageId, { scope: own.scope });
    if (message.conversationUuid !== id || message.isDeleted) fail('SVC_MESSAGE_NOT_FOUND');
    return message;
  }

  return { list, badge, change, markUnread };
}

export const inboxHandlers = (inbox: Inbox, delivered: Delivered): Handlers<typeof chatInboxRoutes> => ({
  listInbox: ({ caller, query }) => inbox.list(caller, query),
  getInboxBadge: ({ caller, query }) => inbox.badge(caller, query),
  listUserInbox: ({ caller, params, query }) => inbox.list(caller, query, params.userId),
  getUserInboxBadge: ({ caller, params, query }) => inbox.badge(caller, query, params.userId),
  changeInboxEntry: ({ caller, params, body }) => inbox.change(caller, params.room, body),
  markUnread: ({ caller, params, body }) => inbox.markUnread(caller, params.room, body),
  markDelivered: ({ caller, params, body }) => delivered.mark(caller, params.room, body),
});
