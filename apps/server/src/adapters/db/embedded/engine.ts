import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Engine } from './messages.ts';

/** PostgreSQL's major version: its files are read by no other. */
export const engineMajor = '18';

let compiled: Promise<Engine> | null = null;

/** Compiles the engine the first time; every database of this process, and one that starts again, runs the same code. */
export function loadEngine(): Promise<Engine> {
  compiled ??= compileEngine();
  // What could not be read may be there the next time.
  compiled.catch(() => {
    compiled = null;
  });
  return compiled;
}

async function compileEngine(): Promise<Engine> {
  const folder = dirname(fileURLToPath(import.meta.resolve('@electric-sql/pglite')));
  const compile = async (file: string) => WebAssembly.compile(await readFile(join(folder, file)));
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([compile('pglite.wasm'), compile('initdb.wasm')]);
  return { pgliteWasmModule, initdbWasmModule };
}
