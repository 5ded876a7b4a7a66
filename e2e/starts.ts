import { once } from 'node:events';
import { type Api, createApi } from '@parley/server';
import { type ServerProcess, spawnServer } from '../apps/server/testkit/kit/process.ts';

/** What a start that cannot work prints, and its exit code. */
export async function failedStart(variables: Record<string, string>): Promise<{ code: number | null; text: string }> {
  const { child, output } = spawnServer(variables);
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, text: output().trim() };
}

/** The API as the developer account of `dev.env`. */
export async function signIn(server: ServerProcess): Promise<Api> {
  const { SVC_DEV_EMAIL: email = '', SVC_DEV_PASSWORD: password = '' } = await server.devEnv();
  const { accessToken } = await createApi({ baseUrl: server.url }).call('login', { body: { email, password } });
  return createApi({ baseUrl: server.url, credential: accessToken });
}
