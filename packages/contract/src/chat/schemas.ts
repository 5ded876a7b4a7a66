import { type Static, Type } from 'typebox';
import { Identity, Line, Metadata, Name, Nullable, Timestamp, Uuid } from '../schema.ts';
import { AttachmentMedia, AttachmentScan, LinkPreview, Waveform } from './attachment-schemas.ts';
import {
  AttachmentStatus,
  ChatMemberRole,
  ConversationStatus,
  ConversationType,
  MessageStatus,
  MessageType,
  PresenceStatus,
} from './enums.ts';
import { ForwardDraft, ForwardedFrom } from './forward-schemas.ts';
import { Mentions, MentionsDraft } from './mention-schemas.ts';
import { Poll, PollDraft } from './poll-schemas.ts';

const Count = Type.Integer({ minimum: 0 });
const MaybeText = Nullable(Type.String());
const Seq = Type.Integer({ minimum: 0 });

export const Conversation = Type.Object({
  id: Type.String(),
  publicId: Type.String(),
  uuid: Uuid,
  name: Type.String(),
  type: ConversationType,
  status: ConversationStatus,
  roomId: MaybeText,
  liveStreamId: MaybeText,
  retentionDays: Nullable(Type.Integer()),
  effectiveRetentionDays: Nullable(Type.Integer()),
  /** A user sends one message in so many seconds; 0: as many as they like. */
  slowModeSeconds: Type.Integer(),
  metadata: Metadata,
  memberCount: Count,
  messageCount: Count,
  lastMessageAt: Nullable(Timestamp),
  lastMessageId: MaybeText,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  archivedAt: Nullable(Timestamp),
  /** For chat tokens: the caller's own place in it; in the dashboard that of the user who was asked for. */
  myRole: Type.Optional(Nullable(ChatMemberRole)),
  unreadCount: Type.Optional(Nullable(Count)),
  lastReadMessageId: Type.Optional(MaybeText),
});
export type Conversation = Static<typeof Conversation>;

export const ConversationMember = Type.Object({
  userId: Type.String(),
  role: ChatMemberRole,
  metadata: Metadata,
  active: Type.Boolean(),
  joinedAt: Timestamp,
  removedAt: Nullable(Timestamp),
  lastReadMessageId: MaybeText,
  lastReadAt: Nullable(Timestamp),
});
export type ConversationMember = Static<typeof ConversationMember>;

export const AddConversationMember = Type.Object({
  userId: Identity,
  role: Type.Optional(ChatMemberRole),
  metadata: Type.Optional(Nullable(Metadata)),
});
export type AddConversationMember = Static<typeof AddConversationMember>;

export const ChangeConversationMember = Type.Object({
  role: Type.Optional(ChatMemberRole),
  metadata: Type.Optional(Nullable(Metadata)),
});
export type ChangeConversationMember = Static<typeof ChangeConversationMember>;

const RetentionDays = Type.Integer({ minimum: 1, maximum: 3650 });

export const CreateConversation = Type.Object({
  name: Name,
  type: Type.Optional(ConversationType),
  roomId: Type.Optional(Line(0, 128)),
  retentionDays: Type.Optional(Nullable(RetentionDays)),
  members: Type.Optional(Type.Array(Type.Union([Identity, AddConversationMember]), { maxItems: 1000 })),
  metadata: Type.Optional(Nullable(Metadata)),
});
export type CreateConversation = Static<typeof CreateConversation>;

export const UpdateConversation = Type.Object({
  name: Type.Optional(Name),
  status: Type.Optional(Type.Enum(['ACTIVE', 'ARCHIVED'])),
  retentionDays: Type.Optional(Nullable(RetentionDays)),
  slowModeSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 21_600 })),
  metadata: Type.Optional(Nullable(Metadata)),
});
export type UpdateConversation = Static<typeof UpdateConversation>;

export const Attachment = Type.Object({
  id: Type.String(),
  publicId: Type.String(),
  conversationId: Type.String(),
  filename: Type.String(),
  mimeType: Type.String(),
  size: Type.Integer(),
  status: AttachmentStatus,
  uploaderId: MaybeText,
  metadata: Metadata,
  checksum: MaybeText,
  createdAt: Timestamp,
  completedAt: Nullable(Timestamp),
  messageId: MaybeText,
  /** Of pictures and sounds, soon after completion; null before, and for every other file. */
  media: Type.Optional(Nullable(AttachmentMedia)),
  /** What your scanner said; null where none was asked. */
  scan: Type.Optional(Nullable(AttachmentScan)),
});
export type Attachment = Static<typeof Attachment>;

/** The identity an API key names. What a token says here is ignored, so it need not be one: the service asks. */
const Author = Type.Optional(Line(0, 128));

/** The wire declares 1-1024 for `size`; bytes are capped by STORAGE_MAX_ATTACHMENT_BYTES. */
export const RequestAttachment = Type.Object({
  filename: Type.String({ minLength: 1, maxLength: 255 }),
  mimeType: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[\\w.+-]+/[\\w.+-]+(;[^\\u0000-\\u001f\\u007f]*)?$',
  }),
  size: Type.Integer({ minimum: 1 }),
  uploaderId: Author,
  metadata: Type.Optional(Nullable(Metadata)),
  /** Of a sound that the service does not decode; what it decodes (WAV) it measures itself. */
  waveform: Type.Optional(Waveform),
});
export type RequestAttachment = Static<typeof RequestAttachment>;

export const AttachmentUpload = Type.Object({
  attachment: Attachment,
  uploadUrl: Type.String(),
  method: Type.Literal('PUT'),
  headers: Type.Record(Type.String(), Type.String()),
  expiresAt: Timestamp,
});
export type AttachmentUpload = Static<typeof AttachmentUpload>;

export const DownloadQuery = Type.Object({
  /** Pixels of the longer side: the smallest stored size that is at least as large, instead of the file itself. */
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
});
export type DownloadQuery = Static<typeof DownloadQuery>;

export const AttachmentDownload = Type.Object({
  url: Type.String(),
  expiresAt: Timestamp,
  filename: Type.String(),
  mimeType: Type.String(),
  size: Type.Integer(),
});
export type AttachmentDownload = Static<typeof AttachmentDownload>;

export const ReactionSummary = Type.Object({
  emoji: Type.String(),
  count: Count,
  /** The first ten who reacted. */
  userIds: Type.Array(Type.String()),
  /** For chat tokens: whether the caller did. */
  reacted: Type.Optional(Type.Boolean()),
});
export type ReactionSummary = Static<typeof ReactionSummary>;

export const Message = Type.Object({
  id: Type.String(),
  publicId: Type.String(),
  conversationId: Type.String(),
  /** Position among the conversation's messages: 1, 2, 3, … */
  seq: Seq,
  /** Of its latest visible change. */
  change: Seq,
  type: MessageType,
  text: MaybeText,
  senderId: MaybeText,
  senderRole: Nullable(ChatMemberRole),
  replyTo: MaybeText,
  threadRootId: MaybeText,
  replyCount: Count,
  lastReplyAt: Nullable(Timestamp),
  clientMessageId: MaybeText,
  attachmentId: MaybeText,
  attachment: Nullable(Attachment),
  metadata: Metadata,
  reactions: Type.Array(ReactionSummary),
  edited: Type.Boolean(),
  editedAt: Nullable(Timestamp),
  deleted: Type.Boolean(),
  deletedAt: Nullable(Timestamp),
  deletedBy: MaybeText,
  clientSentAt: Nullable(Type.Number()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  /** Null for nobody; messages from before there were mentions lack it. */
  mentions: Type.Optional(Nullable(Mentions)),
  /** All of its files, in order; `attachment` is the first. Absent without any. */
  attachments: Type.Optional(Type.Array(Attachment)),
  /** Of the first link of its text, soon after it was sent, where the environment wants previews. Absent without one. */
  linkPreview: Type.Optional(LinkPreview),
  /** Absent where nothing is asked, and where it was first said here. */
  poll: Type.Optional(Poll),
  forwardedFrom: Type.Optional(ForwardedFrom),
});
export type Message = Static<typeof Message>;

/** Files in one message. */
export const attachmentsMax = 10;

const ClientSentAt = Type.Number({ minimum: 0, maximum: 8_640_000_000_000_000 });

export const SendMessage = Type.Object({
  text: Type.Optional(Type.String()),
  type: Type.Optional(MessageType),
  replyTo: Type.Optional(Line(0, 64)),
  clientMessageId: Type.Optional(Line(0, 128)),
  attachmentId: Type.Optional(Line(0, 64)),
  /** Several files, in order; instead of `attachmentId`. */
  attachmentIds: Type.Optional(Type.Array(Line(0, 64), { minItems: 1, maxItems: attachmentsMax })),
  metadata: Type.Optional(Nullable(Metadata)),
  senderId: Author,
  clientSentAt: Type.Optional(ClientSentAt),
  mentions: Type.Optional(Nullable(MentionsDraft)),
  /** In the place of text and files. */
  poll: Type.Optional(Nullable(PollDraft)),
  forward: Type.Optional(Nullable(ForwardDraft)),
});
export type SendMessage = Static<typeof SendMessage>;

export const EditMessage = Type.Object({
  text: Type.Optional(Type.String()),
  metadata: Type.Optional(Nullable(Metadata)),
  /** Replaces them; null for nobody. */
  mentions: Type.Optional(Nullable(MentionsDraft)),
});
export type EditMessage = Static<typeof EditMessage>;

export const HistoryQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  before: Type.Optional(Type.String({ maxLength: 256 })),
  after: Type.Optional(Type.String({ maxLength: 256 })),
  threadRootId: Type.Optional(Line(0, 64)),
  senderId: Type.Optional(Line(0, 128)),
  includeDeleted: Type.Optional(Type.Boolean()),
});
export type HistoryQuery = Static<typeof HistoryQuery>;

export const MessagePage = Type.Object({
  messages: Type.Array(Message),
  nextCursor: MaybeText,
  latestCursor: MaybeText,
});
export type MessagePage = Static<typeof MessagePage>;

export const ChangesQuery = Type.Object({
  since: Type.Optional(Type.String({ maxLength: 256 })),
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
});
export type ChangesQuery = Static<typeof ChangesQuery>;

/** One visible change; the fields beside these are those of the live frame of the same type. */
export const Change = Type.Object({ change: Seq, type: Type.String() }, { additionalProperties: true });
export const ChangePage = Type.Object({
  changes: Type.Array(Change),
  nextCursor: Type.String(),
  /** The last change this page covers: the client has everything up to it. */
  change: Seq,
  /** False: there is more, ask again with `nextCursor`. */
  complete: Type.Boolean(),
});
export type ChangePage = Static<typeof ChangePage>;

export const AddReaction = Type.Object({
  emoji: Type.String({ minLength: 1, maxLength: 64 }),
  userId: Type.Optional(Identity),
});
export type AddReaction = Static<typeof AddReaction>;

/** An API key says for whom it acts. */
export const ForUser = Type.Object({ userId: Type.Optional(Identity) });
export type ForUser = Static<typeof ForUser>;

const readPosition = {
  userId: Type.String(),
  lastReadMessageId: MaybeText,
  lastReadSeq: Nullable(Seq),
  lastReadAt: Nullable(Timestamp),
};

export const ReadReceipt = Type.Object({
  ...readPosition,
  /** How far messages have reached a device of theirs, as it said; at least as far as they have read. */
  lastDeliveredSeq: Nullable(Seq),
  lastDeliveredAt: Nullable(Timestamp),
});
export type ReadReceipt = Static<typeof ReadReceipt>;

export const ReadState = Type.Object({
  ...readPosition,
  unreadCount: Count,
  firstUnreadMessageId: MaybeText,
});
export type ReadState = Static<typeof ReadState>;

export const Presence = Type.Object({
  userId: Type.String(),
  status: PresenceStatus,
  since: Timestamp,
  lastSeenAt: Timestamp,
  connections: Count,
});
export type Presence = Static<typeof Presence>;

export const Typing = Type.Object({ userId: Type.String(), startedAt: Timestamp, expiresAt: Timestamp });
export type Typing = Static<typeof Typing>;

/** How long a chat token may live, minted or signed offline. */
export const chatTokenSeconds = { min: 60, max: 21_600 } as const;

export const MintChatToken = Type.Object({
  userId: Identity,
  conversations: Type.Optional(Type.Array(Line(1, 128), { maxItems: 200 })),
  scopes: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 })),
  ttlSeconds: Type.Optional(Type.Number()),
});
export type MintChatToken = Static<typeof MintChatToken>;

export const ChatToken = Type.Object({
  id: Type.String(),
  publicId: Type.String(),
  tokenId: Type.String(),
  token: Type.String(),
  tokenType: Type.Literal('Bearer'),
  userId: Type.String(),
  scopes: Type.Array(Type.String()),
  conversations: Nullable(Type.Array(Type.String())),
  expiresAt: Timestamp,
  expiresIn: Type.Integer(),
  websocketUrl: Type.String(),
});
export type ChatToken = Static<typeof ChatToken>;

export const RevokedChatToken = Type.Object({ id: Type.String(), tokenId: Type.String(), revokedAt: Timestamp });
export type RevokedChatToken = Static<typeof RevokedChatToken>;

export const ChatOverview = Type.Object({
  conversations: Type.Object({ total: Count, active: Count, archived: Count }),
  members: Count,
  messages: Type.Object({ total: Count, last24h: Count, last7d: Count }),
  connections: Type.Object({ active: Count }),
  reactions: Count,
  attachments: Count,
  /** The last 24 hours, oldest first; `at` is the start of the hour. */
  hours: Type.Array(Type.Object({ at: Timestamp, messages: Count })),
  asOf: Timestamp,
});
export type ChatOverview = Static<typeof ChatOverview>;

export const ChatConnection = Type.Object({
  id: Uuid,
  userId: Type.String(),
  connectedAt: Timestamp,
  disconnectedAt: Nullable(Timestamp),
  closeCode: Nullable(Type.Integer()),
  subscriptions: Count,
  messagesSent: Count,
  userAgent: MaybeText,
  ip: MaybeText,
});
export type ChatConnection = Static<typeof ChatConnection>;

/** A message as the dashboard sees it: never its content. */
export const MessageMetadata = Type.Object({
  id: Type.String(),
  publicId: Type.String(),
  seq: Seq,
  type: MessageType,
  senderId: MaybeText,
  status: MessageStatus,
  threadRootId: MaybeText,
  createdAt: Timestamp,
  editedAt: Nullable(Timestamp),
  deletedAt: Nullable(Timestamp),
  latencyMs: Nullable(Type.Number()),
});
export type MessageMetadata = Static<typeof MessageMetadata>;
