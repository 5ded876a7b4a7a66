import type { SvcError } from '../errors.ts';
import { type Entry, type Overlay, type Pending, TOMBSTONE, viewOf, viewOfPending } from './message-view.ts';
import { withOwn, withReaction } from './reactions.ts';
import type { Change, Message, MessageRecord, NewMessage } from './records.ts';

type ReactionChange = Extract<Change, { emoji: string }>;

/**
 * The messages of one conversation: what the server stored, in the order of `seq`, under what this user did since, and
 * after them what is on its way. Records may come in any order and more than once; the highest `change` wins.
 */
export class Timeline {
  readonly #conversationId: string;
  readonly #userId: string;
  readonly #byId = new Map<string, Entry>();
  /** Ascending by seq. */
  #entries: Entry[] = [];
  #pending: Pending[] = [];

  constructor(conversationId: string, userId: string) {
    this.#conversationId = conversationId;
    this.#userId = userId;
  }

  /** The list to show. */
  list(): readonly Message[] {
    return [
      ...this.#entries.map((entry) => viewOf(entry, this.#userId)),
      ...this.#pending.map((pending) => viewOfPending(pending, this.#conversationId, this.#userId)),
    ];
  }

  view(id: string): Message | undefined {
    const entry = this.#byId.get(id);
    return entry && viewOf(entry, this.#userId);
  }

  pending(clientMessageId: string): Pending | undefined {
    return this.#pending.find((one) => one.clientMessageId === clientMessageId);
  }

  /** Takes a record from the server, wherever it came from. `asOf`: it was read after this change, or with it. */
  upsert(record: MessageRecord, asOf = record.change): void {
    const known = this.#byId.get(record.id);
    const reactions = withOwn(record.reactions, known?.record.reactions ?? [], this.#userId);
    const countedUntil = record.lastReplyAt ?? '';
    if (known) {
      // Equal numbers too: an edit of ours may be refused and read again.
      if (record.change < known.record.change) return;
      const { replyCount, lastReplyAt } = known.record;
      // A reply does not change its root's number: what was read earlier may come later.
      const isBefore = asOf < known.recountedAt;
      known.record = { ...record, reactions, ...(isBefore && { replyCount, lastReplyAt }) };
      if (!isBefore) known.countedUntil = countedUntil;
      known.view = null;
    } else {
      const entry: Entry = {
        record: { ...record, reactions },
        countedUntil,
        recountedAt: 0,
        overlay: null,
        view: null,
      };
      this.#byId.set(record.id, entry);
      // From the end: most are new. Some of the user's own have the seq of the message that they stand behind.
      const place = this.#entries.findLastIndex(
        ({ record: { seq, createdAt } }) => seq < record.seq || (seq === record.seq && createdAt < record.createdAt),
      );
      this.#entries.splice(place + 1, 0, entry);
    }
    // Another user's message may bear the same clientMessageId: its scope is the sender.
    if (record.clientMessageId !== null && record.senderId === this.#userId) this.drop(record.clientMessageId);
  }

  /** As `upsert`, for a message that is not new. Older than all that is loaded, it would stand before a hole: it comes with its page. */
  update(record: MessageRecord, asOf?: number): void {
    const first = this.#entries[0]?.record.seq ?? Number.POSITIVE_INFINITY;
    if (this.#byId.has(record.id) || record.seq > first) this.upsert(record, asOf);
  }

  /** Forgets what the server stored; what is on its way stays. */
  clear(): void {
    this.#byId.clear();
    this.#entries = [];
  }

  /** Applies one numbered change; those of members and of the conversation itself show in no message. */
  apply(change: Change): void {
    if ('message' in change) this.#applyMessage(change.type, change.change, change.message);
    else if ('emoji' in change) this.#applyReaction(change);
  }

  #applyReaction({ type, change, messageId, userId, emoji, count }: ReactionChange): void {
    const entry = this.#byId.get(messageId);
    if (!entry || entry.record.change >= change) return;
    const isMine = userId === this.#userId;
    const reactions = withReaction(entry.record.reactions, emoji, userId, count, type === 'reaction.added', isMine);
    entry.record = { ...entry.record, change, reactions };
    entry.view = null;
  }

  #applyMessage(type: string, change: number, message: MessageRecord): void {
    const before = this.#byId.get(message.id)?.record;
    // Missed changes come with the record as it is later: its deletion may be known before its own change comes.
    const wasGone = before?.deleted === true && before.change >= change;
    const asOf = Math.max(change, message.change);
    if (type === 'message') this.upsert(message, asOf);
    else this.update(message, asOf);
    const isGone = this.#byId.get(message.id)?.record.deleted === true;
    if (type === 'message') this.#countReply(message, isGone ? 0 : 1, change);
    else if (isGone) this.#countReply(message, wasGone ? 0 : -1, change);
  }

  #countReply({ threadRootId, createdAt }: MessageRecord, step: 1 | 0 | -1, change: number): void {
    const root = this.#byId.get(threadRootId ?? '');
    if (!root) return;
    root.recountedAt = change;
    if (step === 0 || (step === 1 && createdAt <= root.countedUntil)) return;
    const replyCount = Math.max(0, root.record.replyCount + step);
    const isLast = createdAt === root.record.lastReplyAt;
    const lastReplyAt =
      step === 1 ? createdAt : isLast ? this.#lastReplyOf(root.record, replyCount) : root.record.lastReplyAt;
    root.record = { ...root.record, replyCount, lastReplyAt };
    root.view = null;
  }

  /** As far as it is loaded here. */
  #lastReplyOf({ id, lastReplyAt }: MessageRecord, replyCount: number): string | null {
    if (replyCount === 0) return null;
    const last = this.#entries.findLast(({ record }) => record.threadRootId === id && !record.deleted);
    return last?.record.createdAt ?? lastReplyAt;
  }

  addPending(clientMessageId: string, draft: NewMessage, sentAt: number, isQueued: boolean): void {
    this.#pending = [
      ...this.#pending.filter((one) => one.clientMessageId !== clientMessageId),
      { clientMessageId, draft, isQueued, error: null, sentAt, view: null },
    ];
  }

  setPending(clientMessageId: string, state: { isQueued?: boolean; error?: SvcError | null }): void {
    const pending = this.pending(clientMessageId);
    if (pending) Object.assign(pending, { error: null, ...state, view: null });
  }

  drop(clientMessageId: string): void {
    this.#pending = this.#pending.filter((one) => one.clientMessageId !== clientMessageId);
  }

  setEdit(id: string, edit: Overlay['edit'] | null): void {
    this.#overlay(id, (overlay) => {
      overlay.edit = edit ?? undefined;
    });
  }

  setRemoved(id: string, isRemoved: boolean): void {
    this.#overlay(id, (overlay) => {
      overlay.isRemoved = isRemoved;
    });
  }

  /** `null` rolls the optimistic change back: the record of the server is shown again. */
  setReaction(id: string, emoji: string, isWanted: boolean | null): void {
    this.#overlay(id, (overlay) => {
      overlay.reactions ??= new Map();
      if (isWanted === null) overlay.reactions.delete(emoji);
      else overlay.reactions.set(emoji, isWanted);
    });
  }

  /** The server did it, and said so before its numbered change came. */
  confirmRemoved(id: string, deletedAt: string | null): void {
    const entry = this.#byId.get(id);
    if (!entry || entry.record.deleted) return;
    entry.record = { ...entry.record, ...TOMBSTONE, deletedAt };
    entry.overlay = null;
    entry.view = null;
  }

  /** As `confirmRemoved`: the optimistic change becomes the record, until the numbered change brings the right count. */
  confirmReaction(id: string, emoji: string): void {
    const entry = this.#byId.get(id);
    if (!entry) return;
    entry.record = { ...entry.record, reactions: viewOf(entry, this.#userId).reactions };
    this.setReaction(id, emoji, null);
  }

  #overlay(id: string, change: (overlay: Overlay) => void): void {
    const entry = this.#byId.get(id);
    if (!entry) return;
    const overlay = entry.overlay ?? {};
    change(overlay);
    const isEmpty = !overlay.edit && !overlay.isRemoved && !overlay.reactions?.size;
    entry.overlay = isEmpty ? null : overlay;
    entry.view = null;
  }
}
