import type {
  ChatMemberRole,
  Conversation,
  ConversationStatus,
  ConversationType,
  MessageStatus,
  MessageType,
  PresenceStatus,
} from '@parley/contract';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { Badge, type Tone } from '../kit/badge.tsx';

export const types: Readonly<Record<ConversationType, PlainKey>> = {
  DIRECT: 'chat.direct',
  GROUP: 'chat.group',
  CHANNEL: 'chat.channel',
  ROOM: 'words.room',
};
export const isType = (text: string): text is ConversationType => Object.hasOwn(types, text);
export const typeWord = (of: ConversationType): string => t(types[of]);

const roles: Readonly<Record<ChatMemberRole, PlainKey>> = {
  OWNER: 'chat.owner',
  ADMIN: 'chat.admin',
  MODERATOR: 'chat.moderator',
  MEMBER: 'chat.member',
  GUEST: 'chat.guest',
};
export const roleWord = (of: ChatMemberRole): string => t(roles[of]);

const messageTypes: Readonly<Record<MessageType, PlainKey>> = {
  text: 'chat.text',
  attachment: 'chat.attachment',
  custom: 'chat.custom',
  system: 'chat.system',
  event: 'chat.event',
};
export const messageTypeWord = (of: MessageType): string => t(messageTypes[of]);

type Word = readonly [word: PlainKey, tone: Tone, shape: 'dot' | 'ring' | 'square'];

const statuses: Readonly<Record<ConversationStatus, Word>> = {
  ACTIVE: ['words.active', 'ok', 'dot'],
  ARCHIVED: ['words.archived', 'plain', 'square'],
  DELETED: ['chat.deleted', 'bad', 'square'],
};
const messageStates: Readonly<Record<MessageStatus, Word>> = {
  SENT: ['words.sent', 'plain', 'dot'],
  EDITED: ['chat.edited', 'accent', 'ring'],
  DELETED: ['chat.deleted', 'bad', 'square'],
};
const presences: Readonly<Record<PresenceStatus, Word>> = {
  ONLINE: ['chat.online', 'ok', 'dot'],
  AWAY: ['chat.away', 'warn', 'ring'],
  OFFLINE: ['chat.offline', 'plain', 'square'],
};

const WordBadge = ({ word: [word, tone, shape] }: { word: Word }) => (
  <Badge tone={tone} shape={shape}>
    {t(word)}
  </Badge>
);

export const ConversationBadge = ({ status }: { status: ConversationStatus }) => <WordBadge word={statuses[status]} />;
export const MessageBadge = ({ status }: { status: MessageStatus }) => <WordBadge word={messageStates[status]} />;
export const PresenceBadge = ({ status }: { status: PresenceStatus }) => <WordBadge word={presences[status]} />;

/** How long messages are kept, and who decided it. */
export function retentionWords({ retentionDays, effectiveRetentionDays }: Conversation): string {
  const isDefault = retentionDays === null;
  if (effectiveRetentionDays === null) return t('chat.forGood');
  return t(isDefault ? 'chat.keptDaysDefault' : 'chat.keptDays', { count: effectiveRetentionDays });
}
