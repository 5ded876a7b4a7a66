import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newWebhookSecret } from '@parley/server';
import { readDevEnv } from './account.ts';
import { type Command, UsageError } from './command.ts';

const starter = fileURLToPath(new URL('../starter', import.meta.url));

export const init: Command = {
  does: 'Writes a small application: a page with a call and a chat, a backend for tokens, a webhook receiver.',
  usage: '[folder]',
  options: {},
  words: { least: 0, most: 1 },
  async run(_values, context, [folder = 'lobby']) {
    if (existsSync(folder) && readdirSync(folder).length > 0)
      throw new UsageError(`${folder} is not empty. Give the name of a new folder.`);
    const found = readDevEnv(context);
    const apiKey = found['SVC_API_KEY'] ?? context.env['SVC_API_KEY'] ?? '';
    if (apiKey.startsWith('svk_prod_'))
      throw new UsageError('SVC_API_KEY is a production key, and this application hands out tokens without a sign-in.');
    cpSync(starter, folder, { recursive: true });
    const values = {
      SVC_URL: found['SVC_URL'] ?? context.env['SVC_URL'] ?? 'http://localhost:4000',
      SVC_API_KEY: apiKey,
      WEBHOOK_SECRET: newWebhookSecret(),
      PORT: '3000',
    };
    const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(folder, '.env'), lines.join(''), { mode: 0o600 });
    // npm leaves a file of this name out of packages.
    writeFileSync(join(folder, '.gitignore'), 'node_modules/\n.env\n');
    context.out(`Wrote ${folder}. Next:\n\n  cd ${folder} && npm install && npm start`);
    if (apiKey === '')
      context.out('\nPut SVC_API_KEY into .env first: npx @parley/cli dev leaves one in .parley/dev.env.');
    return 0;
  },
};
