import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newWebhookSecret } from '@parley/server';
import { type Env, readDevEnv } from './dev-env.ts';

const starter = fileURLToPath(new URL('../starter', import.meta.url));

/** Nothing was written; the message says why. */
export class RefusedFolder extends Error {
  override name = 'RefusedFolder';
}

/** Writes a small application into a new folder, and gives what to print: what to do next. */
export function createApplication(folder: string, env: Env): string {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new RefusedFolder(`${folder} is not empty. Give the name of a new folder.`);
  const found = readDevEnv(env);
  const apiKey = found['SVC_API_KEY'] ?? env['SVC_API_KEY'] ?? '';
  if (apiKey.startsWith('svk_prod_'))
    throw new RefusedFolder(
      'SVC_API_KEY is a production key, and this application hands out tokens without a sign-in.',
    );
  cpSync(starter, folder, { recursive: true });
  const values = {
    SVC_URL: found['SVC_URL'] ?? env['SVC_URL'] ?? 'http://localhost:4000',
    SVC_API_KEY: apiKey,
    WEBHOOK_SECRET: newWebhookSecret(),
    PORT: '3000',
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''), { mode: 0o600 });
  // npm leaves a file of this name out of packages.
  writeFileSync(join(folder, '.gitignore'), 'node_modules/\n.env\n');
  const next = `Wrote ${folder}. Next:\n\n  cd ${folder} && npm install && npm start`;
  const keyless = '\n\nPut SVC_API_KEY into .env first: npx @parley/cli dev leaves one in .parley/dev.env.';
  return apiKey === '' ? next + keyless : next;
}
