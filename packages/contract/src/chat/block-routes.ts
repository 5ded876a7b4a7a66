import { Type } from 'typebox';
import { routes } from '../route.ts';
import { BlocksQuery, ChatBlock } from './block-schemas.ts';
import { ForUser } from './schemas.ts';

const anyChat = ['apiKey', 'chatToken'] as const;
const own = ['SVC_SCOPE_MISSING', 'SVC_USER_REQUIRED'] as const;

export const chatBlockRoutes = routes({
  listBlocks: {
    at: 'GET /v1/chat/blocks',
    sdk: 'chat.blocks.list',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: BlocksQuery,
    paged: true,
    returns: [200, Type.Array(ChatBlock)],
    throws: [...own, 'SVC_INVALID_CURSOR'],
    does: 'Lists whom a user has blocked, latest first. Nobody learns who has blocked them.',
  },
  blockUser: {
    at: 'PUT /v1/chat/blocks/{blockedId}',
    sdk: 'chat.blocks.add',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_MANAGE_RATE_LIMIT',
    audit: 'chat.user_blocked',
    query: ForUser,
    returns: [200, ChatBlock],
    throws: [...own, 'SVC_VALIDATION_FAILED', 'SVC_QUOTA_EXCEEDED'],
    does: "Blocks another user: no messages between the two in direct conversations, nothing unread and no notifications from them elsewhere. The user's devices get `block.updated`.",
  },
  unblockUser: {
    at: 'DELETE /v1/chat/blocks/{blockedId}',
    sdk: 'chat.blocks.remove',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_MANAGE_RATE_LIMIT',
    audit: 'chat.user_unblocked',
    query: ForUser,
    returns: [204, null],
    throws: [...own, 'SVC_VALIDATION_FAILED'],
    does: 'Lifts a block; one that is not there is no error.',
  },
});
