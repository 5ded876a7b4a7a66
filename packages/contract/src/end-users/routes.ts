import { Type } from 'typebox';
import { routes } from '../route.ts';
import { PageQuery } from '../schema.ts';
import { EndUser, RevokeUser } from './schemas.ts';

const key = ['apiKey'] as const;

/** End users of a project and environment, as the developer names them: `userId` in chat, `participantIdentity` in rooms. */
export const endUserRoutes = routes({
  listRevokedUsers: {
    at: 'GET /v1/users',
    sdk: 'users.list',
    scope: 'users',
    by: key,
    query: Type.Object({ ...PageQuery, banned: Type.Optional(Type.Boolean()) }),
    paged: true,
    returns: [200, Type.Array(EndUser)],
    does: 'Lists the users that were shut out, latest first; `banned=true` gives those who are banned now.',
  },
  getUser: {
    at: 'GET /v1/users/{userId}',
    sdk: 'users.get',
    scope: 'users',
    by: key,
    returns: [200, EndUser],
    throws: ['SVC_VALIDATION_FAILED'],
    does: "Reads whether a user is banned, until when, and since when the user's earlier tokens are void.",
  },
  revokeUser: {
    at: 'POST /v1/users/{userId}/revoke',
    sdk: 'users.revoke',
    scope: 'users',
    by: key,
    budget: 60,
    audit: 'user.revoked',
    body: RevokeUser,
    isBodyOptional: true,
    returns: [200, EndUser],
    does: 'Shuts a user out: revokes every chat and RTC token, ends sessions and closes sockets within two seconds; with `bannedUntil` the user gets no token and joins nothing until then.',
  },
  unbanUser: {
    at: 'DELETE /v1/users/{userId}/ban',
    sdk: 'users.unban',
    scope: 'users',
    by: key,
    budget: 60,
    audit: 'user.unbanned',
    returns: [200, EndUser],
    throws: ['SVC_VALIDATION_FAILED'],
    does: 'Lifts a ban: new tokens can be minted; revoked ones stay revoked.',
  },
});
