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

  /** Cookies travel by themselves: only our own pages may have them acted on. */
  function cookieOf(request: RequestInfo, cookie: Cookie): string | undefined {
    if (!request.isSameOrigin) fail('SVC_ORIGIN_NOT_ALLOWED', { message: 'This is for pages of this service only.' });
    return request.cookie(cookie.name);
  }

  const signedIn = async (opening: Promise<OpenSession>): Promise<Answer<Session>> => {
    const { session, refreshToken } = await opening;
    return new Answer(session, { headers: { 'set-cookie': refreshCookie.set(refreshToken), ...unstored } });
  };

  return {
    register: ({ body }) => registration.register(body),
    login: ({ body }) => signedIn(signIn.login(body)),
    verifyEmail: ({ body }) => signedIn(registration.verify(body.token)),
    resendVerification: async ({ body }) => {
      registration.resend(body.email);
      return { accepted: true };
    },
    requestPasswordReset: async ({ body }) => {
      signIn.requestReset(body.email);
      return { accepted: true };
    },
    confirmPasswordReset: ({ body }) => signedIn(signIn.confirmReset(body)),
    listOAuthProviders: async () => oauth.list(),
    startOAuth: async ({ params, body, request }) => {
      const { started, binding } = await oauth.start(params.provider, body, cookieOf(request, browserCookie));
      return new Answer(started, { headers: { 'set-cookie': browserCookie.set(binding), ...unstored } });
    },
    exchangeOAuth: async ({ params, body, request }) =>
      signedIn(oauth.exchange(params.provider, body, cookieOf(request, browserCookie))),
    refreshSession: async ({ request }) => signedIn(sessions.refresh(cookieOf(request, refreshCookie))),
    logout: async ({ request }) => {
      await sessions.logout(cookieOf(request, refreshCookie), request.bearer);
      return new Answer(undefined, { headers: { 'set-cookie': refreshCookie.clear() } });
    },
    getMe: ({ caller }) => users.get(caller.userId),
  };
}

/** Answers that hold a credential stay out of every cache. */
const unstored = { 'cache-control': 'no-store' };
