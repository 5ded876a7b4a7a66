/** The ways through the files in ARCHITECTURE.md, as it writes them. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
export const tracesDocument = 'ARCHITECTURE.md';
/** Where a path may start; a bare name is beside the one before it in its row or line. */
const starts = ['.', 'apps/server/src', 'apps/server/src/domains/chat', 'apps/sfu/src', 'apps/sfu/src/media'];

export interface Trace {
  title: string;
  rows: readonly (readonly Named[])[];
  /** In the list below the table: what the steps call. */
  beside: readonly Named[];
  /** In the text around both. */
  mentioned: readonly Named[];
  text: string;
}

interface Named {
  name: string;
  /** From the root of the repository; null: there is no such file. */
  path: string | null;
}

function namedIn(text: string): Named[] {
  let folder = '.';
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
    const path = [folder, ...starts].map((start) => join(start, name)).find((one) => existsSync(join(root, one)));
    if (path !== undefined) folder = dirname(path);
    return { name, path: path ?? null };
  });
}

export function readTraces(): Trace[] {
  const sections = readFileSync(join(root, tracesDocument), 'utf8').split(/^## /m).slice(1);
  return sections
    .map((text) => {
      const lines = text.split('\n');
      const prose = lines.filter((line) => !/^(\| |- )/.test(line));
      return {
        text,
        title: lines[0] ?? '',
        rows: lines.filter((line) => /^\| \d/.test(line)).map((line) => namedIn(line.split('|')[2] ?? '')),
        beside: lines.filter((line) => line.startsWith('- ')).flatMap((line) => namedIn(line.split(': ')[1] ?? '')),
        mentioned: prose.flatMap(namedIn).filter(({ name }) => name.endsWith('.ts')),
      };
    })
    .filter(({ rows }) => rows.length > 0);
}

/** Every file that a way names, in its table or its list. */
export function tracedFiles(title: string): string[] {
  const trace = readTraces().find((one) => one.title.startsWith(title));
  return [...(trace?.rows.flat() ?? []), ...(trace?.beside ?? [])].flatMap(({ path }) => path ?? []);
}
