import { type chatPinRoutes, fail, pinsMax, roleCan } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { type Handlers, RawJson } from '../../../core/handlers.ts';
import type { Emit } from '../../../core/unit-of-work.ts';
import { actorOf, type ChatCaller, userOf } from '../callers.ts';
import { type ConversationEntry, insertChange } from '../conversations/conversation-store.ts';
import type { Entries } from '../conversations/entries.ts';
import { entryOf, topicOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import type { Messages } from '../messages/edit.ts';
import { findMessageEntry } from '../messages/message-store.ts';
import { deletePin, findConversationType, insertPin, listPins, type PinRow } from './pin-store.ts';

interface PinDeps {
  db: Db;
  clock: Clock;
  entries: Entries;
  messages: Messages;
  hub: Hub;
}

type Pins = ReturnType<typeof createPins>;

/** Messages that a conversation keeps at hand for everybody in it. */
export function createPins({ db, clock, entries, messages, hub }: PinDeps) {
  const needs = { scope: 'chat:edit', action: 'read', isWrite: true } as const;

  async function assertMayPin(tx: Tx, { id, role }: ConversationEntry): Promise<void> {
    if (role === null || roleCan(role, 'pin')) return;
    const isAmongEquals = roleCan(role, 'send') && (await findConversationType(tx, id)) === 'DIRECT';
    if (!isAmongEquals) fail('SVC_FORBIDDEN', { message: 'Your role in this conversation does not allow this.' });
  }

  /** A numbered change that says who did what with which message. */
  async function record(
    tx: Tx,
    emit: Emit,
    { id, publicId }: ConversationEntry,
    { type, messageId, userId }: { type: 'message.pinned' | 'message.unpinned'; messageId: string; userId: string },
  ): Promise<string> {
    const at = iso(clock.now());
    const change = await insertChange(tx, id, { type, messageId, data: { messageId, userId, at }, at });
    const data = { conversationId: publicId, change, messageId, userId, at };
    const entry = entryOf({ type, ...data }, clock.now());
    emit({ type, topic: topicOf(publicId), data, afterCommit: () => hub.announce(entry) });
    return at;
  }

  async function pin(caller: ChatCaller, messageId: string, named?: string): Promise<RawJson> {
    const { conversationUuid, conversationId } = await messages.enter(caller, messageId, { scope: 'chat:edit' });
    const viewer = userOf(caller);
    const pinned = await entries.change(caller, conversationUuid, needs, async (tx, emit, entry) => {
      await assertMayPin(tx, entry);
      if (entry.isSilenced && caller.kind === 'chatToken') fail('SVC_CHAT_BLOCKED');
      const [before] = await listPins(tx, conversationUuid, { viewer, messageId });
      if (before) return before;
      // It may have been deleted meanwhile.
      if ((await findMessageEntry(tx, caller, messageId, null))?.isDeleted !== false) fail('SVC_MESSAGE_NOT_FOUND');
      const userId = actorOf(caller, named);
      const at = await record(tx, emit, entry, { type: 'message.pinned', messageId, userId });
      if (!(await insertPin(tx, conversationUuid, { messageId, by: userId, at }, pinsMax))) fail('SVC_PIN_LIMIT');
      const [made] = await listPins(tx, conversationUuid, { viewer, messageId });
      return made ?? fail('SVC_MESSAGE_NOT_FOUND');
    });
    return new RawJson(textOf(conversationId, pinned));
  }

  async function unpin(caller: ChatCaller, messageId: string, named?: string): Promise<undefined> {
    const { conversationUuid } = await messages.enter(caller, messageId, { scope: 'chat:edit' });
    await entries.change(caller, conversationUuid, needs, async (tx, emit, entry) => {
      await assertMayPin(tx, entry);
      if (!(await deletePin(tx, conversationUuid, messageId))) return;
      await record(tx, emit, entry, { type: 'message.unpinned', messageId, userId: actorOf(caller, named) });
    });
    return undefined;
  }

  async function list(caller: ChatCaller, reference: string): Promise<RawJson> {
    const { id, publicId } = await entries.enter(caller, reference, { scope: 'chat:read', action: 'read' });
    const pins = await listPins(db, id, { viewer: userOf(caller) });
    return new RawJson(`[${pins.map((one) => textOf(publicId, one)).join(',')}]`);
  }

  return { pin, unpin, list };
}

const textOf = (conversationId: string, { record, ...pin }: PinRow): string =>
  `${JSON.stringify({ conversationId, ...pin }).slice(0, -1)},"message":${record}}`;

export const pinHandlers = (pins: Pins): Handlers<typeof chatPinRoutes> => ({
  pinMessage: ({ caller, params, query }) => pins.pin(caller, params.messageId, query.userId),
  unpinMessage: ({ caller, params, query }) => pins.unpin(caller, params.messageId, query.userId),
  listPins: ({ caller, params }) => pins.list(caller, params.room),
});
