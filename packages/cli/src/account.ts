import { type Api, createApi, Svc } from '@parley/server';
import { readDevEnv } from 'create-parley';
import { type Context, UsageError, type Values } from './command.ts';

/** Which service to talk to, and as which user. */
export interface Account {
  url: string;
  apiKey: string;
}

type Env = Pick<Context, 'env'>;

/** Options, then variables, then what `npm start` left in the data folder. */
export function findAccount(values: Values, context: Env): Account {
  const account = { url: findUrl(values, context), apiKey: given(values, context, 'api-key', 'SVC_API_KEY') };
  if (account.apiKey === '') throw new UsageError('Give --api-key or set SVC_API_KEY.');
  return account;
}

export function findUrl(values: Values, context: Env): string {
  const url = given(values, context, 'url', 'SVC_URL').replace(/\/+$/, '');
  if (!URL.canParse(url)) throw new UsageError('Where is the service? Give --url or set SVC_URL.');
  return url;
}

const given = (values: Values, context: Env, option: string, variable: string): string =>
  String(values[option] ?? context.env[variable] ?? readDevEnv(context.env)[variable] ?? '');

export function clientOf(values: Values, context: Env): Svc {
  const { url, apiKey } = findAccount(values, context);
  return new Svc({ apiKey, baseUrl: url });
}

export const operatorOptions = {
  email: { type: 'string', means: 'An operator’s account; else SVC_DEV_EMAIL, else .parley/dev.env.' },
  password: { type: 'string', means: 'Its password; else SVC_DEV_PASSWORD, else .parley/dev.env.' },
} as const;

/** Signed in to the dashboard, for what belongs to operators. */
export async function signIn(values: Values, context: Env): Promise<Api> {
  const baseUrl = findUrl(values, context);
  const email = given(values, context, 'email', 'SVC_DEV_EMAIL');
  const password = given(values, context, 'password', 'SVC_DEV_PASSWORD');
  if (email === '' || password === '') throw new UsageError('Give --email and --password of an operator.');
  const { accessToken } = await createApi({ baseUrl }).call('login', { body: { email, password } });
  return createApi({ baseUrl, credential: accessToken });
}
