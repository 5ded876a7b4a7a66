import type { FactorChallenge } from '@parley/contract';
import { type Api, ApiError, createApi } from '@parley/server/call';
import { GivenUp, type Proofs } from '../accounts/factors/proofs.ts';
import type { SessionStore } from '../accounts/session.ts';

/** Every route without a credential. A sign-in that lacks the second factor is ended with it. */
export function createAnonymousApi(proofs: Proofs): Api {
  const plain = createApi({ baseUrl: '' });
  const request: Api['request'] = async (name, ...args) => {
    try {
      return await plain.request(name, ...args);
    } catch (error) {
      if (!isRefusal(error, 'SVC_SECOND_FACTOR_REQUIRED')) throw error;
      // The code's row declares these fields; every route that can answer with it gives a session, as this one does.
      const challenge = error.body as ApiError['body'] & FactorChallenge;
      const session = await proofs.finishLogin(plain, challenge).catch((reason) => refusedBy(reason, error));
      return { body: session, status: 200, headers: new Headers() } as never;
    }
  };
  return callsOf(request);
}

const isRefusal = (error: unknown, code: string): error is ApiError => error instanceof ApiError && error.code === code;

/** Who gives up is told what was asked for. */
function refusedBy(reason: unknown, refusal: ApiError): never {
  throw reason instanceof GivenUp ? refusal : reason;
}

/**
 * Every route as the signed-in person. A refused token is replaced and the call made again, once; a call that needs a
 * step-up is made again after it.
 */
export function createSessionApi(session: SessionStore, proofs: Proofs): Api {
  const withToken = (credential: string): Api => createApi({ baseUrl: '', credential });

  const once: Api['request'] = async (name, ...args) => {
    const token = await session.token();
    try {
      return await withToken(token).request(name, ...args);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      return withToken(await session.replace(token)).request(name, ...args);
    }
  };
  const request: Api['request'] = async (name, ...args) => {
    try {
      return await once(name, ...args);
    } catch (error) {
      if (!isRefusal(error, 'SVC_STEP_UP_REQUIRED')) throw error;
      await proofs.stepUp(callsOf(once)).catch((reason) => refusedBy(reason, error));
      return once(name, ...args);
    }
  };
  return callsOf(request);
}

const callsOf = (request: Api['request']): Api => ({
  request,
  call: async (name, ...args) => (await request(name, ...args)).body,
});
