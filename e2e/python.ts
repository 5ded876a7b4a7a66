import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Debian's own comes first: its packages are not those of another Python on the path. */
const candidates = ['/usr/bin/python3', 'python3'];

let found: string | null | undefined;

/** Looked for once: the import takes seconds of a slow machine, in which nothing else goes on here. */
function findPython(): string | null {
  found ??= candidates.find((path) => spawnSync(path, ['-c', 'import aiortc, websockets']).status === 0) ?? null;
  return found;
}

const NO_PYTHON = 'no python3 with websockets and aiortc (Debian: python3-websockets python3-aiortc)';

/** Where they are required (CI), their absence is a failure. */
export function skipWithoutPython(): string | false {
  if (findPython()) return false;
  if (process.env['PARLEY_TEST_REQUIRE_PYTHON']) throw new Error(`PARLEY_TEST_REQUIRE_PYTHON is set: ${NO_PYTHON}`);
  return NO_PYTHON;
}

/** One of examples/python, as it is. */
export interface PythonProgram {
  readonly child: ChildProcess;
  /** What it printed so far. */
  output(): string;
  end(): Promise<void>;
}

export function runPython(file: string, args: readonly string[], env: Record<string, string>): PythonProgram {
  const path = fileURLToPath(new URL(`../examples/python/${file}`, import.meta.url));
  const child = spawn(findPython() ?? 'python3', ['-B', path, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  return {
    child,
    output: () => text,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}
