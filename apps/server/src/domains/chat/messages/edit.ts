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
import type { Emit } from '../../../core/unit-of-work.ts';
import { refuse } from '../../../core/validation.ts';
import { actorOf, assertScope, type ChatCaller, isListed, type Moderator, userOf } from '../callers.ts';
import { insertChange } from '../conversations/conversation-store.ts';
import type { Entries } from '../conversations/entries.ts';
import { replaceLink } from '../links/link-store.ts';
import type { Links } from '../links/links.ts';
import { topicOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import { deleteMentions, insertMentions, type StoredMentions } from '../mentions/mention-store.ts';
import type { MentionsOf } from '../mentions/mentions.ts';
import type { Admission } from '../moderation/admission.ts';
import type { Flags } from '../moderation/flags.ts';
import type { Review } from '../moderation/review.ts';
import { assertTextFits } from './draft-rules.ts';
import {
  findMessageEntry,
  findMessageJson,
  type MessageEntry,
  markMessageDeleted,
  updateMessage,
} from './message-store.ts';

interface MessageDeps {
  db: Db;
  entries: Entries;
  hub: Hub;
  mentions: MentionsOf;
  clock: Clock;
  limits: Limits;
  admission: Admission;
  review: Review;
  flags: Flags;
  links: Pick<Links, 'wantedOf' | 'trigger'>;
}

type Editable = Pick<MessageEntry, 'senderId' | 'createdAt' | 'isFixed'>;
export type Messages = ReturnType<typeof createMessages>;

export function createMessages(deps: MessageDeps) {
  const { db, entries, hub, mentions, clock, limits, admission, review, flags, links } = deps;

  /** A message the caller may do this with, by the rules of its own conversation. Tombstones included. */
  async function enter(
    caller: Moderator,
    messageId: string,
    { scope, action = 'read' }: { scope: ChatScope; action?: ChatAction },
  ): Promise<MessageEntry> {
    assertScope(caller, scope);
    const entry = (await findMessageEntry(db, caller, messageId, userOf(caller))) ?? fail('SVC_MESSAGE_NOT_FOUND');
    if (!isListed(caller, entry.conversationId)) fail('SVC_MESSAGE_NOT_FOUND');
    await admission.assertMember(db, caller, { publicId: entry.conversationId, role: entry.role }, action);
    if (action === 'send') await admission.assertMaySpeak(caller);
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

  async function edit(caller: ChatCaller, messageId: string, draft: EditMessage): Promise<Message> {
    const { text: asked, metadata } = draft;
    checkEdit(draft, limits);
    const found = await enter(caller, messageId, { scope: 'chat:edit', action: 'send' });
    assertMayEdit(caller, found, draft);
    if (await admission.isShadowed(caller)) failAsOver();
    const wanted = draft.mentions && (await mentions.resolve(draft.mentions, found.conversationId, found.senderId));
    const { text, flaggedBy } = await review.check(caller, {
      text: asked,
      roleOf: async () => found.role,
      describe: async (text) => ({
        action: 'edit',
        conversationId: found.conversationId,
        senderId: found.senderId ?? '',
        messageId,
        message: { type: null, text: text ?? null, metadata },
      }),
    });

    const link = await links.wantedOf(caller, text);
    const needs = { scope: 'chat:edit', action: 'send', isWrite: true } as const;
    const edited = await entries.change(caller, found.conversationUuid, needs, async (tx, emit, standing) => {
      const { role, shadowedUntil } = standing;
      if (shadowedUntil !== null && Date.parse(shadowedUntil) > clock.now()) failAsOver();
      const entry = (await findMessageEntry(tx, caller, messageId, null)) ?? fail('SVC_MESSAGE_NOT_FOUND');
      // It may have been deleted meanwhile.
      if (entry.isDeleted) fail('SVC_MESSAGE_DELETED');
      const message = await store(tx, emit, { ...entry, role }, { text, metadata, wanted, link });
      if (flaggedBy.length > 0) {
        const flagged = { conversationId: entry.conversationId, messageId, senderId: entry.senderId, lists: flaggedBy };
        await flags.flagIn(tx, emit, caller, flagged);
      }
      const viewer = userOf(caller);
      return viewer === null ? message : seenBy(tx, entry, viewer);
    });
    if (link !== undefined) links.trigger();
    return edited;
  }

  async function store(
    tx: Tx,
    emit: Emit,
    entry: MessageEntry,
    { text, metadata, wanted, link }: Revision,
  ): Promise<Message> {
    const { id: messageId, conversationUuid, conversationId, position, editedAt: previousEditedAt } = entry;
    const at = iso(clock.now());
    const mentioned = await mention(tx, emit, entry, wanted, at);
    const change = await insertChange(tx, conversationUuid, { type: 'message.updated', messageId, at });
    const bag = metadata === undefined ? undefined : (metadata ?? {});
    const message = await updateMessage(tx, entry, { text, metadata: bag, mentions: mentioned, change, at });
    if (text !== undefined) await replaceLink(tx, entry, link, at);
    if (mentioned) await insertMentions(tx, conversationUuid, position);
    hub.emitChange(emit, 'message.updated', { conversationId, change, message, previousEditedAt, at });
    return message;
  }

  /** What becomes of a message's mentions; undefined for an edit that says nothing of them. */
  async function mention(
    tx: Tx,
    emit: Emit,
    entry: MessageEntry,
    wanted: StoredMentions | null | undefined,
    at: string,
  ): Promise<StoredMentions | null | undefined> {
    if (wanted === undefined) return undefined;
    const { conversationUuid, conversationId, position, id: messageId, senderId, role } = entry;
    const place = { id: conversationUuid, role };
    const { mentions: now, added } = await mentions.replaced(tx, place, position, wanted);
    await deleteMentions(tx, conversationUuid, position);
    if (added) {
      const { users: userIds, here, all } = added;
      const data = { conversationId, messageId, senderId, userIds, here, all, at };
      emit({ type: 'message.mentioned', topic: topicOf(conversationId), data });
    }
    return now;
  }

  function assertMayEdit(caller: ChatCaller, entry: Editable, { text }: EditMessage): void {
    const { senderId, createdAt, isFixed } = entry;
    if (caller.kind === 'chatToken') {
      if (senderId !== caller.userId) fail('SVC_FORBIDDEN', { message: 'Only its sender may edit a message.' });
      const windowMs = limits.CHAT_EDIT_WINDOW_SECONDS * 1000;
      if (windowMs > 0 && clock.now() - Date.parse(createdAt) > windowMs) failAsOver();
    }
    if (text !== undefined && isFixed) {
      fail('SVC_FORBIDDEN', { message: 'The words of a poll or of a forwarded message cannot be edited.' });
    }
  }

  /** Deleting what is deleted changes nothing and says the same. */
  async function remove(caller: Moderator, messageId: string, named?: string): Promise<Message> {
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

  return { enter, get, findSent, assertMayEdit, edit, remove };
}

/** What moderation has let through. */
type Revision = Pick<EditMessage, 'text' | 'metadata'> & {
  wanted: StoredMentions | null | undefined;
  link: Awaited<ReturnType<Links['wantedOf']>>;
};

function checkEdit({ text, metadata, mentions }: EditMessage, limits: Limits): void {
  if (text === undefined && metadata === undefined && mentions === undefined) {
    const message = 'There is nothing to edit: give text, metadata or mentions.';
    refuse([{ field: 'text', rule: 'required', message }]);
  }
  if (text !== undefined) assertTextFits(text, limits.CHAT_MAX_TEXT_LENGTH);
  if (metadata) metadataJson(metadata, limits.CHAT_MAX_METADATA_BYTES);
}

/** Also for who is in the shadow, with the same words: what others have is not theirs to change (ADR 211). */
const failAsOver = (): never => fail('SVC_FORBIDDEN', { message: 'This message can no longer be edited.' });

/** As its reader sees it; what is published to others leaves out what is the reader's own. */
async function seenBy(
  tx: Tx,
  { conversationUuid, position }: Pick<MessageEntry, 'conversationUuid' | 'position'>,
  viewer: string | null,
): Promise<Message> {
  const text = await findMessageJson(tx, conversationUuid, position, viewer);
  return JSON.parse(text ?? fail('SVC_MESSAGE_NOT_FOUND')) as Message;
}
