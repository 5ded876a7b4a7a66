import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { followParent } from '@parley/server-app/follow-parent';
import type { Command, Context } from './command.ts';

/** Runs a module as a process of its own, with this terminal; what ends us ends it, by the channel even kill -9. */
export function run(
  module: string,
  args: readonly string[],
  context: Context,
  more: Record<string, string> = {},
): Promise<number> {
  const path = fileURLToPath(import.meta.resolve(module));
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...context.env, ...more },
  });
  followParent(context.env, () => process.kill(process.pid, 'SIGTERM'));
  context.signal.addEventListener('abort', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

export const dev: Command = {
  does: 'Runs everything on this machine in development mode, like npm start.',
  usage: '[--json]',
  options: { json: { type: 'boolean', means: 'Print where things are as JSON.' } },
  run: ({ json }, context) =>
    run('@parley/server-app/main', json ? ['--json'] : [], context, { NODE_ENV: 'development' }),
};

export const serve: Command = {
  does: 'Runs the server in production mode; settings are in docs/reference/settings.md.',
  usage: '',
  options: {},
  run: (_values, context) => run('@parley/server-app/main', [], context, { NODE_ENV: 'production' }),
};

export const sfu: Command = {
  does: 'Runs a media node in production mode; it registers with the servers at CONTROL_URL.',
  usage: '',
  options: {},
  run: (_values, context) => run('@parley/sfu/main', [], context, { NODE_ENV: 'production' }),
};

export const migrate: Command = {
  does: 'Brings the database to the newest migration and ends.',
  usage: '',
  options: {},
  run: (_values, context) => run('@parley/server-app/migrate', [], context),
};

export const processes: Readonly<Record<string, Command>> = { dev, serve, sfu, migrate };
