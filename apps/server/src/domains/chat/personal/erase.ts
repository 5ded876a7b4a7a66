import { type Clock, iso } from '../../../core/clock.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { type EraseStep, type Erasure, type Place, untilNone } from '../../../core/personal-data.ts';
import { ownerOf, type Quotas } from '../../../core/quotas.ts';
import type { Emit, UnitOfWork } from '../../../core/unit-of-work.ts';
import type { Attachments } from '../attachments/attachments.ts';
import { type ConversationEntry, insertChange, lockEntry } from '../conversations/conversation-store.ts';
import type { Members } from '../conversations/members.ts';
import { entryOf, topicOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import { markMessageDeleted } from '../messages/message-store.ts';
import { eraseShadowOf, rewriteShadow } from '../shadow/shadow-upkeep-store.ts';
import {
  anonymizeForwarded,
  anonymizeMessage,
  anonymizeMessages,
  deleteMemberRows,
  deleteReaction,
  deleteScheduled,
  deleteUserRows,
  expireFiles,
  forgetDirectKey,
  forgetMentions,
  hasFiles,
  isForwarding,
  listForwarded,
  listVotedIn,
  markMessageChange,
  type OwnMessage,
  renameBlocked,
  renameDeleter,
  renameInModeration,
  renamePinner,
  renameVoter,
  rewriteChanges,
} from './erase-store.ts';
import { scanReactions, walkConversations } from './walk-store.ts';

export interface EraseDeps {
  db: Db;
  unitOfWork: UnitOfWork;
  quotas: Quotas;
  clock: Clock;
  hub: Hub;
  members: Pick<Members, 'dismiss'>;
  attachments: Pick<Attachments, 'sweep'>;
}

/** Messages of one transaction: senders wait for milliseconds at most. */
const messagesMax = 50;
const filesMax = 500;
/** Rows that one statement looks at. */
const scannedMax = 5_000;

/** How a user leaves chat: subscribers hear of each message, membership and reaction as if it went by hand. */
export function createErasures(deps: EraseDeps): readonly EraseStep[] {
  const { db, unitOfWork, quotas, clock, hub, members, attachments } = deps;

  /** Some of what is in one conversation; true when there is more. */
  async function eraseIn(erasure: Erasure, id: string): Promise<{ touched: number; isMore: boolean }> {
    return unitOfWork(erasure, async (tx, emit) => {
      const entry = await lockEntry(tx, erasure, id, null);
      if (!entry) return { touched: 0, isMore: false };
      const at = iso(clock.now());
      const own = await anonymizeMessages(tx, id, erasure, at, messagesMax);
      for (const message of own) if (!message.isDeleted) await eraseMessage(tx, emit, { erasure, entry, message, at });
      if (own.length === messagesMax) return { touched: own.length, isMore: true };
      const mentions = await forgetMentions(tx, id, erasure, messagesMax);
      if (mentions === messagesMax) return { touched: own.length + mentions, isMore: true };
      await renameDeleter(tx, id, erasure);
      await forgetDirectKey(tx, id);
      await renamePinner(tx, id, erasure);
      await members.dismiss(tx, emit, erasure, id, erasure.userId);
      await deleteMemberRows(tx, id, erasure.userId);
      return { touched: own.length + mentions + 1, isMore: false };
    });
  }

  interface MessageToErase {
    erasure: Erasure;
    entry: ConversationEntry;
    message: OwnMessage;
    at: string;
  }

  /** Its sender is the pseudonym already: what is published names nobody. */
  async function eraseMessage(tx: Tx, emit: Emit, { erasure, entry, message, at }: MessageToErase): Promise<void> {
    const { id: messageId, position, editedAt } = message;
    const { id: conversationUuid, publicId: conversationId } = entry;
    const isGone = erasure.messages === 'delete';
    const type = isGone ? 'message.deleted' : 'message.updated';
    const change = await insertChange(tx, conversationUuid, { type, messageId, at });
    if (isGone) {
      const tombstone = await markMessageDeleted(tx, { ...message, conversationUuid }, { change, by: 'server', at });
      const parties = { senderId: erasure.pseudonym, deletedBy: 'server', deletedAt: at };
      hub.emitChange(emit, 'message.deleted', { conversationId, change, messageId, ...parties, message: tombstone });
    } else {
      const nobodys = await anonymizeMessage(tx, conversationUuid, position, erasure, change);
      const data = { conversationId, change, message: nobodys, previousEditedAt: editedAt, at };
      hub.emitChange(emit, 'message.updated', data);
    }
  }

  /** The page is looked at again until nothing of the user is left in it. */
  async function eraseConversations(erasure: Erasure, place: Place) {
    const { rows, next } = await walkConversations(db, erasure, place);
    let [touched, isMore] = [0, false];
    for (const { id } of rows) {
      const done = await eraseIn(erasure, id);
      touched += done.touched;
      isMore ||= done.isMore;
    }
    return { touched, next: isMore ? (place ?? startOfWalk) : next };
  }

  async function eraseReactions(erasure: Erasure, place: Place) {
    const { rows, next } = await scanReactions(db, erasure, place, scannedMax);
    for (const { conversationUuid, conversationId, messageId, emoji } of rows)
      await unitOfWork(erasure, async (tx, emit) => {
        if (!(await lockEntry(tx, erasure, conversationUuid, null))) return;
        const { userId } = erasure;
        const count = await deleteReaction(tx, conversationUuid, { messageId, emoji, userId });
        if (count === null) return;
        const at = iso(clock.now());
        const data = { messageId, userId, emoji, count };
        const change = await insertChange(tx, conversationUuid, { type: 'reaction.removed', messageId, data, at });
        await markMessageChange(tx, messageId, change);
        const entry = entryOf({ type: 'reaction.removed', conversationId, change, ...data }, clock.now());
        emit({
          type: 'reaction.removed',
          topic: topicOf(conversationId),
          data: { ...data, conversationId, change, at },
          afterCommit: () => hub.announce(entry),
        });
      });
    return { touched: rows.length, next };
  }

  /** Under the lock that votes are counted under. */
  async function eraseVotes(erasure: Erasure, limit: number): Promise<number> {
    const voted = await listVotedIn(db, erasure, limit);
    for (const id of voted)
      await unitOfWork(erasure, async (tx) => {
        if (await lockEntry(tx, erasure, id, null)) await renameVoter(tx, id, erasure);
      });
    return voted.length;
  }

  /** What others passed on stays theirs; whose words it were is forgotten. */
  async function eraseForwarded(erasure: Erasure): Promise<number> {
    const found = await listForwarded(db, erasure, messagesMax);
    for (const words of found)
      await unitOfWork(erasure, async (tx, emit) => {
        const { conversationUuid, id: messageId, editedAt: previousEditedAt } = words;
        const entry = await lockEntry(tx, erasure, conversationUuid, null);
        if (!entry || !(await isForwarding(tx, words, erasure))) return;
        const at = iso(clock.now());
        const change = await insertChange(tx, conversationUuid, { type: 'message.updated', messageId, at });
        const message = await anonymizeForwarded(tx, words, erasure, change);
        hub.emitChange(emit, 'message.updated', {
          conversationId: entry.publicId,
          change,
          message,
          previousEditedAt,
          at,
        });
      });
    return found.length;
  }

  /** The bytes too: only what the store has released is gone. */
  async function eraseFiles(erasure: Erasure): Promise<number> {
    const expired = await expireFiles(db, erasure, iso(clock.now() - 1_000), filesMax);
    await attachments.sweep();
    return expired > 0 || (await hasFiles(db, erasure)) ? 1 : 0;
  }

  async function forgetQuota(erasure: Erasure): Promise<number> {
    return db.transaction((tx) =>
      quotas.forget(tx, 'STORAGE_MAX_BYTES_PER_USER', `${ownerOf(erasure)} ${erasure.userId}`),
    );
  }

  return [
    // First, so that nothing of them is sent meanwhile.
    untilNone('scheduled messages', (erasure, limit) => deleteScheduled(db, erasure, limit)),
    {
      name: 'conversations',
      run: (erasure, place) => eraseConversations(erasure, place === startOfWalk ? null : place),
    },
    untilNone('messages of the shadow', (erasure, limit) => eraseShadowOf(db, erasure, iso(clock.now()), limit)),
    { name: 'words of the shadow', run: (erasure, place) => rewriteShadow(db, erasure, place, scannedMax) },
    { name: 'reactions', run: eraseReactions },
    untilNone('votes', eraseVotes),
    untilNone('forwarded words', eraseForwarded),
    untilNone('files', eraseFiles),
    untilNone('storage quota', forgetQuota),
    untilNone('chat profile and connections', (erasure, limit) => deleteUserRows(db, erasure, limit)),
    untilNone('blocks', (erasure, limit) => renameBlocked(db, erasure, limit)),
    untilNone('moderation', (erasure, limit) => renameInModeration(db, erasure, limit)),
    { name: 'changes of conversations', run: (erasure, place) => rewriteChanges(db, erasure, place, scannedMax) },
  ];
}

/** A place is null at both ends: this is the first one, to be looked at again. */
const startOfWalk = '';
