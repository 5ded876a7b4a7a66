import { type accountRoutes, fail, type Session } from '@parley/contract';
import { Answer, type Handlers, type RequestInfo } from '../../core/handlers.ts';
import type { Cookie } from './cookies.ts';
import type { createOAuth } from './oauth.ts';
import type { createRegistration } from './registration.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import type { createSignIn } from './sign-in.ts';
import type { Users } from './users.ts';

export interface HandlerDeps {
  registration: ReturnType<typeof createRegistration>;
  signIn: ReturnType<typeof createSignIn>;
  oauth: ReturnType<typeof createOAuth>;
  sessions: Sessions;
  users: Users;
  refreshCookie: Cookie;
  browserCookie: Cookie;
}

export function createHandlers(deps: HandlerDeps): Handlers<typeof accountRoutes> {
  const { registration, signIn, oauth, sessions, users, refreshCookie, browserCookie } = deps;

  /** Browsers attach cookies to any request: only those of our own pages count. */
  function cookieOf(request: RequestInfo, cookie: Cookie): string | undefined {
    if (!request.isSameOrigin) fail('SVC_ORIGIN_NOT_ALLOWED', { message: 'This is for pages of this service only.' });
    return request.cookie(cookie.name);
  }

  const signedIn = async (opening: Promise<OpenSession>, request: RequestInfo): Promise<Answer<Session>> => {
    const { session, refreshToken, sessionId } = await opening;
    await sessions.noteSeen(sessionId, request);
    return new Answer(session, { headers: { 'set-cookie': refreshCookie.set(refreshToken), ...unstored } });
  };

  return {
    register: ({ body }) => registration.register(body),
    login: ({ body, request }) => signedIn(signIn.login(body), request),
    verifyEmail: ({ body, request }) => signedIn(registration.verify(body.token), request),
    resendVerification: async ({ body }) => {
      registration.resend(body.email);
      return { accepted: true };
    },
    requestPasswordReset: async ({ body }) => {
      signIn.requestReset(body.email);
      return { accepted: true };
    },
    confirmPasswordReset: ({ body, request }) => signedIn(signIn.confirmReset(body), request),
    listOAuthProviders: async () => oauth.list(),
    startOAuth: async ({ params, body, request }) => {
      const { started, binding } = await oauth.start(params.provider, body, cookieOf(request, browserCookie));
      return new Answer(started, { headers: { 'set-cookie': browserCookie.set(binding), ...unstored } });
    },
    exchangeOAuth: async ({ params, body, request }) =>
      signedIn(oauth.exchange(params.provider, body, cookieOf(request, browserCookie)), request),
    refreshSession: async ({ request }) => signedIn(sessions.refresh(cookieOf(request, refreshCookie)), request),
    logout: async ({ request }) => {
      await sessions.logout(cookieOf(request, refreshCookie), request.bearer);
      return new Answer(undefined, { headers: { 'set-cookie': refreshCookie.clear() } });
    },
    getMe: ({ caller }) => users.get(caller.userId),
    listSessions: ({ caller }) => sessions.list(caller),
    endSession: async ({ caller, params }) => {
      await sessions.endOne(caller, params.sessionId);
      return undefined;
    },
    endAllSessions: async ({ caller }) => {
      await sessions.endEverywhere(caller);
      return new Answer(undefined, { headers: { 'set-cookie': refreshCookie.clear() } });
    },
  };
}

/** Answers that hold a credential stay out of every cache. */
const unstored = { 'cache-control': 'no-store' };
