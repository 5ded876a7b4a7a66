import { Type } from 'typebox';
import { routes } from '../route.ts';
import { speaking } from './refusals.ts';
import { ChangeScheduled, ScheduledMessage, ScheduledQuery, ScheduleMessage } from './scheduled-schemas.ts';

const anyChat = ['apiKey', 'chatToken'] as const;
const inConversation = ['SVC_CONVERSATION_NOT_FOUND', 'SVC_NOT_A_MEMBER', 'SVC_SCOPE_MISSING'] as const;
const onScheduled = ['SVC_SCHEDULED_NOT_FOUND', 'SVC_SCOPE_MISSING'] as const;

export const chatScheduledRoutes = routes({
  scheduleMessage: {
    at: 'POST /v1/chat/conversations/{room}/scheduled',
    sdk: 'chat.scheduled.create',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_SEND_RATE_LIMIT',
    replay: 'resource',
    body: ScheduleMessage,
    returns: [201, ScheduledMessage, 200],
    throws: [
      ...inConversation,
      'SVC_FORBIDDEN',
      ...speaking,
      'SVC_TEXT_TOO_LONG',
      'SVC_METADATA_TOO_LARGE',
      'SVC_MESSAGE_TYPE_FORBIDDEN',
      'SVC_QUOTA_EXCEEDED',
      'SVC_MESSAGE_NOT_FOUND',
    ],
    does: 'Schedules a message, up to 30 days ahead. Who may send it is asked again when its time has come.',
  },
  listScheduled: {
    at: 'GET /v1/chat/conversations/{room}/scheduled',
    sdk: 'chat.scheduled.list',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: ScheduledQuery,
    paged: true,
    returns: [200, Type.Array(ScheduledMessage)],
    throws: [...inConversation, 'SVC_INVALID_CURSOR'],
    does: 'Lists scheduled messages that are not sent yet, soonest first, and failed ones: those of the token’s user; with an API key all, or those of one user.',
  },
  getScheduled: {
    at: 'GET /v1/chat/scheduled/{scheduledId}',
    sdk: 'chat.scheduled.get',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    returns: [200, ScheduledMessage],
    throws: onScheduled,
    does: 'Reads one scheduled message.',
  },
  changeScheduled: {
    at: 'PATCH /v1/chat/scheduled/{scheduledId}',
    sdk: 'chat.scheduled.update',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_EDIT_RATE_LIMIT',
    body: ChangeScheduled,
    returns: [200, ScheduledMessage],
    throws: [
      ...onScheduled,
      'SVC_INVALID_STATE_TRANSITION',
      'SVC_TEXT_TOO_LONG',
      'SVC_METADATA_TOO_LARGE',
      'SVC_MESSAGE_NOT_FOUND',
      'SVC_NOT_A_MEMBER',
    ],
    does: 'Changes text, metadata or time of a scheduled message; a failed one waits again.',
  },
  cancelScheduled: {
    at: 'DELETE /v1/chat/scheduled/{scheduledId}',
    sdk: 'chat.scheduled.cancel',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_DELETE_RATE_LIMIT',
    returns: [204, null],
    throws: [...onScheduled, 'SVC_INVALID_STATE_TRANSITION'],
    does: 'Cancels a scheduled message: it is never sent.',
  },
});
