import { Type } from 'typebox';
import { routes } from '../route.ts';
import {
  BadgeQuery,
  ChangeInboxEntry,
  InboxBadge,
  InboxEntry,
  InboxQuery,
  MarkDelivered,
  MarkUnread,
} from './inbox-schemas.ts';
import { ReadReceipt } from './schemas.ts';

const anyChat = ['apiKey', 'chatToken'] as const;
const inConversation = ['SVC_CONVERSATION_NOT_FOUND', 'SVC_NOT_A_MEMBER', 'SVC_SCOPE_MISSING'] as const;

/** Conversations as one user has them. */
export const chatInboxRoutes = routes({
  listInbox: {
    at: 'GET /v1/chat/inbox',
    by: ['chatToken'],
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: InboxQuery,
    paged: true,
    returns: [200, Type.Array(InboxEntry)],
    throws: ['SVC_SCOPE_MISSING', 'SVC_INVALID_CURSOR'],
    does: "Lists the user's conversations, pinned ones first, then by last activity: each with its last message, what is unread, and who else is in it.",
  },
  getInboxBadge: {
    at: 'GET /v1/chat/inbox/badge',
    by: ['chatToken'],
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: BadgeQuery,
    returns: [200, InboxBadge],
    throws: ['SVC_SCOPE_MISSING', 'SVC_INVALID_CURSOR'],
    does: 'Counts what is unread over all conversations of the user that are not muted.',
  },
  listUserInbox: {
    at: 'GET /v1/chat/users/{userId}/inbox',
    sdk: 'chat.inbox.list',
    scope: 'chat',
    by: ['apiKey'],
    query: InboxQuery,
    paged: true,
    returns: [200, Type.Array(InboxEntry)],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Lists the inbox of a user.',
  },
  getUserInboxBadge: {
    at: 'GET /v1/chat/users/{userId}/inbox/badge',
    sdk: 'chat.inbox.badge',
    scope: 'chat',
    by: ['apiKey'],
    query: BadgeQuery,
    returns: [200, InboxBadge],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Counts what is unread over all conversations of a user that are not muted.',
  },
  changeInboxEntry: {
    at: 'PATCH /v1/chat/conversations/{room}/me',
    sdk: 'chat.inbox.update',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_MANAGE_RATE_LIMIT',
    body: ChangeInboxEntry,
    returns: [200, InboxEntry],
    throws: [...inConversation, 'SVC_USER_REQUIRED'],
    does: 'Mutes, pins or hides a conversation for oneself; nobody else sees it. An API key names the user.',
  },
  markUnread: {
    at: 'POST /v1/chat/conversations/{room}/unread',
    sdk: 'chat.inbox.markUnread',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_READ_RATE_LIMIT',
    body: MarkUnread,
    isBodyOptional: true,
    returns: [200, InboxEntry],
    throws: [...inConversation, 'SVC_USER_REQUIRED', 'SVC_MESSAGE_NOT_FOUND'],
    does: 'Moves the read mark back to before a message, or before the last one. A mark that is there already, or before it, stays.',
  },
  markDelivered: {
    at: 'POST /v1/chat/conversations/{room}/delivered',
    sdk: 'chat.state.markDelivered',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_READ_RATE_LIMIT',
    body: MarkDelivered,
    returns: [200, ReadReceipt],
    throws: [...inConversation, 'SVC_USER_REQUIRED'],
    does: 'Says that messages up to this one have reached a device of the user. A mark never moves back, nor beyond the last message.',
  },
});
