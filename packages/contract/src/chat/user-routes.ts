import { Type } from 'typebox';
import { routes } from '../route.ts';
import { anyChat } from './state-routes.ts';
import { ChatUser, ChatUserFields, ChatUsersQuery, PutChatUsers } from './user-schemas.ts';

const key = ['apiKey'] as const;
const whenWritten = ['SVC_METADATA_TOO_LARGE', 'SVC_QUOTA_EXCEEDED'] as const;

/** What a project says of its users in chat. Nobody needs a record to chat. */
export const chatUserRoutes = routes({
  listChatUsers: {
    at: 'GET /v1/chat/users',
    sdk: 'chat.users.list',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: ChatUsersQuery,
    paged: true,
    returns: [200, Type.Array(ChatUser)],
    throws: ['SVC_SCOPE_MISSING', 'SVC_INVALID_CURSOR'],
    does: 'Reads up to 100 users by `ids`, in that order and without those there are not; an API key without `ids` lists every record by user id. A chat token gets those its user shares a conversation with, without `ids` its own user.',
  },
  putChatUsers: {
    at: 'PUT /v1/chat/users',
    sdk: 'chat.users.setAll',
    scope: 'chat',
    by: key,
    body: PutChatUsers,
    returns: [200, Type.Array(ChatUser)],
    throws: whenWritten,
    does: 'Writes up to 100 users, each as a whole: what is left out is empty.',
  },
  getChatUser: {
    at: 'GET /v1/chat/users/{userId}',
    sdk: 'chat.users.get',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    returns: [200, ChatUser],
    throws: ['SVC_USER_NOT_FOUND', 'SVC_SCOPE_MISSING'],
    does: 'Reads one user. A chat token reads its own user and those it shares a conversation with.',
  },
  putChatUser: {
    at: 'PUT /v1/chat/users/{userId}',
    sdk: 'chat.users.set',
    scope: 'chat',
    by: key,
    body: ChatUserFields,
    returns: [200, ChatUser],
    throws: whenWritten,
    does: 'Writes a user as a whole: what is left out is empty.',
  },
  updateChatUser: {
    at: 'PATCH /v1/chat/users/{userId}',
    sdk: 'chat.users.update',
    scope: 'chat',
    by: key,
    body: ChatUserFields,
    returns: [200, ChatUser],
    throws: whenWritten,
    does: 'Changes what is given and leaves the rest; metadata is replaced.',
  },
  deleteChatUser: {
    at: 'DELETE /v1/chat/users/{userId}',
    sdk: 'chat.users.delete',
    scope: 'chat',
    by: key,
    returns: [204, null],
    throws: ['SVC_USER_NOT_FOUND'],
    does: 'Deletes what the project says of a user: name, picture, role and metadata. Memberships and messages stay.',
  },
});
