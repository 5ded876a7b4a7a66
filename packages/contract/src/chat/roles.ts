import type { ChatMemberRole } from './enums.ts';

/**
 * What a chat token may be narrowed to; the role decides besides. `chat:edit` changes what is there: messages, the
 * conversation, its members. `chat:manage` belongs to API keys and cannot be given to a token.
 */
export const chatScopes = [
  'chat:read',
  'chat:send',
  'chat:edit',
  'chat:react',
  'chat:read_state',
  'chat:typing',
  'chat:presence',
  'chat:attach',
  'chat:manage',
] as const;
export type ChatScope = (typeof chatScopes)[number];
export const tokenScopes: readonly ChatScope[] = chatScopes.filter((scope) => scope !== 'chat:manage');

/** What a member may do in a conversation, by role. Each role has what the one before it has. */
export type ChatAction =
  | 'read'
  | 'send'
  | 'attach'
  | 'deleteAny'
  | 'pin'
  | 'mentionAll'
  | 'removeMember'
  | 'moderate'
  | 'updateConversation'
  | 'addMember'
  | 'archive';

const rank: Readonly<Record<ChatMemberRole, number>> = { GUEST: 0, MEMBER: 1, MODERATOR: 2, ADMIN: 3, OWNER: 4 };

const lowest: Readonly<Record<ChatAction, ChatMemberRole>> = {
  read: 'GUEST',
  send: 'MEMBER',
  attach: 'MEMBER',
  deleteAny: 'MODERATOR',
  pin: 'MODERATOR',
  mentionAll: 'MODERATOR',
  removeMember: 'MODERATOR',
  moderate: 'MODERATOR',
  updateConversation: 'ADMIN',
  addMember: 'ADMIN',
  archive: 'OWNER',
};

export const roleCan = (role: ChatMemberRole, action: ChatAction): boolean => rank[role] >= rank[lowest[action]];

/** Moderators handle members and guests, admins everybody below them, owners everybody but owners. */
export function roleRules(role: ChatMemberRole, other: ChatMemberRole): boolean {
  if (role === 'MODERATOR') return rank[other] <= rank.MEMBER;
  return roleCan(role, 'addMember') && rank[other] < rank[role];
}
