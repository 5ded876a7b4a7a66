import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bareEnv } from '../../../apps/server/testkit/kit/process.ts';
import { runCli } from '../src/cli.ts';

interface Outcome {
  code: number;
  out: string;
  error: string;
}

/** The command line as a person types it, without the time that a process takes to start. */
export async function parley(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const outcome = { code: 0, out: '', error: '' };
  outcome.code = await runCli(
    {
      env,
      out: (line) => {
        outcome.out += `${line}\n`;
      },
      error: (line) => {
        outcome.error += `${line}\n`;
      },
      signal: new AbortController().signal,
      isTerminal: false,
    },
    args,
  );
  return outcome;
}

/** The same as a process of its own. */
export const spawned = (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
  new Promise((resolve) => {
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    const options = { env: { ...bareEnv(), ...env } };
    execFile(process.execPath, [main, ...args], options, (error, out, errors) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, error: errors }),
    );
  });
