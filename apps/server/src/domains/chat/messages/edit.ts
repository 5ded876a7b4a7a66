import {
  type ChatAction,
  type ChatScope,
  type EditMessage,
  fail,
  type Limits,
  type Message,
  roleCan,
} from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { RawJson } from '../../../core/handlers.ts';
import { metadataJson } from '../../../core/safe-json.ts';
import { refuse } from '../../../core/validation.ts';
import { actorOf, assertMember, assertScope, type ChatCaller, isListed, userOf } from '../callers.ts';
import { insertChange } from '../conversations/conversation-store.ts';
import type { Entries } from '../conversations/entries.ts';
import type { Hub } from '../live/hub.ts';
import {
  findMessageEntry,
  findMessageJson,
  type MessageEntry,
  markMessageDeleted,
  updateMessage,
} from './message-store.ts';
import { assertTextFits } from './send.ts';

interface MessageDeps {
  db: Db;
  entries: Entries;
  hub: Hub;
  clock: Clock;
  limits: Limits;
}

export type Messages = ReturnType<typeof createMessages>;

export function createMessages({ db, entries, hub, clock, limits }: MessageDeps) {
  /** A message the caller may do this with, by the rules of its own conversation. Tombstones included. */
  async function enter(
    caller: ChatCaller,
    messageId: string,
    { scope, action = 'read' }: { scope: ChatScope; action?: ChatAction },
  ): Promise<MessageEntry> {
    assertScope(caller, scope);
    const entry = (await findMessageEntry(db, caller, messageId, userOf(caller))) ?? fail('SVC_MESSAGE_NOT_FOUND');
    if (!isListed(caller, entry.conversationId)) fail('SVC_MESSAGE_NOT_FOUND');
    assertMember(caller, entry.role, action);
    return entry;
  }

  async function get(caller: ChatCaller, messageId: string): Promise<RawJson> {
    const entry = await enter(caller, messageId, { scope: 'chat:read' });
    if (entry.isDeleted) fail('SVC_MESSAGE_NOT_FOUND');
    const text = await findMessageJson(db, entry.conversationUuid, entry.position, userOf(caller));
    return new RawJson(text ?? fail('SVC_MESSAGE_NOT_FOUND'));
  }

  /** What an earlier attempt of the same caller has sent, if it has. */
  async function findSent(caller: ChatCaller, messageId: string): Promise<RawJson | undefined> {
    const entry = await findMessageEntry(db, caller, messageId, null);
    const text = entry && (await findMessageJson(db, entry.conversationUuid, entry.position, userOf(caller)));
    return text === undefined ? undefined : new RawJson(text, { isRepeat: true });
  }

  async function edit(caller: ChatCaller, messageId: string, { text, metadata }: EditMessage): Promise<Message> {
    if (text === undefined && metadata === undefined) {
      refuse([{ field: 'text', rule: 'required', message: 'There is nothing to edit: give text or metadata.' }]);
    }
    if (text !== undefined) assertTextFits(text, limits.CHAT_MAX_TEXT_LENGTH);
    if (metadata) metadataJson(metadata, limits.CHAT_MAX_METADATA_BYTES);
    const found = await enter(caller, messageId, { scope: 'chat:edit', action: 'send' });
    assertMayEdit(caller, found);

    const needs = { scope: 'chat:edit', action: 'send', isWrite: true } as const;
    return entries.change(caller, found.conversationUuid, needs, async (tx, emit) => {
      const entry = (await findMessageEntry(tx, caller, messageId, null)) ?? fail('SVC_MESSAGE_NOT_FOUND');
      // It may have been deleted meanwhile.
      if (entry.isDeleted) fail('SVC_MESSAGE_DELETED');
      const at = iso(clock.now());
      const change = await insertChange(tx, entry.conversationUuid, { type: 'message.updated', messageId, at });
      const bag = metadata === undefined ? undefined : (metadata ?? {});
      const message = await updateMessage(tx, entry, { text, metadata: bag, change, at });
      const { conversationId, editedAt: previousEditedAt } = entry;
      const data = { conversationId, change, message, previousEditedAt, at };
      hub.emitChange(emit, 'message.updated', data);
      const viewer = userOf(caller);
      return viewer === null ? message : seenBy(tx, entry, viewer);
    });
  }

  /** As its reader sees it; what is published to others leaves out what is the reader's own. */
  async function seenBy(
    tx: Tx,
    { conversationUuid, position }: Pick<MessageEntry, 'conversationUuid' | 'position'>,
    viewer: string | null,
  ): Promise<Message> {
    const text = await findMessageJson(tx, conversationUuid, position, viewer);
    return JSON.parse(text ?? fail('SVC_MESSAGE_NOT_FOUND')) as Message;
  }

  function assertMayEdit(caller: ChatCaller, { senderId, createdAt }: MessageEntry): void {
    if (caller.kind === 'apiKey') return;
    if (senderId !== caller.userId) fail('SVC_FORBIDDEN', { message: 'Only its sender may edit a message.' });
    const windowMs = limits.CHAT_EDIT_WINDOW_SECONDS * 1000;
    if (windowMs > 0 && clock.now() - Date.parse(createdAt) > windowMs) {
      fail('SVC_FORBIDDEN', { message: 'This message can no longer be edited.' });
    }
  }

  /** Deleting what is deleted changes nothing and says the same. */
  async function remove(caller: ChatCaller, messageId: string, named?: string): Promise<Message> {
    const found = await enter(caller, messageId, { scope: 'chat:edit' });
    const isOwn = userOf(caller) === found.senderId;
    if (found.role && !(isOwn || roleCan(found.role, 'deleteAny'))) fail('SVC_FORBIDDEN');

    const needs = { scope: 'chat:edit', action: 'read', isWrite: caller.kind === 'chatToken' } as const;
    return entries.change(caller, found.conversationUuid, needs, async (tx, emit) => {
      const entry = (await findMessageEntry(tx, caller, messageId, null)) ?? fail('SVC_MESSAGE_NOT_FOUND');
      const { conversationUuid, conversationId, senderId } = entry;
      if (entry.isDeleted) return seenBy(tx, entry, null);
      const [at, deletedBy] = [iso(clock.now()), actorOf(caller, named)];
      const change = await insertChange(tx, conversationUuid, { type: 'message.deleted', messageId, at });
      const message = await markMessageDeleted(tx, entry, { change, by: deletedBy, at });
      const data = { conversationId, change, messageId, senderId, deletedBy, deletedAt: at, message };
      hub.emitChange(emit, 'message.deleted', data);
      return message;
    });
  }

  return { enter, get, findSent, edit, remove };
}
