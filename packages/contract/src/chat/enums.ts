import { type Static, Type } from 'typebox';

export const ConversationType = Type.Enum(['DIRECT', 'GROUP', 'CHANNEL', 'ROOM']);
export type ConversationType = Static<typeof ConversationType>;

export const ConversationStatus = Type.Enum(['ACTIVE', 'ARCHIVED', 'DELETED']);
export type ConversationStatus = Static<typeof ConversationStatus>;

export const ChatMemberRole = Type.Enum(['OWNER', 'ADMIN', 'MODERATOR', 'MEMBER', 'GUEST']);
export type ChatMemberRole = Static<typeof ChatMemberRole>;

/** `system` and `event` are for servers only. */
export const MessageType = Type.Enum(['text', 'attachment', 'custom', 'system', 'event']);
export type MessageType = Static<typeof MessageType>;
export const serverMessageTypes: readonly MessageType[] = ['system', 'event'];

export const MessageStatus = Type.Enum(['SENT', 'EDITED', 'DELETED']);
export type MessageStatus = Static<typeof MessageStatus>;

/** Asked for, completed, used by a message, never completed. */
export const AttachmentStatus = Type.Enum(['PENDING', 'UPLOADED', 'ATTACHED', 'EXPIRED']);
export type AttachmentStatus = Static<typeof AttachmentStatus>;

/** OFFLINE comes only from expiry: nobody can set it. */
export const PresenceStatus = Type.Enum(['ONLINE', 'AWAY', 'OFFLINE']);
export type PresenceStatus = Static<typeof PresenceStatus>;
