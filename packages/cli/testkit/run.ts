import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bareEnv, briefFromWithin } from '../../../apps/server/testkit/kit/process.ts';
import { runCli } from '../src/cli.ts';

interface Outcome {
  code: number;
  out: string;
  error: string;
}

/** One that runs until it is stopped. */
interface Running {
  /** What it printed so far. */
  out(): string;
  error(): string;
  /** Its exit code. */
  ended: Promise<number>;
  /** As Ctrl-C does. */
  stop(): Promise<number>;
}

/** The command line as a person types it, without the time that a process takes to start. */
export function begin(args: readonly string[], env: Record<string, string> = {}): Running {
  const stopping = new AbortController();
  let [printed, complained] = ['', ''];
  const ended = runCli(
    {
      env,
      out: (line) => {
        printed += `${line}\n`;
      },
      error: (line) => {
        complained += `${line}\n`;
      },
      signal: stopping.signal,
      isTerminal: false,
    },
    args,
  );
  return {
    out: () => printed,
    error: () => complained,
    ended,
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

/** The same until it ends. */
export async function parley(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const { ended, out, error } = begin(args, env);
  return { code: await ended, out: out(), error: error() };
}

/** The same as a process of its own. */
export const spawned = (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
  new Promise((resolve) => {
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    const options = { env: { ...bareEnv(), ...briefFromWithin, ...env } };
    execFile(process.execPath, [main, ...args], options, (error, out, errors) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, error: errors }),
    );
  });
