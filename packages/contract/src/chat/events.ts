import { Type } from 'typebox';
import { eventRows } from '../events.ts';
import { Nullable, Timestamp } from '../schema.ts';
import { ChatMemberRole } from './enums.ts';
import { peopleEvents } from './people-events.ts';
import { pollClosed, pollVoted } from './poll-schemas.ts';
import { Conversation, ConversationMember, Message } from './schemas.ts';

const conversationId = Type.String();
const messageId = Type.String();
const userId = Type.String();
/** The conversation's change counter at this event: what frames and recovery are ordered by. */
const change = Type.Integer();
const withChange = Type.Object({ change });
const withMember = Type.Object({ change, member: ConversationMember });

const reaction = Type.Object({
  conversationId,
  messageId,
  userId,
  emoji: Type.String(),
  count: Type.Integer(),
  at: Timestamp,
});

const pinned = Type.Object({ conversationId, messageId, userId, at: Timestamp });

export const chatEvents = eventRows({
  'message.created': {
    since: '0.1.0',
    isCore: true,
    when: 'A message was created.',
    data: Type.Object({ conversationId, roomId: Nullable(Type.String()), message: Message }),
    forSockets: withChange,
  },
  'message.updated': {
    since: '0.1.0',
    isCore: true,
    when: 'A message was edited.',
    data: Type.Object({
      conversationId,
      message: Message,
      previousEditedAt: Nullable(Timestamp),
      at: Timestamp,
    }),
    forSockets: withChange,
  },
  'message.deleted': {
    since: '0.1.0',
    isCore: true,
    when: 'A message was soft-deleted; the record in it has no text.',
    data: Type.Object({
      conversationId,
      messageId,
      senderId: Nullable(Type.String()),
      deletedBy: Nullable(Type.String()),
      deletedAt: Timestamp,
      message: Message,
    }),
    forSockets: withChange,
  },
  'reaction.added': {
    since: '0.1.0',
    isCore: true,
    when: 'Somebody reacted to a message.',
    data: reaction,
    forSockets: withChange,
  },
  'reaction.removed': {
    since: '0.1.0',
    isCore: true,
    when: 'A reaction was taken back.',
    data: reaction,
    forSockets: withChange,
  },
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
      userId,
      role: ChatMemberRole,
      reactivated: Type.Boolean(),
      at: Timestamp,
    }),
    forSockets: withMember,
  },
  'member.removed': {
    since: '0.1.0',
    isCore: true,
    when: 'A member was removed from a conversation, or left it.',
    data: Type.Object({
      conversationId,
      userId,
      removedBy: Nullable(Type.String()),
      at: Timestamp,
    }),
    forSockets: withMember,
  },
  'member.updated': {
    since: '0.1.0',
    when: "A member's role or metadata changed.",
    data: Type.Object({
      conversationId,
      userId,
      role: ChatMemberRole,
      at: Timestamp,
    }),
    forSockets: withMember,
  },
  'conversation.updated': {
    since: '0.1.0',
    when: "A conversation's name, status, retention, slow mode or metadata changed.",
    data: Type.Object({ conversationId, conversation: Conversation, at: Timestamp }),
    forSockets: withChange,
  },
  'conversation.deleted': {
    since: '0.1.0',
    when: 'A conversation was erased with everything in it.',
    data: Type.Object({ conversationId, at: Timestamp }),
    forSockets: withChange,
  },
  'message.read': {
    since: '0.1.0',
    when: "A member's read position moved forward.",
    data: Type.Object({ conversationId, userId, messageId, seq: Type.Integer(), at: Timestamp }),
  },
  'inbox.updated': {
    since: '0.1.0',
    when: 'A member muted, pinned or hid a conversation for themselves, or marked it as unread.',
    data: Type.Object({ conversationId, userId, at: Timestamp }),
  },
  ...peopleEvents,
  'message.pinned': { since: '0.1.0', when: 'A message was pinned.', data: pinned, forSockets: withChange },
  'message.unpinned': { since: '0.1.0', when: 'A pin was taken away.', data: pinned, forSockets: withChange },
  'poll.voted': {
    since: '0.1.0',
    when: 'Somebody voted in a poll, changed their vote or took it back; of an anonymous poll nobody is told who.',
    data: Type.Object({ conversationId, ...pollVoted }),
    forSockets: withChange,
  },
  'poll.closed': {
    since: '0.1.0',
    when: 'A poll was closed, or its time has come.',
    data: Type.Object({ conversationId, ...pollClosed }),
    forSockets: withChange,
  },
  'scheduled.failed': {
    since: '0.1.0',
    when: 'A scheduled message was refused when its time came; `code` says why.',
    data: Type.Object({
      scheduledId: Type.String(),
      conversationId,
      userId: Nullable(Type.String()),
      code: Type.String(),
      at: Timestamp,
    }),
  },
});
