import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Context, UsageError } from './command.ts';

/** Which service to talk to, and as whom. */
export interface Account {
  url: string;
  apiKey: string;
}

/** Options, then variables, then what `npm start` left in the data folder. */
export function findAccount(
  values: Readonly<Record<string, string | boolean | undefined>>,
  { env }: Pick<Context, 'env'>,
): Account {
  const left = readDevEnv(join(env['DATA_DIR'] ?? '.parley', 'dev.env'));
  const given = (option: string, variable: string): string =>
    String(values[option] ?? env[variable] ?? left[variable] ?? '');
  const account = { url: given('url', 'SVC_URL').replace(/\/+$/, ''), apiKey: given('api-key', 'SVC_API_KEY') };
  if (!URL.canParse(account.url)) throw new UsageError('Where is the service? Give --url or set SVC_URL.');
  if (account.apiKey === '') throw new UsageError('Give --api-key or set SVC_API_KEY.');
  return account;
}

function readDevEnv(path: string): Record<string, string> {
  if (!existsSync(path)) return {};
  const lines = readFileSync(path, 'utf8').matchAll(/^export (\w+)='(.*)'$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}
