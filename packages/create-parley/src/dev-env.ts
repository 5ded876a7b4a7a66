import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Env = Readonly<Record<string, string | undefined>>;

export const dataFolder = (env: Env): string => env['DATA_DIR'] ?? '.parley';

/** What `npm start` left for its newcomer; empty where it has not run. */
export function readDevEnv(env: Env): Record<string, string> {
  const path = join(dataFolder(env), 'dev.env');
  if (!existsSync(path)) return {};
  const lines = readFileSync(path, 'utf8').matchAll(/^export (\w+)='(.*)'$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}
