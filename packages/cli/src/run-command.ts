import { parseArgs } from 'node:util';
import { type Command, type Context, UsageError } from './command.ts';

export interface Found {
  name: string;
  command: Command;
  rest: readonly string[];
}

const helpOf = (name: string, { does, usage, options }: Command): string =>
  [
    `Usage: parley ${name} ${usage}`.trimEnd(),
    '',
    does,
    '',
    ...Object.entries(options).map(([option, { means }]) => `  --${option.padEnd(22)} ${means}`),
  ].join('\n');

/** Gives the exit code. */
export async function runCommand({ name, command, rest }: Found, context: Context): Promise<number> {
  try {
    const { least, most } = command.words ?? { least: 0, most: 0 };
    const options = {
      ...command.options,
      help: { type: 'boolean', means: '', short: 'h' },
      ...('output' in command.options ? { output: { type: 'string', short: 'o' } as const } : {}),
    } as const;
    const { values, positionals } = parseArgs({ args: [...rest], options, allowPositionals: true });
    if (values.help === true) {
      context.out(helpOf(name, command));
      return 0;
    }
    if (positionals.length < least || positionals.length > most)
      throw new UsageError(positionals.length < least ? 'Something is missing.' : `What is "${positionals.at(-1)}"?`);
    return await command.run(values as Parameters<Command['run']>[0], context, positionals);
  } catch (error) {
    if (error instanceof UsageError || String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS')) {
      context.error(`${(error as Error).message}\n\n${helpOf(name, command)}`);
      return 2;
    }
    // Loaded when it is needed: what runs as a process of its own begins without it.
    const { isSvcError } = await import('@parley/server');
    if (!isSvcError(error)) throw error;
    context.error(`${error.code}: ${error.message}`);
    return 1;
  }
}
