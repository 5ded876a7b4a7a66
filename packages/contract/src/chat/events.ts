import { Type } from 'typebox';
import { eventRows } from '../events.ts';
import { Nullable, Timestamp } from '../schema.ts';
import { ChatMemberRole } from './enums.ts';
import { Conversation, ConversationMember, Message } from './schemas.ts';

const conversationId = Type.String();
const messageId = Type.String();
const userId = Type.String();
/** The conversation's change counter at this event: orders events of one conversation. */
const change = Type.Integer();

const reaction = Type.Object({
  conversationId,
  change,
  messageId,
  userId,
  emoji: Type.String(),
  count: Type.Integer(),
  at: Timestamp,
});

export const chatEvents = eventRows({
  'message.created': {
    since: '0.1.0',
    isCore: true,
    when: 'A message was created.',
    data: Type.Object({ conversationId, roomId: Nullable(Type.String()), change, message: Message }),
  },
  'message.updated': {
    since: '0.1.0',
    isCore: true,
    when: 'A message was edited.',
    data: Type.Object({
      conversationId,
      change,
      message: Message,
      previousEditedAt: Nullable(Timestamp),
      at: Timestamp,
    }),
  },
  'message.deleted': {
    since: '0.1.0',
    isCore: true,
    when: 'A message was soft-deleted; the record in it has no text.',
    data: Type.Object({
      conversationId,
      change,
      messageId,
      senderId: Nullable(Type.String()),
      deletedBy: Nullable(Type.String()),
      deletedAt: Timestamp,
      message: Message,
    }),
  },
  'reaction.added': { since: '0.1.0', isCore: true, when: 'Somebody reacted to a message.', data: reaction },
  'reaction.removed': { since: '0.1.0', isCore: true, when: 'A reaction was taken back.', data: reaction },
  'conversation.created': {
    since: '0.1.0',
    isCore: true,
    when: 'A conversation was created; at most its first 50 members are listed.',
    data: Type.Object({
      conversation: Conversation,
      members: Type.Array(Type.Object({ userId, role: ChatMemberRole })),
    }),
  },
  'member.added': {
    since: '0.1.0',
    isCore: true,
    when: 'A user became a member of a conversation, or one again.',
    data: Type.Object({
      conversationId,
      change,
      userId,
      role: ChatMemberRole,
      reactivated: Type.Boolean(),
      at: Timestamp,
      member: ConversationMember,
    }),
  },
  'member.removed': {
    since: '0.1.0',
    isCore: true,
    when: 'A member was removed from a conversation, or left it.',
    data: Type.Object({
      conversationId,
      change,
      userId,
      removedBy: Nullable(Type.String()),
      at: Timestamp,
      member: ConversationMember,
    }),
  },
  'member.updated': {
    since: '0.1.0',
    when: "A member's role or metadata changed.",
    data: Type.Object({
      conversationId,
      change,
      userId,
      role: ChatMemberRole,
      at: Timestamp,
      member: ConversationMember,
    }),
  },
  'conversation.updated': {
    since: '0.1.0',
    when: "A conversation's name, status, retention or metadata changed.",
    data: Type.Object({ conversationId, change, conversation: Conversation, at: Timestamp }),
  },
  'conversation.deleted': {
    since: '0.1.0',
    when: 'A conversation was erased with everything in it.',
    data: Type.Object({ conversationId, change, at: Timestamp }),
  },
  'message.read': {
    since: '0.1.0',
    when: "A member's read position moved forward.",
    data: Type.Object({ conversationId, userId, messageId, seq: Type.Integer(), at: Timestamp }),
  },
});
