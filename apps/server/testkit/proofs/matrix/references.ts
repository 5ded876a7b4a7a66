import type { ErrorCode, RouteName } from '@parley/contract';
import { OWNER } from '../../kit/world.ts';
import type { Sent } from './requests.ts';

/** A thing that is named in a body or a query instead of the path. */
export interface Reference {
  route: RouteName;
  /** Which of a world's ids is named. */
  thing: string;
  /** What is sent to name it. */
  naming(id: string): Sent;
  /** What comes back when there is none; null for a list that is then empty. */
  code: ErrorCode | null;
  /** Its path names a conversation, and what is in another one does not count either. */
  isInside?: true;
}

let named = 0;
const body = (content: object): Sent => ({
  query: '',
  contentType: 'application/json',
  body: JSON.stringify(content),
});
const query = (text: string): Sent => ({ query: text });

export const references: readonly Reference[] = [
  {
    route: 'createConversation',
    thing: 'roomId',
    naming: (roomId) => body({ name: `named-${++named}`, roomId }),
    code: 'SVC_ROOM_NOT_FOUND',
  },
  {
    route: 'mintChatToken',
    thing: 'conversationId',
    naming: (id) => body({ userId: OWNER, conversations: [id] }),
    code: 'SVC_CONVERSATION_NOT_FOUND',
  },
  {
    route: 'sendMessage',
    thing: 'messageId',
    naming: (replyTo) => body({ text: 'x', senderId: OWNER, replyTo }),
    code: 'SVC_INVALID_REPLY_TARGET',
    isInside: true,
  },
  {
    route: 'sendMessage',
    thing: 'attachmentId',
    naming: (attachmentId) => body({ text: 'x', senderId: OWNER, attachmentId }),
    code: 'SVC_ATTACHMENT_NOT_FOUND',
    isInside: true,
  },
  {
    route: 'listChatReports',
    thing: 'conversationId',
    naming: (id) => query(`?conversation=${id}`),
    code: 'SVC_CONVERSATION_NOT_FOUND',
  },
  {
    route: 'markUnread',
    thing: 'messageId',
    naming: (messageId) => body({ messageId, userId: OWNER }),
    code: 'SVC_MESSAGE_NOT_FOUND',
    isInside: true,
  },
  {
    route: 'deleteUserMessages',
    thing: 'conversationId',
    naming: (conversation) => body({ conversation }),
    code: 'SVC_CONVERSATION_NOT_FOUND',
  },
  {
    route: 'deleteProjectUserMessages',
    thing: 'conversationId',
    naming: (conversation) => body({ conversation }),
    code: 'SVC_CONVERSATION_NOT_FOUND',
  },
  { route: 'listProjectChatUsers', thing: 'userId', naming: (id) => query(`?userId=${id}`), code: null },
  { route: 'listProjectConversations', thing: 'userId', naming: (id) => query(`?userId=${id}`), code: null },
  { route: 'listChatUsers', thing: 'userId', naming: (id) => query(`?ids=${id}`), code: null },
  {
    route: 'searchMessages',
    thing: 'conversationId',
    naming: (id) => query(`?q=x&conversation=${id}`),
    code: 'SVC_CONVERSATION_NOT_FOUND',
  },
  { route: 'listConnections', thing: 'roomId', naming: (id) => query(`?roomId=${id}`), code: null },
  { route: 'listProjectConnections', thing: 'roomId', naming: (id) => query(`?roomId=${id}`), code: null },
];
