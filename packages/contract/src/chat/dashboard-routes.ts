import { Type } from 'typebox';
import { routes } from '../route.ts';
import { Contains, EnvironmentQuery, PageQuery } from '../schema.ts';
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
    query: Type.Object({ ...Page.properties, name: Contains, type: Type.Optional(ConversationType) }),
    paged: true,
    returns: [200, Type.Array(Conversation)],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Conversations with message counts and last activity; `name` is a part of their name, in any case.',
  },
  getProjectConversation: {
    at: 'GET /v1/projects/{projectId}/chat/conversations/{conversationId}',
    ...session,
    query: Query,
    returns: [200, Conversation],
    throws: missing,
    does: 'One conversation, metadata only.',
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
