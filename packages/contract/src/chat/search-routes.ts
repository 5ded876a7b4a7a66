import { routes } from '../route.ts';
import { SearchPage, SearchQuery } from './search-schemas.ts';

export const chatSearchRoutes = routes({
  searchMessages: {
    at: 'GET /v1/chat/search',
    sdk: 'chat.messages.search',
    scope: 'chat',
    by: ['apiKey', 'chatToken'],
    userBudget: 'CHAT_SEARCH_RATE_LIMIT',
    query: SearchQuery,
    walk: { items: 'results', by: 'cursor' },
    returns: [200, SearchPage],
    throws: ['SVC_CONVERSATION_NOT_FOUND', 'SVC_NOT_A_MEMBER', 'SVC_SCOPE_MISSING', 'SVC_INVALID_CURSOR'],
    does: 'Finds messages by their words; a chat token searches the conversations that its user is a member of.',
  },
});
