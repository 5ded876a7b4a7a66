#!/usr/bin/env node
import { onHangUp } from '@parley/sfu/hang-up';
import type { Context } from './command.ts';
import { processes } from './processes.ts';
import { runCommand } from './run-command.ts';

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
onHangUp(() => stopping.abort());

const context: Context = {
  env: process.env,
  out: console.log,
  error: console.error,
  signal: stopping.signal,
  isTerminal: process.stderr.isTTY === true,
};

/** All other commands; what runs as a process of its own begins without loading them. */
async function runOther(args: readonly string[]): Promise<number> {
  // Node 20 has none of its own.
  if (!('WebSocket' in globalThis)) Object.assign(globalThis, { WebSocket: (await import('ws')).WebSocket });
  const { runCli } = await import('./cli.ts');
  return runCli(context, args);
}

const [name = '', ...rest] = process.argv.slice(2);
const command = Object.hasOwn(processes, name) ? processes[name] : undefined;
process.exitCode = command ? await runCommand({ name, command, rest }, context) : await runOther(process.argv.slice(2));
// Sockets of a client that is done would keep the process for their time-outs.
if (process.exitCode !== undefined) setTimeout(() => process.exit(), 500).unref();
