import type { SvcError } from '../errors.ts';
import { withReaction } from './reactions.ts';
import type { Message, MessagePatch, MessageRecord, NewMessage } from './records.ts';

/** A change of this user's that the server has not confirmed. */
export interface Overlay {
  edit?: { patch: MessagePatch; error: SvcError | null };
  isRemoved?: boolean;
  /** Emoji → wanted. */
  reactions?: Map<string, boolean>;
}

export interface Entry {
  record: MessageRecord;
  /** Replies until then are in the count the server gave; later ones are counted as they come. */
  countedUntil: string;
  /** The last change that moved the count. */
  recountedAt: number;
  overlay: Overlay | null;
  /** Made when asked for; the same object until something changes. */
  view: Message | null;
}

export interface Pending {
  clientMessageId: string;
  draft: NewMessage;
  isQueued: boolean;
  error: SvcError | null;
  sentAt: number;
  /** Of the last projection. */
  view: Message | null;
}

export const TOMBSTONE = { text: null, attachment: null, metadata: {}, reactions: [], deleted: true };

const EMPTY = {
  id: null,
  seq: null,
  change: null,
  senderRole: null,
  threadRootId: null,
  replyCount: 0,
  lastReplyAt: null,
  attachment: null,
  reactions: [],
  edited: false,
  editedAt: null,
  deleted: false,
  deletedAt: null,
  deletedBy: null,
};

export function viewOf(entry: Entry, userId: string): Message {
  entry.view ??= project(entry, userId);
  return entry.view;
}

function project({ record, overlay }: Entry, userId: string): Message {
  const view: Message = { ...record, delivery: 'sent', error: null };
  if (!overlay || record.deleted) return view;
  if (overlay.isRemoved) return { ...view, ...TOMBSTONE, delivery: 'sending' };
  let { reactions } = record;
  for (const [emoji, isWanted] of overlay.reactions ?? []) {
    const known = reactions.find((one) => one.emoji === emoji);
    if ((known?.reacted ?? false) === isWanted) continue;
    const count = (known?.count ?? 0) + (isWanted ? 1 : -1);
    reactions = withReaction(reactions, emoji, userId, count, isWanted, true);
  }
  const { edit } = overlay;
  if (!edit) return { ...view, reactions };
  return {
    ...view,
    ...edit.patch,
    reactions,
    edited: true,
    delivery: edit.error ? 'failed' : 'sending',
    error: edit.error,
  };
}

/** The view of a message that the server does not have yet. */
export function viewOfPending(pending: Pending, conversationId: string, userId: string): Message {
  const { draft, clientMessageId, error, isQueued, sentAt } = pending;
  const at = new Date(sentAt).toISOString();
  pending.view ??= {
    ...EMPTY,
    conversationId,
    type: draft.type ?? (draft.text === undefined && draft.attachmentId ? 'attachment' : 'text'),
    text: draft.text ?? null,
    senderId: userId,
    replyTo: draft.replyTo ?? null,
    attachmentId: draft.attachmentId ?? null,
    metadata: draft.metadata ?? {},
    clientMessageId,
    clientSentAt: sentAt,
    createdAt: at,
    updatedAt: at,
    delivery: error ? 'failed' : isQueued ? 'queued' : 'sending',
    error,
  };
  return pending.view;
}
