import { Type } from 'typebox';
import { routes } from '../route.ts';
import { Contains, EnvironmentQuery, PageQuery } from '../schema.ts';
import { ChatUserMetadata, ChatUserOverview, ConversationOverview } from './dashboard-schemas.ts';
import { ConversationType } from './enums.ts';
import {
  ChatConnection,
  ChatOverview,
  Conversation,
  ConversationMember,
  MessageMetadata,
  Presence,
} from './schemas.ts';

const Query = Type.Object(EnvironmentQuery);
const Page = Type.Object({ ...EnvironmentQuery, ...PageQuery });
/** Exactly this one; none for all. */
const ById = Type.Optional(Type.String({ maxLength: 128 }));
const session = { by: ['session'], needs: 'chat:read' } as const;
const missing = ['SVC_CONVERSATION_NOT_FOUND'] as const;
const missingPage = ['SVC_CONVERSATION_NOT_FOUND', 'SVC_INVALID_CURSOR'] as const;

/** What the dashboard sees of chat: metadata, never content. */
export const chatDashboardRoutes = routes({
  getChatOverview: {
    at: 'GET /v1/projects/{projectId}/chat/overview',
    ...session,
    query: Query,
    returns: [200, ChatOverview],
    does: 'Counters of chat activity.',
  },
  listChatConnections: {
    at: 'GET /v1/projects/{projectId}/chat/connections',
    ...session,
    query: Page,
    paged: true,
    returns: [200, Type.Array(ChatConnection)],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Chat WebSocket sessions, newest first.',
  },
  listProjectConversations: {
    at: 'GET /v1/projects/{projectId}/chat/conversations',
    ...session,
    query: Type.Object({ ...Page.properties, name: Contains, type: Type.Optional(ConversationType), userId: ById }),
    paged: true,
    returns: [200, Type.Array(Conversation)],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Conversations with message counts and last activity; `name` is a part of their name, in any case; with `userId` those that the user is in.',
  },
  getProjectConversation: {
    at: 'GET /v1/projects/{projectId}/chat/conversations/{conversationId}',
    ...session,
    query: Query,
    returns: [200, ConversationOverview],
    throws: missing,
    does: 'One conversation, metadata only, with how much is pinned, asked and planned in it.',
  },
  listProjectConversationMembers: {
    at: 'GET /v1/projects/{projectId}/chat/conversations/{conversationId}/members',
    ...session,
    query: Page,
    paged: true,
    returns: [200, Type.Array(ConversationMember)],
    throws: missingPage,
    does: 'Members of a conversation.',
  },
  listProjectMessages: {
    at: 'GET /v1/projects/{projectId}/chat/conversations/{conversationId}/messages',
    ...session,
    query: Page,
    paged: true,
    returns: [200, Type.Array(MessageMetadata)],
    throws: missingPage,
    does: 'Messages by id, sender, timing and status, newest first; never their content.',
  },
  listProjectChatUsers: {
    at: 'GET /v1/projects/{projectId}/chat/users',
    ...session,
    query: Type.Object({ ...Page.properties, userId: ById }),
    paged: true,
    returns: [200, Type.Array(ChatUserMetadata)],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Users who have a record or a chat session, by user id; with `userId` this one, also if they are only a member of a conversation. Of what a record says only the role.',
  },
  getProjectChatUser: {
    at: 'GET /v1/projects/{projectId}/chat/users/{userId}',
    ...session,
    query: Query,
    returns: [200, ChatUserOverview],
    throws: ['SVC_USER_NOT_FOUND'],
    does: 'One user: whether there is a record of them and how much it holds, when they were last seen, and what holds for them in all chat.',
  },
  listProjectPresence: {
    at: 'GET /v1/projects/{projectId}/chat/conversations/{conversationId}/presence',
    ...session,
    query: Page,
    paged: true,
    returns: [200, Type.Array(Presence)],
    throws: [...missingPage, 'SVC_SERVICE_UNAVAILABLE'],
    does: 'Who is present in a conversation now, by user id.',
  },
});
