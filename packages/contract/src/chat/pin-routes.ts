import { Type } from 'typebox';
import { routes } from '../route.ts';
import { Pin } from './pin-schemas.ts';
import { ForUser } from './schemas.ts';

const anyChat = ['apiKey', 'chatToken'] as const;
const onMessage = ['SVC_MESSAGE_NOT_FOUND', 'SVC_NOT_A_MEMBER', 'SVC_SCOPE_MISSING'] as const;

export const chatPinRoutes = routes({
  pinMessage: {
    at: 'PUT /v1/chat/messages/{messageId}/pin',
    sdk: 'chat.pins.add',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_EDIT_RATE_LIMIT',
    query: ForUser,
    returns: [200, Pin],
    throws: [...onMessage, 'SVC_FORBIDDEN', 'SVC_CONVERSATION_ARCHIVED', 'SVC_CHAT_BLOCKED', 'SVC_PIN_LIMIT'],
    does: 'Pins a message for everybody in its conversation: a moderator does, in a direct conversation any member. Up to 50.',
  },
  unpinMessage: {
    at: 'DELETE /v1/chat/messages/{messageId}/pin',
    sdk: 'chat.pins.remove',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_EDIT_RATE_LIMIT',
    query: ForUser,
    returns: [204, null],
    throws: [...onMessage, 'SVC_FORBIDDEN', 'SVC_CONVERSATION_ARCHIVED'],
    does: 'Takes a pin away; one that is not there is no error.',
  },
  listPins: {
    at: 'GET /v1/chat/conversations/{room}/pins',
    sdk: 'chat.pins.list',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    returns: [200, Type.Array(Pin)],
    throws: ['SVC_CONVERSATION_NOT_FOUND', 'SVC_NOT_A_MEMBER', 'SVC_SCOPE_MISSING'],
    does: 'Lists the pinned messages of a conversation, the one pinned last first.',
  },
});
