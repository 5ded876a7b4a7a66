import type {
  ChatMemberRole,
  Conversation,
  ConversationStatus,
  ConversationType,
  MessageStatus,
  MessageType,
  PresenceStatus,
} from '@parley/contract';
import { Badge, type Tone } from '../kit/badge.tsx';
import { plural } from '../kit/numbers.ts';

export const typeWords: Readonly<Record<ConversationType, string>> = {
  DIRECT: 'Direct',
  GROUP: 'Group',
  CHANNEL: 'Channel',
  ROOM: 'Room',
};

export const roleWords: Readonly<Record<ChatMemberRole, string>> = {
  OWNER: 'Owner',
  ADMIN: 'Admin',
  MODERATOR: 'Moderator',
  MEMBER: 'Member',
  GUEST: 'Guest',
};

export const messageTypeWords: Readonly<Record<MessageType, string>> = {
  text: 'Text',
  attachment: 'Attachment',
  custom: 'Custom',
  system: 'System',
  event: 'Event',
};

type Word = readonly [word: string, tone: Tone, shape: 'dot' | 'ring' | 'square'];

const statuses: Readonly<Record<ConversationStatus, Word>> = {
  ACTIVE: ['Active', 'ok', 'dot'],
  ARCHIVED: ['Archived', 'plain', 'square'],
  DELETED: ['Deleted', 'bad', 'square'],
};
const messageStates: Readonly<Record<MessageStatus, Word>> = {
  SENT: ['Sent', 'plain', 'dot'],
  EDITED: ['Edited', 'accent', 'ring'],
  DELETED: ['Deleted', 'bad', 'square'],
};
const presences: Readonly<Record<PresenceStatus, Word>> = {
  ONLINE: ['Online', 'ok', 'dot'],
  AWAY: ['Away', 'warn', 'ring'],
  OFFLINE: ['Offline', 'plain', 'square'],
};

const WordBadge = ({ word: [word, tone, shape] }: { word: Word }) => (
  <Badge tone={tone} shape={shape}>
    {word}
  </Badge>
);

export const ConversationBadge = ({ status }: { status: ConversationStatus }) => <WordBadge word={statuses[status]} />;
export const MessageBadge = ({ status }: { status: MessageStatus }) => <WordBadge word={messageStates[status]} />;
export const PresenceBadge = ({ status }: { status: PresenceStatus }) => <WordBadge word={presences[status]} />;

/** How long messages are kept, and who decided it. */
export function retentionWords({ retentionDays, effectiveRetentionDays }: Conversation): string {
  if (effectiveRetentionDays === null) return 'For good';
  return `${plural(effectiveRetentionDays, 'day')}${retentionDays === null ? ', by default' : ''}`;
}
