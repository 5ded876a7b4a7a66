import { type accountRoutes, fail, type Session } from '@parley/contract';
import { Answer, type Handlers, type RequestInfo } from '../../core/handlers.ts';
import type { Cookie } from './cookies.ts';
import type { Devices } from './devices.ts';
import { createFactorHandlers, type FactorHandlerDeps } from './factors/handlers.ts';
import type { Entry } from './factors/second-step.ts';
import type { createFirstAccount } from './first-account.ts';
import type { createOAuth } from './oauth.ts';
import type { createRegistration } from './registration.ts';
import type { SecurityLog } from './security-log.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import type { createSignIn } from './sign-in.ts';
import type { Users } from './users.ts';

interface HandlerDeps extends Omit<FactorHandlerDeps, 'signedIn'> {
  registration: ReturnType<typeof createRegistration>;
  firstAccount: Pick<ReturnType<typeof createFirstAccount>, 'create'>;
  signIn: ReturnType<typeof createSignIn>;
  oauth: ReturnType<typeof createOAuth>;
  sessions: Sessions;
  users: Users;
  refreshCookie: Cookie;
  browserCookie: Cookie;
  deviceCookie: Cookie;
  devices: Devices;
  securityLog: SecurityLog;
}

export function createHandlers(deps: HandlerDeps): Handlers<typeof accountRoutes> {
  const { registration, signIn, oauth, sessions, users, refreshCookie, browserCookie } = deps;
  const { devices, deviceCookie, securityLog, firstAccount } = deps;

  /** Browsers attach cookies to any request: only those of our own pages count. */
  function cookieOf(request: RequestInfo, cookie: Cookie): string | undefined {
    if (!request.isSameOrigin) fail('SVC_ORIGIN_NOT_ALLOWED', { message: 'This is for pages of this service only.' });
    return request.cookie(cookie.name);
  }

  async function renewed(opened: OpenSession, request: RequestInfo): Promise<Answer<Session>> {
    const { session, refreshToken, sessionId } = opened;
    await sessions.noteSeen(sessionId, request);
    return new Answer(session, { headers: { 'set-cookie': refreshCookie.set(refreshToken), ...unstored } });
  }

  /** A new session: the browser is noted, and has a cookie from then on by which it is known again. */
  async function signedIn(
    entering: Promise<Entry>,
    request: RequestInfo,
    { method, isByMail = false }: { method: string; isByMail?: boolean },
  ): Promise<Answer<Session>> {
    const entry = await entering;
    if ('challenge' in entry) return fail('SVC_SECOND_FACTOR_REQUIRED', entry);
    const { body, headers } = await renewed(entry, request);
    await securityLog('account.signed_in', body.user, request, { method });
    const secret = request.isSameOrigin ? request.cookie(deviceCookie.name) : undefined;
    const { ip, userAgent } = request;
    const device = await devices.note({ user: body.user, secret, ip, userAgent, isByMail });
    const cookies = [headers['set-cookie'] ?? [], deviceCookie.set(device)].flat();
    return new Answer(body, { headers: { ...headers, 'set-cookie': cookies } });
  }

  return {
    getRegistration: async () => registration.policy(),
    register: ({ body, request }) => registration.register(body, request.ip),
    createFirstAccount: ({ body, request }) =>
      signedIn(firstAccount.create(body), request, { method: 'FIRST_ACCOUNT_LINK', isByMail: true }),
    login: ({ body, request }) => signedIn(signIn.login(body, request), request, { method: 'PASSWORD' }),
    verifyEmail: ({ body, request }) =>
      signedIn(registration.verify(body, request.ip), request, { method: 'EMAIL_LINK', isByMail: true }),
    readVerificationLink: ({ body }) => registration.lookAt(body.token),
    resendVerification: async ({ body }) => {
      registration.resend(body.email);
      return { accepted: true };
    },
    requestPasswordReset: async ({ body, request }) => {
      signIn.requestReset(body.email, request);
      return { accepted: true };
    },
    confirmPasswordReset: ({ body, request }) =>
      signedIn(signIn.confirmReset(body, request), request, { method: 'RESET_LINK', isByMail: true }),
    listOAuthProviders: async () => oauth.list(),
    startOAuth: async ({ params, body, request }) => {
      const { started, binding } = await oauth.start(params.provider, body, cookieOf(request, browserCookie));
      return new Answer(started, { headers: { 'set-cookie': browserCookie.set(binding), ...unstored } });
    },
    exchangeOAuth: async ({ params, body, request }) =>
      signedIn(oauth.exchange(params.provider, body, cookieOf(request, browserCookie)), request, {
        method: params.provider.toUpperCase(),
      }),
    refreshSession: async ({ request }) =>
      renewed(await sessions.refresh(cookieOf(request, refreshCookie), request), request),
    logout: async ({ request }) => {
      await sessions.logout(cookieOf(request, refreshCookie), request.bearer, request);
      return new Answer(undefined, { headers: { 'set-cookie': refreshCookie.clear() } });
    },
    getMe: ({ caller }) => users.get(caller.userId),
    changePassword: async ({ caller, body, request }) => {
      await signIn.changePassword(caller, body, request);
      return undefined;
    },
    listSessions: ({ caller }) => sessions.list(caller),
    endSession: async ({ caller, params, request }) => {
      await sessions.endOne(caller, params.sessionId, request);
      return undefined;
    },
    endAllSessions: async ({ caller, request }) => {
      await sessions.endEverywhere(caller, request);
      return new Answer(undefined, { headers: { 'set-cookie': refreshCookie.clear() } });
    },
    ...createFactorHandlers({ ...deps, signedIn }),
  };
}

/** Answers that hold a credential stay out of every cache. */
const unstored = { 'cache-control': 'no-store' };
