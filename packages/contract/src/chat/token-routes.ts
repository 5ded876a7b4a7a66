import { routes } from '../route.ts';
import { ChatToken, MintChatToken, RevokedChatToken } from './schemas.ts';

export const chatTokenRoutes = routes({
  mintChatToken: {
    at: 'POST /v1/chat/tokens',
    sdk: 'chat.tokens.create',
    scope: 'tokens',
    by: ['apiKey'],
    replay: 'credential',
    body: MintChatToken,
    returns: [201, ChatToken],
    throws: ['SVC_CONVERSATION_NOT_FOUND', 'SVC_INVALID_SCOPE', 'SVC_INVALID_TTL', 'SVC_USER_BANNED'],
    does: 'Mints a chat token for one end user.',
  },
  revokeChatToken: {
    at: 'DELETE /v1/chat/tokens/{tokenId}',
    sdk: 'chat.tokens.revoke',
    scope: 'tokens',
    by: ['apiKey'],
    budget: 60,
    returns: [200, RevokedChatToken],
    throws: ['SVC_TOKEN_NOT_FOUND'],
    does: 'Revokes a chat token by its id, also one that was signed offline and never used: it is refused from now on, and its sockets close within two seconds.',
  },
});
