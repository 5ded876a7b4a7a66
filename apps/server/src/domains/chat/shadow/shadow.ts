import { type EditMessage, fail, type Limits, type Message, type ReactionSummary, roleCan } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { RawJson } from '../../../core/handlers.ts';
import { actorOf, type ChatCaller, isListed, type Moderator, userOf } from '../callers.ts';
import type { Entries } from '../conversations/entries.ts';
import type { MentionsOf } from '../mentions/mentions.ts';
import { findReactions } from '../messages/reaction-store.ts';
import type { Admission } from '../moderation/admission.ts';
import type { Review } from '../moderation/review.ts';
import {
  findBefore,
  findShadowEntry,
  findShadowJson,
  listShadow,
  markShadowDeleted,
  type ShadowEntry,
  setShadowReaction,
  updateShadow,
} from './shadow-store.ts';

interface ShadowDeps {
  db: Db;
  clock: Clock;
  cursors: Cursors;
  limits: Limits;
  entries: Entries;
  mentions: MentionsOf;
  admission: Admission;
  review: Review;
}

/** No message of all has it. */
const noPosition = -1;

export type Shadow = ReturnType<typeof createShadow>;

/** What was sent in the shadow: its sender's, and for moderators and servers to look at (ADR 211). */
export function createShadow({ db, clock, cursors, limits, entries, mentions, admission, review }: ShadowDeps) {
  /** Undefined for everybody whom it is not for, as if it were not there. */
  async function find(caller: Moderator, messageId: string): Promise<ShadowEntry | undefined> {
    const userId = userOf(caller);
    const entry = await findShadowEntry(db, caller, messageId, userId);
    if (!entry || !isListed(caller, entry.conversationId)) return undefined;
    if (userId === null) return entry;
    const isFor = entry.senderId === userId || (entry.role !== null && roleCan(entry.role, 'moderate'));
    if (!isFor) return undefined;
    await admission.assertMember(db, caller, { publicId: entry.conversationId, role: entry.role }, 'read');
    return entry;
  }

  const textOf = async ({ n }: ShadowEntry): Promise<string> =>
    (await findShadowJson(db, n)) ?? fail('SVC_MESSAGE_NOT_FOUND');

  const messageOf = async (entry: ShadowEntry): Promise<Message> => JSON.parse(await textOf(entry)) as Message;

  async function get(entry: ShadowEntry): Promise<RawJson> {
    return entry.isDeleted ? fail('SVC_MESSAGE_NOT_FOUND') : new RawJson(await textOf(entry));
  }

  /** The caller has asked what may be edited, and for how long. */
  async function edit(caller: ChatCaller, entry: ShadowEntry, draft: EditMessage): Promise<Message> {
    const { id: messageId, conversationId, conversationUuid, senderId, n } = entry;
    await admission.assertMaySpeak(caller);
    const wanted = draft.mentions && (await mentions.resolve(draft.mentions, conversationId, senderId));
    const { text } = await review.check(caller, {
      text: draft.text,
      roleOf: async () => entry.role,
      describe: async (text) => ({
        action: 'edit',
        conversationId,
        senderId,
        messageId,
        message: { type: null, text: text ?? null, metadata: draft.metadata },
      }),
    });
    const metadata = draft.metadata === undefined ? undefined : (draft.metadata ?? {});
    const needs = { scope: 'chat:edit', action: 'send', isWrite: true } as const;
    await entries.change(caller, conversationUuid, needs, async (tx, _emit, place) => {
      const now = await findShadowEntry(tx, caller, messageId, null);
      if (!now || now.isDeleted) fail('SVC_MESSAGE_DELETED');
      const replaced = wanted === undefined ? undefined : await mentions.replaced(tx, place, noPosition, wanted);
      await updateShadow(tx, n, { text, metadata, mentions: replaced?.mentions, at: iso(clock.now()) });
    });
    return messageOf(entry);
  }

  async function remove(caller: Moderator, entry: ShadowEntry, named?: string): Promise<Message> {
    const needs = { scope: 'chat:edit', action: 'read', isWrite: caller.kind === 'chatToken' } as const;
    await entries.change(caller, entry.conversationUuid, needs, async (tx) => {
      const now = await findShadowEntry(tx, caller, entry.id, null);
      const by = actorOf(caller, named);
      if (now && !now.isDeleted) await markShadowDeleted(tx, [entry.id], { by, at: iso(clock.now()) });
    });
    return messageOf(entry);
  }

  /** Only its sender reacts to it. */
  async function react(
    caller: ChatCaller,
    entry: ShadowEntry,
    { emoji, isAdd }: { emoji: string; isAdd: boolean },
  ): Promise<{ reactions: ReactionSummary[]; isNew: boolean }> {
    const { id, conversationUuid, senderId } = entry;
    if (entry.isDeleted || userOf(caller) !== senderId) fail('SVC_MESSAGE_NOT_FOUND');
    const needs = { scope: 'chat:react', action: isAdd ? 'send' : 'read', isWrite: true } as const;
    const max = limits.CHAT_MAX_REACTIONS_PER_MESSAGE;
    const isNew = await entries.change(caller, conversationUuid, needs, (tx) =>
      setShadowReaction(tx, entry, { emoji, isAdd, at: iso(clock.now()), max }),
    );
    const reactions = await findReactions(db, id, senderId);
    const isThere = reactions.some((one) => one.emoji === emoji);
    if (isAdd && !isThere) fail('SVC_REACTION_LIMIT');
    if (!isAdd && !isNew) fail('SVC_REACTION_NOT_FOUND');
    return { reactions, isNew };
  }

  /** For moderators and servers, newest first; without what would tell a moderator of their own shadow. */
  async function list(
    caller: ChatCaller,
    reference: string,
    { limit = pageSizeDefault, cursor }: { limit?: number; cursor?: string },
  ): Promise<RawJson> {
    const { id } = await entries.enter(caller, reference, { scope: 'chat:read', action: 'moderate' });
    const scope = `shadow-messages/${id}`;
    const before = cursor === undefined ? null : Number(cursors.read(scope, cursor)[0]);
    const rows = await listShadow(db, id, { before, except: userOf(caller), limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.n]));
    const headers: Record<string, string> = nextCursor === null ? {} : { 'x-next-cursor': nextCursor };
    return new RawJson(`[${items.map(({ text }) => text).join(',')}]`, { headers });
  }

  return {
    find,
    get,
    textOf,
    messageOf,
    edit,
    remove,
    react,
    list,
    before: (entry: ShadowEntry) => findBefore(db, entry),
  };
}
