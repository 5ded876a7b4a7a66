import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, processStartMs } from './eventually.ts';
import { ownPort } from './ports.ts';
import { hasWorkerEnd } from './worker-life.ts';

/** A real `npm start`: its own process, so that it can be killed. */
export interface ServerProcess {
  url: string;
  port: number;
  dataDir: string;
  child: ChildProcess;
  /** Everything it printed so far. */
  output(): string;
  /** The values of `dev.env`. */
  devEnv(): Promise<Record<string, string>>;
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

const mainFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export const newDataDir = (): Promise<string> => mkdtemp(join(tmpdir(), 'parley-process-'));

/**
 * Of a process that a test starts for seconds: to optimise the database's engine takes 3 s of CPU, which pays in minutes.
 * Plain scripts, the proofs among them, run it as it is delivered.
 */
export const brief = (): string[] => (hasWorkerEnd() ? ['--liftoff-only'] : []);

const briefSwitches = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']
  .map((flag) => `process.getBuiltinModule('v8').setFlagsFromString('${flag}')`)
  .join(';');

/** The same as a variable, of a program that starts another: Node.js takes the switch from its command line alone. */
export const briefFromWithin = { NODE_OPTIONS: `--import=data:text/javascript,${briefSwitches}` };

/** Of a process that gets nothing from the tests but where programs are, and what was compiled before. */
export const bareEnv = (): NodeJS.ProcessEnv => {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
};

/** What the tests are run with is nothing to the server; what was compiled may be used again. */
const isInherited = (name: string): boolean =>
  name === 'NODE_COMPILE_CACHE' || (!name.startsWith('NODE_') && !name.startsWith('PARLEY_'));

/** Runs main.ts without waiting for anything. */
export function spawnServer(variables: Record<string, string>): { child: ChildProcess; output: () => string } {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => isInherited(name)));
  const child = spawn(process.execPath, [...brief(), mainFile], {
    // Only the tests of the media node pay for one.
    env: { SFU_EMBEDDED: 'false', ...inherited, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += chunk;
    });
  }
  return { child, output: () => text };
}

/** Starts a server and resolves when it is ready; rejects with what it printed when it is not. */
export async function startProcess(variables: Record<string, string> = {}): Promise<ServerProcess> {
  const dataDir = variables['DATA_DIR'] ?? (await newDataDir());
  // Its own for as long as the test lives: who kills it starts it again on the same port.
  const port = Number(variables['PORT'] ?? (await ownPort()));
  // Of its media node, if it runs one: the default one may be taken.
  const udpPort = String(await ownPort());
  const { child, output } = spawnServer({
    PORT: String(port),
    SFU_UDP_PORT: udpPort,
    DATA_DIR: dataDir,
    ...variables,
  });
  const url = `http://127.0.0.1:${port}`;
  const isWelcomed = () => variables['NODE_ENV'] === 'production' || output().includes('ready in');
  const hasStarted = eventually(
    async () => {
      // Not to be retried: a process that has ended will not become ready.
      if (child.exitCode !== null) return 'ended' as const;
      return (await fetch(`${url}/readyz`)).status === 200 && isWelcomed();
    },
    { withinMs: processStartMs, everyMs: 50 },
  );
  await hasStarted.catch((error: unknown) => {
    child.kill('SIGKILL');
    throw new Error(`the server is not ready: ${output()}`, { cause: error });
  });
  if (child.exitCode !== null) throw new Error(`the server ended: ${output()}`);
  return {
    url,
    port,
    dataDir,
    child,
    output,
    async devEnv() {
      const text = await readFile(join(dataDir, 'dev.env'), 'utf8');
      return Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]));
    },
    async kill(signal = 'SIGKILL') {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const ended = once(child, 'exit');
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}
