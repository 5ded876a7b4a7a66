import { Type } from 'typebox';
import { routes } from '../route.ts';
import { PageQuery } from '../schema.ts';
import { ForUser, Presence, ReadReceipt, ReadState, Typing } from './schemas.ts';

export const anyChat = ['apiKey', 'chatToken'] as const;
export const inConversation = ['SVC_CONVERSATION_NOT_FOUND', 'SVC_NOT_A_MEMBER', 'SVC_SCOPE_MISSING'] as const;
const Page = Type.Object(PageQuery);

/** Who is there, and what they have read. */
export const chatStateRoutes = routes({
  listPresence: {
    at: 'GET /v1/chat/conversations/{room}/presence',
    sdk: 'chat.state.presence',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: Page,
    paged: true,
    returns: [200, Type.Array(Presence)],
    throws: [...inConversation, 'SVC_INVALID_CURSOR', 'SVC_SERVICE_UNAVAILABLE'],
    does: 'Who is present now, by user id.',
  },
  listTyping: {
    at: 'GET /v1/chat/conversations/{room}/typing',
    sdk: 'chat.state.typing',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: Page,
    paged: true,
    returns: [200, Type.Array(Typing)],
    throws: [...inConversation, 'SVC_INVALID_CURSOR', 'SVC_SERVICE_UNAVAILABLE'],
    does: 'Who is typing now, by user id.',
  },
  listReadReceipts: {
    at: 'GET /v1/chat/conversations/{room}/read-receipts',
    sdk: 'chat.state.readReceipts',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: Page,
    paged: true,
    returns: [200, Type.Array(ReadReceipt)],
    throws: [...inConversation, 'SVC_INVALID_CURSOR'],
    does: "Every active member's read position.",
  },
  getReadState: {
    at: 'GET /v1/chat/conversations/{room}/read-state',
    sdk: 'chat.state.readState',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: ForUser,
    returns: [200, ReadState],
    throws: [...inConversation, 'SVC_USER_REQUIRED'],
    does: "The caller's read position and unread count; an API key names the user.",
  },
});
