import { type Static, Type } from 'typebox';
import { Identity, Line, Nullable, PageQuery, Timestamp } from '../schema.ts';
import { ConversationType, MessageType } from './enums.ts';
import { Conversation } from './schemas.ts';

const Count = Type.Integer({ minimum: 0 });
const MaybeText = Nullable(Type.String());

/** Characters of a message that an inbox shows. */
export const previewLength = 200;
/** Other members that an entry of an inbox shows. */
export const facesMax = 4;

/** The last message as an inbox shows it: a deleted one has no text. */
export const MessagePreview = Type.Object({
  id: Type.String(),
  seq: Count,
  type: MessageType,
  /** Its first 200 characters. */
  text: MaybeText,
  senderId: MaybeText,
  attachmentId: MaybeText,
  edited: Type.Boolean(),
  deleted: Type.Boolean(),
  createdAt: Timestamp,
});
export type MessagePreview = Static<typeof MessagePreview>;

/** A member as an inbox shows them; without a user of that id name and picture are null. */
export const Face = Type.Object({ userId: Type.String(), name: MaybeText, avatarUrl: MaybeText });
export type Face = Static<typeof Face>;

/** A conversation as one of its members has it. */
export const InboxEntry = Type.Object({
  conversation: Conversation,
  lastMessage: Nullable(MessagePreview),
  /** Of the last message, or of the conversation while there is none. */
  lastActivityAt: Timestamp,
  unreadCount: Count,
  unreadMentions: Count,
  lastReadMessageId: MaybeText,
  lastReadSeq: Nullable(Count),
  lastReadAt: Nullable(Timestamp),
  muted: Type.Boolean(),
  /** Null while it is muted without an end, and while it is not muted. */
  mutedUntil: Nullable(Timestamp),
  pinned: Type.Boolean(),
  pinnedAt: Nullable(Timestamp),
  /** Until the next message. */
  hidden: Type.Boolean(),
  /** Up to four other members, those who joined last first. */
  faces: Type.Array(Face),
});
export type InboxEntry = Static<typeof InboxEntry>;

export const InboxQuery = Type.Object({
  ...PageQuery,
  /** Only those with unread messages. */
  unread: Type.Optional(Type.Boolean()),
  pinned: Type.Optional(Type.Boolean()),
  /** Those that are archived, instead of those that are not. */
  archived: Type.Optional(Type.Boolean()),
  /** Those that are hidden, instead of those that are not. */
  hidden: Type.Optional(Type.Boolean()),
  type: Type.Optional(ConversationType),
});
export type InboxQuery = Static<typeof InboxQuery>;

export const BadgeQuery = Type.Object({
  /** The `x-next-cursor` of a page: only what the inbox lists behind that page. */
  cursor: PageQuery.cursor,
});
export type BadgeQuery = Static<typeof BadgeQuery>;

/** Over the conversations that an inbox lists without a filter, less the muted. */
export const InboxBadge = Type.Object({
  unreadConversations: Count,
  unreadMessages: Count,
  unreadMentions: Count,
  /** When the first mute of a conversation with unread messages ends, which then count; left out while none does. */
  changesAt: Type.Optional(Timestamp),
});
export type InboxBadge = Static<typeof InboxBadge>;

export const ChangeInboxEntry = Type.Object({
  muted: Type.Optional(Type.Boolean()),
  /** Mutes until then; null: without an end. */
  mutedUntil: Type.Optional(Nullable(Timestamp)),
  pinned: Type.Optional(Type.Boolean()),
  hidden: Type.Optional(Type.Boolean()),
  /** An API key says for whom it acts. */
  userId: Type.Optional(Identity),
});
export type ChangeInboxEntry = Static<typeof ChangeInboxEntry>;

export const MarkDelivered = Type.Object({
  /** Of the last message that reached a device. */
  seq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  userId: Type.Optional(Identity),
});
export type MarkDelivered = Static<typeof MarkDelivered>;

export const MarkUnread = Type.Object({
  /** The first message that is unread from then on; the last one of the conversation unless given. */
  messageId: Type.Optional(Line(1, 64)),
  userId: Type.Optional(Identity),
});
export type MarkUnread = Static<typeof MarkUnread>;
