import { routes } from '../route.ts';
import { OpenDirect } from './direct-schemas.ts';
import { Conversation } from './schemas.ts';

export const directRoutes = routes({
  openDirectConversation: {
    at: 'POST /v1/chat/direct',
    sdk: 'chat.direct.open',
    scope: 'chat',
    by: ['apiKey', 'chatToken'],
    userBudget: 'CHAT_DIRECT_RATE_LIMIT',
    body: OpenDirect,
    returns: [201, Conversation, 200],
    throws: [
      'SVC_SCOPE_MISSING',
      'SVC_FORBIDDEN',
      'SVC_NOT_A_MEMBER',
      'SVC_CHAT_BLOCKED',
      'SVC_CONVERSATION_NOT_FOUND',
      'SVC_QUOTA_EXCEEDED',
    ],
    does: 'Finds or makes the one direct conversation of exactly these people. A chat token opens those its user is in.',
  },
});
