import { backup, restore } from './backup.ts';
import type { Command, Context } from './command.ts';
import { doctor } from './doctor.ts';
import { importFile } from './import.ts';
import { init } from './init.ts';
import { listen } from './listen.ts';
import { loadtest } from './loadtest/index.ts';
import { nodes } from './nodes.ts';
import { dev, migrate, serve, sfu } from './processes.ts';
import { commandOf, resources } from './resources.ts';
import { type Found, runCommand } from './run-command.ts';
import { reset, status } from './status.ts';
import { trigger } from './trigger.ts';

/** Every command. Help is made from this table; nouns and verbs come from the contract's. */
const commands: Readonly<Record<string, Command>> = {
  dev,
  init,
  status,
  reset,
  serve,
  sfu,
  migrate,
  backup,
  restore,
  doctor,
  import: importFile,
  listen,
  trigger,
  loadtest,
  nodes,
};

const nouns = [...new Set(resources.map(({ words }) => words.split(' ').slice(0, -1).join(' ')))];

const help = (): string =>
  [
    'Usage: parley <command> [options]',
    '',
    ...Object.entries(commands).map(([name, { does }]) => `  ${name.padEnd(10)} ${does}`),
    '',
    'Nouns, each with verbs (parley <noun> shows them):',
    ...nouns.map((noun) => `  ${noun}`),
    '',
    'parley <command> --help shows the options of one.',
  ].join('\n');

const verbsOf = (noun: string): string =>
  [
    `Usage: parley ${noun} <verb> [options]`,
    '',
    ...resources
      .filter(({ words }) => words.startsWith(`${noun} `))
      .map(({ words, row }) => `  ${words.padEnd(32)} ${row.does}`),
  ].join('\n');

/** The longest run of words that names something: `rooms tokens create` before `rooms`. */
function find(args: readonly string[]): Found | null {
  const words = args.slice(
    0,
    Math.max(
      0,
      [...args, '-'].findIndex((word) => word.startsWith('-')),
    ),
  );
  for (let count = Math.min(words.length, 4); count > 0; count--) {
    const name = words.slice(0, count).join(' ');
    const resource = resources.find((one) => one.words === name);
    if (resource) return { name, command: commandOf(resource), rest: args.slice(count) };
    const command = count === 1 ? commands[name] : undefined;
    if (command) return { name, command, rest: args.slice(count) };
  }
  return null;
}

/** Runs one command line; gives the exit code. */
export async function runCli(context: Context, args: readonly string[]): Promise<number> {
  const [first] = args;
  const found = find(args);
  if (found !== null) return runCommand(found, context);
  const noun = nouns.find((one) => one === args.filter((word) => !word.startsWith('-')).join(' '));
  if (noun !== undefined) {
    context.out(verbsOf(noun));
    return 0;
  }
  const isAsked = first === undefined || first === '--help' || first === 'help';
  (isAsked ? context.out : context.error)(isAsked ? help() : `There is no command "${args.join(' ')}".\n\n${help()}`);
  return isAsked ? 0 : 2;
}
