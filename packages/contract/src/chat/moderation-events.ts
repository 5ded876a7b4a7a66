import { Type } from 'typebox';
import { eventRows } from '../events.ts';
import { Nullable, Timestamp } from '../schema.ts';
import { ChatBlock } from './block-schemas.ts';
import { ChatDeletion, ChatReport, HookSummary, ModerationSummary, Sanction } from './moderation-schemas.ts';
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
  'moderation.updated': {
    since: '0.1.0',
    when: 'The word lists and the rule for links of the environment were set. The words are to be read by API key.',
    data: Type.Object({ settings: ModerationSummary, at: Timestamp }),
  },
  'moderation_hook.updated': {
    since: '0.1.0',
    when: 'A hook that is asked about messages or files was set or removed, or has a new secret, which is in no event.',
    data: Type.Object({
      asked: Type.Enum(['message.pre_send', 'attachment.scan']),
      action: Type.Enum(['set', 'rotated', 'removed']),
      /** Null: nobody is asked any more. */
      hook: Nullable(HookSummary),
      at: Timestamp,
    }),
  },
});
