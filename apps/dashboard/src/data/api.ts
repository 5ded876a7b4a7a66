import { type Api, ApiError, createApi } from '@parley/server/call';
import type { SessionStore } from '../accounts/session.ts';

/** Every route as the signed-in person. A refused token is replaced and the call made again, once. */
export function createSessionApi(session: SessionStore): Api {
  const withToken = (credential: string): Api => createApi({ baseUrl: '', credential });

  const request: Api['request'] = async (name, ...args) => {
    const token = await session.token();
    try {
      return await withToken(token).request(name, ...args);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      return withToken(await session.replace(token)).request(name, ...args);
    }
  };
  return { request, call: async (name, ...args) => (await request(name, ...args)).body };
}
