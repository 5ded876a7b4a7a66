import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Machine } from './machine.ts';
import type { Answer } from './ratio.ts';

/** What one run of one question gave; one file each, so that running another question leaves it alone. */
export interface Result {
  at: string;
  seconds: number;
  machine: Machine;
  rows: Answer[];
  /** Why there are no rows. */
  failed?: string;
}

export const root = fileURLToPath(new URL('../', import.meta.url));
export const folder = 'docs/benchmarks/';
const resultFile = (name: string): string => `${root}${folder}results/${name}.json`;

export function writeResult(name: string, result: Result): void {
  const path = resultFile(name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
}

/** Null: it was never run. */
export const readResult = (name: string): Result | null =>
  existsSync(resultFile(name)) ? (JSON.parse(readFileSync(resultFile(name), 'utf8')) as Result) : null;
