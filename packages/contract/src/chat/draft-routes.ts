import { Type } from 'typebox';
import { routes } from '../route.ts';
import { DraftsQuery, MessageDraft, SetDraft } from './draft-schemas.ts';
import { ForUser } from './schemas.ts';

const anyChat = ['apiKey', 'chatToken'] as const;
const inConversation = [
  'SVC_CONVERSATION_NOT_FOUND',
  'SVC_NOT_A_MEMBER',
  'SVC_SCOPE_MISSING',
  'SVC_USER_REQUIRED',
] as const;

export const chatDraftRoutes = routes({
  setDraft: {
    at: 'PUT /v1/chat/conversations/{room}/draft',
    sdk: 'chat.drafts.set',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_TYPE_RATE_LIMIT',
    query: ForUser,
    body: SetDraft,
    returns: [200, MessageDraft],
    throws: [...inConversation, 'SVC_FORBIDDEN', 'SVC_TEXT_TOO_LONG', 'SVC_METADATA_TOO_LARGE'],
    does: "Stores what a user has begun to write; the last write wins, and the user's other devices get it as `draft.updated`.",
  },
  getDraft: {
    at: 'GET /v1/chat/conversations/{room}/draft',
    sdk: 'chat.drafts.get',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: ForUser,
    returns: [200, MessageDraft],
    throws: [...inConversation, 'SVC_DRAFT_NOT_FOUND'],
    does: "Reads a user's draft in a conversation.",
  },
  deleteDraft: {
    at: 'DELETE /v1/chat/conversations/{room}/draft',
    sdk: 'chat.drafts.delete',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_TYPE_RATE_LIMIT',
    query: ForUser,
    returns: [204, null],
    throws: inConversation,
    does: 'Removes a draft; one that is not there is no error.',
  },
  listDrafts: {
    at: 'GET /v1/chat/drafts',
    sdk: 'chat.drafts.list',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: DraftsQuery,
    paged: true,
    returns: [200, Type.Array(MessageDraft)],
    throws: ['SVC_SCOPE_MISSING', 'SVC_USER_REQUIRED', 'SVC_INVALID_CURSOR'],
    does: 'Lists the drafts of a user, the one written last first.',
  },
});
