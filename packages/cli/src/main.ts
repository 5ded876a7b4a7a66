#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { type Command, type Context, UsageError } from './command.ts';
import { listen } from './listen.ts';

/** Every command. Help is made from this table. */
const commands: Readonly<Record<string, Command>> = { listen };

const help = (): string =>
  [
    'Usage: parley <command> [options]',
    '',
    ...Object.entries(commands).map(([name, { does }]) => `  ${name.padEnd(10)} ${does}`),
    '',
    'parley <command> --help shows the options of one.',
  ].join('\n');

const helpOf = (name: string, { does, usage, options }: Command): string =>
  [
    `Usage: parley ${name} ${usage}`,
    '',
    does,
    '',
    ...Object.entries(options).map(([option, { means }]) => `  --${option.padEnd(12)} ${means}`),
  ].join('\n');

async function main(context: Context, args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  const command = name === undefined ? undefined : commands[name];
  if (name === undefined || command === undefined) {
    const isAsked = name === undefined || name === '--help' || name === 'help';
    (isAsked ? context.out : context.error)(isAsked ? help() : `There is no command "${name}".\n\n${help()}`);
    return isAsked ? 0 : 2;
  }
  try {
    const options = { ...command.options, help: { type: 'boolean', means: '' } } as const;
    const { values } = parseArgs({ args: rest, options, allowPositionals: false });
    if (values.help === true) context.out(helpOf(name, command));
    return values.help === true ? 0 : await command.run(values, context);
  } catch (error) {
    if (!(error instanceof UsageError) && !String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS'))
      throw error;
    context.error(`${(error as Error).message}\n\n${helpOf(name, command)}`);
    return 2;
  }
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

process.exitCode = await main(
  { env: process.env, out: console.log, error: console.error, signal: stopping.signal },
  process.argv.slice(2),
);
