import { Type } from 'typebox';
import { eventRows } from '../events.ts';
import { Nullable } from '../schema.ts';
import { ChatBlock } from './block-schemas.ts';
import { ChatDeletion, ChatReport, Sanction } from './moderation-schemas.ts';
import { Message } from './schemas.ts';

const data = Type.Object({ sanction: Sanction });

export const chatModerationEvents = eventRows({
  'user.banned': {
    since: '0.1.0',
    when: 'A user was banned from a conversation, or from all chat of the environment; again when the ban is changed.',
    data,
  },
  'user.unbanned': { since: '0.1.0', when: 'A ban was lifted before its time.', data },
  'user.muted': {
    since: '0.1.0',
    when: 'A user was muted in a conversation, or in all of the environment; again when the mute is changed.',
    data,
  },
  'user.unmuted': { since: '0.1.0', when: 'A mute was lifted before its time.', data },
  'user.shadowed': {
    since: '0.1.0',
    when: 'A user was put into the shadow in a conversation, or in all of the environment; again when that is changed.',
    data,
  },
  'user.unshadowed': { since: '0.1.0', when: 'A shadow was lifted before its time.', data },
  'message.shadowed': {
    since: '0.1.0',
    when: 'A user in the shadow sent a message: nobody else sees it, and no other event tells of it.',
    data: Type.Object({
      conversationId: Type.String(),
      roomId: Nullable(Type.String()),
      message: Message,
    }),
  },
  'user.blocked': {
    since: '0.1.0',
    when: 'A user blocked another.',
    data: Type.Object({ block: ChatBlock }),
  },
  'user.unblocked': {
    since: '0.1.0',
    when: 'A user lifted a block.',
    data: Type.Object({ block: ChatBlock }),
  },
  'report.created': {
    since: '0.1.0',
    when: 'A user or a word list reported a message.',
    data: Type.Object({ report: ChatReport }),
  },
  'report.resolved': {
    since: '0.1.0',
    when: 'A report was resolved.',
    data: Type.Object({ report: ChatReport }),
  },
  'user.messages_deleted': {
    since: '0.1.0',
    when: 'All messages of a user were deleted that were to be; each was an event of its own.',
    data: Type.Object({ deletion: ChatDeletion }),
  },
});
