import { rmSync } from 'node:fs';
import { createApi } from '@parley/server';
import { dataFolder, readDevEnv } from 'create-parley';
import { findUrl } from './account.ts';
import { accountOptions, type Command, type Context, jsonOption, UsageError } from './command.ts';

export const status: Command = {
  does: 'Says whether the service answers and how its parts do; -o env prints what npm start left.',
  usage: '[-o env] [--json]',
  options: {
    ...accountOptions,
    ...jsonOption,
    output: { type: 'string', means: 'env: the lines of dev.env, for a shell. Short: -o.' },
  },
  async run(values, context) {
    if (values['output'] === 'env') return printEnv(context);
    const baseUrl = findUrl(values, context);
    const isReady = await fetch(`${baseUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    const apiKey = String(
      values['api-key'] ?? context.env['SVC_API_KEY'] ?? readDevEnv(context.env)['SVC_API_KEY'] ?? '',
    );
    const diagnostics =
      isReady && apiKey !== '' ? await createApi({ baseUrl, credential: apiKey }).call('getDiagnostics') : null;
    if (values['json']) context.out(JSON.stringify({ url: baseUrl, isReady, diagnostics }));
    else {
      context.out(`${baseUrl} ${isReady ? 'is ready' : 'does not answer'}`);
      for (const part of diagnostics?.dependencies ?? [])
        context.out(`  ${part.name.padEnd(10)} ${part.status.padEnd(9)} ${part.message ?? ''}`.trimEnd());
    }
    return isReady ? 0 : 1;
  },
};

function printEnv(context: Context): number {
  const values = Object.entries(readDevEnv(context.env));
  if (values.length === 0) {
    context.error(`There is no dev.env in ${dataFolder(context.env)}: start the service once.`);
    return 1;
  }
  for (const [name, value] of values) context.out(`export ${name}='${value}'`);
  return 0;
}

export const reset: Command = {
  does: 'Deletes the data folder of development mode: account, projects, messages and files.',
  usage: '--yes',
  options: { yes: { type: 'boolean', means: 'Really.' } },
  async run({ yes }, context) {
    const folder = dataFolder(context.env);
    const { url } = { url: readDevEnv(context.env)['SVC_URL'] };
    if (!yes) throw new UsageError(`This deletes ${folder} with everything in it. Add --yes if that is meant.`);
    if (context.env['NODE_ENV'] === 'production') throw new UsageError('reset is for development mode.');
    const isRunning =
      url !== undefined &&
      (await fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ));
    if (isRunning) {
      context.error(`The service at ${url} uses it: stop that first.`);
      return 1;
    }
    rmSync(folder, { recursive: true, force: true });
    context.out(`Deleted ${folder}. The next start makes a new one.`);
    return 0;
  },
};
