import { Type } from 'typebox';
import { eventRows } from '../events.ts';
import { Nullable, Timestamp } from '../schema.ts';
import { ChatUser } from './user-schemas.ts';

export const peopleEvents = eventRows({
  'message.mentioned': {
    since: '0.1.0',
    when: 'A message, or an edit of it, mentions somebody it did not mention before.',
    data: Type.Object({
      conversationId: Type.String(),
      messageId: Type.String(),
      senderId: Nullable(Type.String()),
      /** Those named, and with `here` those who were present. */
      userIds: Type.Array(Type.String()),
      here: Type.Boolean(),
      /** Everybody in the conversation, no matter whom `userIds` names. */
      all: Type.Boolean(),
      at: Timestamp,
    }),
  },
  'chat_user.updated': {
    since: '0.1.0',
    when: 'What the project says of a chat user was written and differs from before.',
    data: Type.Object({ user: ChatUser, at: Timestamp }),
  },
  'chat_user.deleted': {
    since: '0.1.0',
    when: 'What the project says of a chat user was deleted.',
    data: Type.Object({ userId: Type.String(), at: Timestamp }),
  },
});
