import { type Static, Type } from 'typebox';
import { ChatMemberRole, ConversationType } from '../chat/enums.ts';
import { AddConversationMember } from '../chat/schemas.ts';
import { Identity, Line, Metadata, Name, Nullable, Strict, Timestamp } from '../schema.ts';
import { DataJob } from './schemas.ts';

export const ImportConversations = Strict({
  /** Bytes of the NDJSON file. */
  size: Type.Integer({ minimum: 1 }),
});
export type ImportConversations = Static<typeof ImportConversations>;

/** Where the file goes; then the job is started. */
export const ImportUpload = Type.Object({
  job: DataJob,
  uploadUrl: Type.String(),
  method: Type.Literal('PUT'),
  headers: Type.Record(Type.String(), Type.String()),
  expiresAt: Timestamp,
});
export type ImportUpload = Static<typeof ImportUpload>;

/** An id of where it comes from. The same id is the same thing, however often it is imported. */
const ExternalId = Line(1, 256);

export const ImportedConversation = Strict({
  kind: Type.Literal('conversation'),
  externalId: ExternalId,
  name: Name,
  type: Type.Optional(ConversationType),
  metadata: Type.Optional(Nullable(Metadata)),
  retentionDays: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 3650 }))),
  archived: Type.Optional(Type.Boolean()),
  createdAt: Timestamp,
  members: Type.Optional(Type.Array(Type.Union([Identity, AddConversationMember]), { maxItems: 1000 })),
});
export type ImportedConversation = Static<typeof ImportedConversation>;

export const ImportedMember = Strict({
  kind: Type.Literal('member'),
  /** `externalId` of the conversation, here and below. */
  conversation: ExternalId,
  userId: Identity,
  role: Type.Optional(ChatMemberRole),
  metadata: Type.Optional(Nullable(Metadata)),
  joinedAt: Type.Optional(Timestamp),
});
export type ImportedMember = Static<typeof ImportedMember>;

export const ImportedMessage = Strict({
  kind: Type.Literal('message'),
  conversation: ExternalId,
  externalId: ExternalId,
  type: Type.Optional(Type.Enum(['text', 'custom', 'system'])),
  text: Type.Optional(Nullable(Type.String())),
  senderId: Type.Optional(Nullable(Identity)),
  /** `externalId` of the message that it answers. */
  replyTo: Type.Optional(Nullable(ExternalId)),
  metadata: Type.Optional(Nullable(Metadata)),
  createdAt: Timestamp,
  editedAt: Type.Optional(Nullable(Timestamp)),
  deletedAt: Type.Optional(Nullable(Timestamp)),
});
export type ImportedMessage = Static<typeof ImportedMessage>;

export const ImportedReaction = Strict({
  kind: Type.Literal('reaction'),
  conversation: ExternalId,
  message: ExternalId,
  userId: Identity,
  emoji: Type.String({ minLength: 1, maxLength: 64 }),
  createdAt: Type.Optional(Timestamp),
});
export type ImportedReaction = Static<typeof ImportedReaction>;

/** Everything up to this message is read. */
export const ImportedRead = Strict({
  kind: Type.Literal('read'),
  conversation: ExternalId,
  message: ExternalId,
  userId: Identity,
  at: Type.Optional(Timestamp),
});
export type ImportedRead = Static<typeof ImportedRead>;

/** What a line of an import may be, by its `kind`. */
export const importLines = {
  conversation: ImportedConversation,
  member: ImportedMember,
  message: ImportedMessage,
  reaction: ImportedReaction,
  read: ImportedRead,
} as const;
export type ImportLine = ImportedConversation | ImportedMember | ImportedMessage | ImportedReaction | ImportedRead;
